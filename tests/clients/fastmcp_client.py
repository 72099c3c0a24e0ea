"""FastMCP's `Client`, run by the interpreter of its own virtualenv, on asyncio as its users run it.

Not importable from ours: `fastmcp` is not installed there, hence the import by name, which keeps the type
checker's verdict the same in both.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from typing import Any

from tests.clients.report import ARGUMENTS, TOOL, Recorder, Report

fastmcp: Any = importlib.import_module("fastmcp")


async def probe(url: str) -> Report:
    recorder = Recorder()
    async with fastmcp.Client(url, progress_handler=recorder) as client:
        tools = [tool.name for tool in await client.list_tools()]
        result = await client.call_tool(TOOL, dict(ARGUMENTS))
        lead = recorder.lead()
        text = " ".join(getattr(block, "text", "") for block in result.content)
        return Report(fastmcp.__version__, client.protocol_version, tools, recorder.progress, lead, text)


if __name__ == "__main__":
    asyncio.run(probe(sys.argv[1])).emit()

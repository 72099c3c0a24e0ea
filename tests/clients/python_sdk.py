"""The Python SDK's own `Client`, over HTTP or, through mcp-remote, over stdio.

Not a test of Greenroom's use of the SDK: nothing of Greenroom is imported. The words after `--through` are the
command of a stdio proxy (this is how Claude Desktop reaches an HTTP server); the version to report is then the
proxy's, so the caller gives it.
"""

from __future__ import annotations

import argparse
import os
from importlib.metadata import version
from typing import Literal

import trio
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from tests.clients.report import ARGUMENTS, TOOL, Recorder, Report

# Below the runner's own deadline, so that a stdio proxy is ended by the SDK and not orphaned.
DEADLINE_SECONDS = 45.0


async def probe(server: str | StdioServerParameters, mode: Literal["auto", "legacy"], label: str) -> Report:
    recorder = Recorder()
    with trio.fail_after(DEADLINE_SECONDS):
        async with Client(server, mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool(TOOL, dict(ARGUMENTS), progress_callback=recorder)
            text = " ".join(block.text for block in result.content if isinstance(block, TextContent))
            return Report(label, client.protocol_version, tools, recorder.progress, recorder.lead(), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", help="the MCP endpoint; not with --through")
    parser.add_argument("--mode", choices=("auto", "legacy"), default="auto")
    parser.add_argument("--label", default=version("mcp"), help="the version to report")
    parser.add_argument("--through", nargs=argparse.REMAINDER, default=[], help="command of a stdio proxy")
    args = parser.parse_args()
    server: str | StdioServerParameters = args.url
    if args.through:
        command, *rest = args.through
        # The SDK hands a child only a few safe variables unless told otherwise; the proxy needs ours.
        server = StdioServerParameters(command=command, args=rest, env=dict(os.environ))
    report: Report = trio.run(probe, server, args.mode, args.label)
    report.emit()


if __name__ == "__main__":
    main()

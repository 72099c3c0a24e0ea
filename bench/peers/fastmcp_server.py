"""FastMCP's server, with the three tools that everybody has: `fastmcp_server.py PORT sse|json`.

Runs in an environment of its own. `sse` is what `FastMCP.run` does when nothing is said, `json` changes the kind of
answer.
"""

import asyncio
import sys

from fastmcp import Context, FastMCP
from typing_extensions import TypedDict

server = FastMCP("peer")


class Notebook(TypedDict):
    notes: list[str]


@server.tool
async def recall(user_id: str) -> Notebook:
    """Read this session's notebook."""
    return {"notes": []}


@server.tool
async def greet() -> str:
    """Greet the user."""
    return "Hello, whoever you are!"


@server.tool
async def countdown(steps: int, seconds: float, ctx: Context) -> str:
    """Count down to lift-off, reporting progress at every step."""
    for done in range(1, steps + 1):
        await asyncio.sleep(seconds / steps)
        await ctx.report_progress(done, steps, f"T minus {steps - done}")
    return f"{steps} steps, and lift-off!"


if __name__ == "__main__":
    server.run("http", port=int(sys.argv[1]), json_response=sys.argv[2] == "json", show_banner=False)

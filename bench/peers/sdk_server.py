"""The official Python SDK's server, with the three tools that everybody has: `sdk_server.py PORT sse|json|uvloop`.

Runs in an environment of its own. `sse` is what `MCPServer.run` does when nothing is said, `json` changes the kind of
answer, and `uvloop` also puts the same app on uvloop and httptools and writes no log: the most that can be had of it.
"""

import asyncio
import sys
from typing import TypedDict

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("peer")


class Notebook(TypedDict):
    notes: list[str]


@server.tool()
async def recall(user_id: str) -> Notebook:
    """Read this session's notebook."""
    return {"notes": []}


@server.tool()
async def greet() -> str:
    """Greet the user."""
    return "Hello, whoever you are!"


@server.tool()
async def countdown(steps: int, seconds: float, ctx: Context) -> str:
    """Count down to lift-off, reporting progress at every step."""
    for done in range(1, steps + 1):
        await asyncio.sleep(seconds / steps)
        await ctx.report_progress(done, steps, f"T minus {steps - done}")
    return f"{steps} steps, and lift-off!"


def main() -> None:
    port, mode = int(sys.argv[1]), sys.argv[2]
    if mode == "uvloop":
        uvicorn.run(
            server.streamable_http_app(json_response=True), port=port, loop="uvloop", http="httptools", access_log=False
        )
    else:
        server.run("streamable-http", port=port, json_response=mode == "json")


if __name__ == "__main__":
    main()

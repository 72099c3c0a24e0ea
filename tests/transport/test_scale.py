"""Two thousand sessions that come, are used once and are left: nothing of them may stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from tests.transport.playhouse import ACCEPT, initialize_request, modern_request
from tests.transport.process import ServerProcess, server_process

SESSIONS = 2000
TTL = "8"


async def figures(client: httpx.AsyncClient, server: ServerProcess) -> dict[str, int]:
    response: dict[str, int] = (await client.get(f"{server.base}/figures")).json()
    return response


async def until_all_are_gone(client: httpx.AsyncClient, server: ServerProcess) -> dict[str, int]:
    with trio.fail_after(30):
        while True:
            seen = await figures(client, server)
            if seen["sessions"] == 0 and seen["connections"] == 0:
                return seen
            await trio.sleep(0.1)


async def use_once(client: httpx.AsyncClient, server: ServerProcess) -> None:
    """A session of the newer era: opened, used, left."""
    url = f"{server.base}/mcp"
    headers, body = modern_request("tools/call", {"name": "initialize", "arguments": {}})
    opened = (await client.post(url, headers=headers, json=body)).json()["result"]
    session_id = opened["structuredContent"]["session_id"]
    headers, body = modern_request("tools/call", {"name": "note", "arguments": {"session_id": session_id}})
    noted = (await client.post(url, headers=headers, json=body)).json()["result"]
    assert noted["content"][0]["text"] == "noted"


async def use_once_as_an_older_client(client: httpx.AsyncClient, server: ServerProcess) -> None:
    url = f"{server.base}/mcp"
    shaken = await client.post(url, headers=ACCEPT, json=initialize_request("2025-11-25", {}))
    headers = {**ACCEPT, "mcp-session-id": shaken.headers["mcp-session-id"]}
    for number, tool in enumerate(("initialize", "note")):
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool}}
        result = (await client.post(url, headers=headers, json=body)).json()["result"]
        assert result["isError"] is False


async def many(times: int, visit: Any, server: ServerProcess) -> None:
    """By eight clients, each with a connection of its own that is closed in the end."""

    async def share() -> None:
        async with httpx.AsyncClient(timeout=30) as client:
            for _ in range(times // 8):
                await visit(client, server)

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(share)


@pytest.mark.parametrize("visit", [use_once, use_once_as_an_older_client], ids=["newer era", "older era"])
async def test_after_two_thousand_sessions_tasks_and_memory_are_back(
    tmp_path: Path, visit: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = ["-m", "tests.transport.stage_server"]
    async with (
        server_process(stage, tmp_path, GREENROOM_SESSION_TTL_SECONDS=TTL) as server,
        httpx.AsyncClient(timeout=30) as client,
    ):
        await server.ready()
        await many(200, visit, server)
        before = await until_all_are_gone(client, server)
        await many(SESSIONS, visit, server)
        await trio.sleep(1)  # until the actors have given their tasks back
        crowded = await figures(client, server)
        after = await until_all_are_gone(client, server)
    growth = (after["resident_bytes"] - before["resident_bytes"]) / before["resident_bytes"]
    with capsys.disabled():
        print(
            f"\n{crowded['sessions']} idle sessions: {crowded['tasks'] - before['tasks']} more tasks, "
            f"{(crowded['resident_bytes'] - before['resident_bytes']) / max(crowded['sessions'], 1):.0f} bytes each; "
            f"afterwards {after['tasks'] - before['tasks']} more tasks, memory {growth:+.1%} "
            f"of {before['resident_bytes'] / 1e6:.0f} MB"
        )
    assert crowded["sessions"] == SESSIONS, "the sessions were gone before they could be counted"
    assert after["tasks"] <= before["tasks"]
    assert growth < 0.10

"""The life and death of the process: start, drain, leave, whatever its clients do."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from tests.transport.playhouse import ACCEPT, Wire, initialize_request, modern_request
from tests.transport.process import ServerProcess, server_process

STAGE = ["-m", "tests.transport.stage_server"]
GREENROOM = ["-m", "greenroom", "serve"]


async def start_streams(server: ServerProcess, nursery: trio.Nursery) -> None:
    """A client of each era in mid-turn, one that listens, and one that has stopped reading."""
    address = ("127.0.0.1", server.port)
    async with httpx.AsyncClient() as client:
        response = await client.post(f"{server.base}/mcp", headers=ACCEPT, json=initialize_request("2025-11-25", {}))
        legacy = {**ACCEPT, "mcp-session-id": response.headers["mcp-session-id"]}
    hold = {"name": "hold", "_meta": {"progressToken": 1}}
    listen = {"notifications": {"toolsListChanged": True}}
    log_level: dict[str, Any] = {"io.modelcontextprotocol/logLevel": "debug"}
    calls = [
        ("POST", *modern_request("tools/call", {"name": "hold"}, progressToken=1)),
        ("POST", *modern_request("subscriptions/listen", listen)),
        ("POST", legacy, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": hold}),
        ("GET", legacy, None),
    ]
    for method, headers, body in calls:
        started = trio.Event()
        nursery.start_soon(_read_to_the_end, address, method, headers, body, started)
        await started.wait()
    await nursery.start(_stall, address, *modern_request("tools/call", {"name": "flood"}, **log_level))


async def _read_to_the_end(
    address: tuple[str, int], method: str, headers: dict[str, str], body: object, started: trio.Event
) -> None:
    async with Wire.open(address) as wire:
        await wire.request(method, "/mcp", headers, json.dumps(body).encode() if body else b"")
        assert (await wire.response())["status"] == "200"
        while await wire.frame() is not None:
            started.set()


async def _stall(
    address: tuple[str, int], headers: dict[str, str], body: object, *, task_status: trio.TaskStatus[None]
) -> None:
    async with Wire.open(address, receive_buffer=4096) as wire:
        await wire.request("POST", "/mcp", headers, json.dumps(body).encode())
        assert (await wire.response())["status"] == "200"
        task_status.started()
        await trio.sleep_forever()


async def test_sigterm_with_open_streams_and_a_stalled_reader_exits_0_within_the_budget(tmp_path: Path) -> None:
    async with (
        server_process(STAGE, tmp_path, GREENROOM_DRAIN_SECONDS="1") as server,
        trio.open_nursery() as nursery,
    ):
        await server.ready()
        await start_streams(server, nursery)
        server.signal(signal.SIGTERM)
        # One second for the turns, three for last bytes, one each for the two switches.
        assert await server.exit_code(seconds=8) == 0
        nursery.cancel_scope.cancel()
        assert '"draining"' in server.log.read_text()


async def test_streams_are_ended_politely_when_the_server_drains(tmp_path: Path) -> None:
    async with server_process(STAGE, tmp_path, GREENROOM_DRAIN_SECONDS="0.2") as server:
        await server.ready()
        async with Wire.open(("127.0.0.1", server.port)) as wire:
            headers, body = modern_request("tools/call", {"name": "hold"}, progressToken=1)
            await wire.request("POST", "/mcp", headers, json.dumps(body).encode())
            await wire.response()
            assert (await wire.message())["method"] == "notifications/progress"
            server.signal(signal.SIGTERM)
            error = (await wire.message())["result"]["structuredContent"]["error"]
            assert error["name"] == "turn_cancelled"
        assert await server.exit_code(seconds=8) == 0


async def test_while_draining_it_is_not_ready_and_takes_nothing_new(tmp_path: Path) -> None:
    async with (
        server_process(STAGE, tmp_path, GREENROOM_DRAIN_SECONDS="5") as server,
        trio.open_nursery() as nursery,
        httpx.AsyncClient() as client,
    ):
        await server.ready()
        await start_one_stream(server, nursery)
        server.signal(signal.SIGTERM)
        while (await client.get(f"{server.base}/probes/readyz")).status_code != 503:
            await trio.lowlevel.checkpoint()
        headers, body = modern_request("tools/call", {"name": "initialize", "arguments": {}})
        response = await client.post(f"{server.base}/mcp", headers=headers, json=body)
        assert response.json()["result"]["structuredContent"]["error"]["name"] == "draining"
        assert response.headers["retry-after"]
        assert (await client.get(f"{server.base}/probes/healthz")).status_code == 200
        server.signal(signal.SIGTERM)
        assert await server.exit_code(seconds=8) == 0
        nursery.cancel_scope.cancel()


async def start_one_stream(server: ServerProcess, nursery: trio.Nursery) -> None:
    headers, body = modern_request("tools/call", {"name": "hold"}, progressToken=1)
    started = trio.Event()
    nursery.start_soon(_read_to_the_end, ("127.0.0.1", server.port), "POST", headers, body, started)
    await started.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_idle_server_leaves_at_once(tmp_path: Path, number: signal.Signals) -> None:
    async with server_process(GREENROOM, tmp_path) as server:
        await server.ready()
        server.signal(number)
        assert await server.exit_code(seconds=3) == 0


async def test_hypercorns_own_command_serves_it_too(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["-m", "hypercorn", "--config", "hypercorn.toml", "--bind", f"127.0.0.1:{port}"]
    async with server_process([*command, "greenroom.transport.app:app"], tmp_path, port) as server:
        await server.ready()
        headers, body = modern_request("tools/call", {"name": "countdown", "arguments": {"seconds": 0}})
        async with httpx.AsyncClient() as client:
            response = await client.post(f"{server.base}/mcp", headers=headers, json=body)
        assert "lift-off" in response.text


async def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        async with server_process(GREENROOM, tmp_path, taken.getsockname()[1]) as server:
            assert await server.exit_code(seconds=10) == 1
            line = json.loads(server.log.read_text())
            assert (line["level"], line["message"]) == ("error", "cannot serve")
            assert "Address already in use" in line["reason"]

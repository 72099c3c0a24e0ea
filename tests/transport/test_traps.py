"""The habits of Hypercorn, Quart-Trio and TCP that bite, each on a real socket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import trio
import trio.lowlevel
import trio.testing

from greenroom.config.settings import Settings
from greenroom.transport import http, serving
from greenroom.transport.mcp.endpoint import Endpoint
from greenroom.workflow.events import Level, Note, Progress
from greenroom.workflow.port import Turn
from tests.transport.playhouse import ACCEPT, Script, Wire, events, eventually, modern_request, open_house
from tests.transport.test_sessions import Gate, hello

LOGGING = {"io.modelcontextprotocol/logLevel": "debug"}


async def flood(arguments: Mapping[str, Any], turn: Turn) -> str:
    while True:
        turn.report(Note(Level.INFO, "x" * 65536))
        await trio.lowlevel.checkpoint()


def living() -> int:
    return trio.lowlevel.current_statistics().tasks_living


async def living_at_rest() -> int:
    await trio.testing.wait_all_tasks_blocked()
    return living()


async def get(wire: Wire, path: str) -> dict[str, str]:
    await wire.request("GET", path, {})
    response = await wire.response()
    await wire.rest()
    return response


async def call(wire: Wire, tool: str, **meta: Any) -> None:
    headers, body = modern_request("tools/call", {"name": tool}, **meta)
    await wire.request("POST", "/mcp", headers, json.dumps(body).encode())


# --- 1: a disconnect is not a cancellation -----------------------------------------------------------------


async def test_a_client_that_vanishes_in_mid_stream_leaves_no_task_behind() -> None:
    gate = Gate()

    async def hold(arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(Progress(1))
        return await gate.play(arguments, turn)

    async with open_house(Script({"hold": hold}), session_ttl=0.1) as house:
        before = await living_at_rest()
        async with Wire.open(house.address) as wire:
            await call(wire, "hold", progressToken=1)
            await wire.response()
            await wire.message()
        await gate.left.wait()
        assert gate.ended == ["cancelled"]
        await eventually(lambda: living() <= before, seconds=5)


# --- 2: a client that stops reading ------------------------------------------------------------------------


async def test_a_client_that_stops_reading_is_cut_off_and_its_turn_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "STALLED_READER_SECONDS", 1)
    stopped = trio.Event()

    async def watched_flood(arguments: Mapping[str, Any], turn: Turn) -> str:
        try:
            return await flood(arguments, turn)
        finally:
            stopped.set()

    script = Script({"flood": watched_flood, "hello": hello})
    async with open_house(script) as house, Wire.open(house.address, receive_buffer=4096) as wire:
        await call(wire, "flood", **LOGGING)
        await wire.response()
        assert (await house.call("hello"))["isError"] is False
        with trio.fail_after(15):
            await stopped.wait()


# --- 3: a body that is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_that_is_too_large_is_refused_drained_and_leaks_no_task(announced: bool) -> None:
    async with open_house(Script({}), body_limit=1000) as house:
        before = await living_at_rest()
        size = 3_000_000
        framing = {"content-length": str(size)} if announced else {"transfer-encoding": "chunked"}
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/mcp", {**ACCEPT, **framing}, b"x" * size, framing=False)
            response = await wire.response()
            assert (response["status"], response["connection"]) == ("413", "close")
            assert "larger than 1000 bytes" in await wire.rest()
            assert await wire.stream.receive_some(1) == b""
        await eventually(lambda: living() <= before)


async def test_a_refused_host_with_a_large_body_leaks_no_task() -> None:
    async with open_house(Script({})) as house:
        before = await living_at_rest()
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/mcp", {**ACCEPT, "origin": "https://evil.example"}, b"x" * 2_000_000)
            assert (await wire.response())["status"] == "403"
        await eventually(lambda: living() <= before)


async def test_a_body_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BODY_SECONDS", 0.1)
    async with open_house(Script({})) as house:
        before = await living_at_rest()
        async with Wire.open(house.address) as wire:
            await wire.stream.send_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{")
            assert b" 408 " in await wire.stream.receive_some(1000)
        await eventually(lambda: living() <= before)


# --- 4 is the drain, in test_serving.py --------------------------------------------------------------------

# --- 5: HTTP/2 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opening",
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
        b"\x00\x00\x0e\x01\x05\x00\x00\x00\x01\x82\x86\x84\x41\x09localhost",
        b"GET /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\n"
        b"http2-settings: AAMAAABkAAQAAP__\r\n\r\n",
    ],
    ids=["prior knowledge", "upgrade"],
)
async def test_http2_is_refused(opening: bytes) -> None:
    async with open_house(Script({})) as house:
        async with Wire.open(house.address) as wire:
            await wire.stream.send_all(opening)
            seen = b""
            with trio.fail_after(5):
                # 505 in HPACK is the literal status with an indexed name: the digits stand in the frame.
                while b"505" not in seen and b"HTTP/1.1 only" not in seen:
                    piece = await wire.stream.receive_some(4096)
                    assert piece, seen
                    seen += piece
        assert (await house.client.get(f"{house.base}/health")).status_code == 200


def test_http2_is_not_offered_and_the_timeouts_suit_a_proxy() -> None:
    config = serving.make_config(Settings())
    assert config.alpn_protocols == ["http/1.1"]
    assert config.keep_alive_timeout >= 75
    assert config.keep_alive_max_requests >= 100_000
    assert config.backlog >= 1000


# --- 6: Quart's own response timeout -----------------------------------------------------------------------


async def test_a_stream_outlives_quarts_response_timeout() -> None:
    gate = Gate()

    async def hold(arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(Progress(1))
        return await gate.play(arguments, turn)

    async with open_house(Script({"hold": hold})) as house:
        house.app.config["RESPONSE_TIMEOUT"] = 0.05
        async with Wire.open(house.address) as wire:
            await call(wire, "hold", progressToken=1)
            await wire.response()
            await wire.message()
            await trio.sleep(0.2)
            gate.opened.set()
            assert (await wire.message())["result"]["content"][0]["text"] == "through"


# --- 7 and 8: keep-alive -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/health", "/mcp"])
async def test_an_idle_connection_is_closed_after_its_first_request_too(path: str) -> None:
    script = Script({"hello": hello})
    async with open_house(script, keep_alive_timeout=0.2) as house, Wire.open(house.address) as wire:
        if path == "/mcp":
            await call(wire, "hello")
            assert (await wire.response())["status"] == "200"
            await wire.rest()
        else:
            assert (await get(wire, path))["status"] == "200"
        with trio.fail_after(5):
            assert await wire.stream.receive_some(1) == b""


async def test_an_idle_connection_is_closed_after_a_stream_too() -> None:
    async def count(arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(Progress(1))
        return "counted"

    script = Script({"count": count})
    async with open_house(script, keep_alive_timeout=0.2) as house, Wire.open(house.address) as wire:
        await call(wire, "count", progressToken=1)
        assert (await wire.response())["content-type"].startswith("text/event-stream")
        await wire.rest()
        with trio.fail_after(5):
            assert await wire.stream.receive_some(1) == b""


async def test_a_connection_is_used_again_for_the_next_request() -> None:
    async with open_house(Script({"hello": hello})) as house, Wire.open(house.address) as wire:
        for _ in range(3):
            assert (await get(wire, "/health"))["status"] == "200"
            await call(wire, "hello")
            assert (await wire.response())["status"] == "200"
            await wire.rest()


async def test_a_connection_that_its_client_tore_down_is_let_go_at_once() -> None:
    """Closing with the answer unread resets the connection, which is another path than the polite end."""
    async with open_house(Script({"hello": hello})) as house:
        before = await living_at_rest()
        for _ in range(10):
            async with Wire.open(house.address) as wire:
                await call(wire, "hello")
                await trio.lowlevel.wait_readable(wire.stream.socket)
                await trio.testing.wait_all_tasks_blocked(0.01)
        await eventually(lambda: living() <= before, seconds=5)


# --- and one more: a response that is cancelled as it begins -----------------------------------------------


async def test_a_response_that_is_cancelled_as_it_begins_does_not_take_the_server_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def cancelled_in_send(endpoint: Any, scope: Any, receive: Any, send: Any, record: Any) -> None:
        with trio.CancelScope() as leaving:
            leaving.cancel()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async with open_house(Script({})) as house:
        with monkeypatch.context() as patched:
            patched.setattr(Endpoint, "__call__", cancelled_in_send)
            async with Wire.open(house.address) as wire:
                await wire.request("POST", "/mcp", ACCEPT, b"{}")
                assert (await wire.response())["status"] == "200"
        assert (await house.client.get(f"{house.base}/health")).status_code == 200


# --- keeping a silent stream alive -------------------------------------------------------------------------


async def test_a_silent_call_opens_its_stream_and_keeps_it_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "KEEP_ALIVE_SECONDS", 0.05)
    gate = Gate()
    async with open_house(Script({"hold": gate.play})) as house, Wire.open(house.address) as wire:
        await call(wire, "hold")
        assert (await wire.response())["content-type"].startswith("text/event-stream")
        assert [await wire.frame() for _ in range(3)] == [": keep-alive"] * 3
        gate.opened.set()
        assert "through" in json.dumps(await wire.message())


async def test_a_slow_reader_loses_the_oldest_events_is_told_and_still_gets_the_result() -> None:
    async def burst(arguments: Mapping[str, Any], turn: Turn) -> str:
        for number in range(1000):
            turn.report(Note(Level.INFO, number))
        return "burst"

    async with open_house(Script({"burst": burst})) as house:
        response = await house.modern("tools/call", {"name": "burst"}, **LOGGING)
        first, *rest, final = events(response.text)
        assert first["params"]["data"] == {"dropped_events": 744}
        assert [each["params"]["data"] for each in rest] == list(range(744, 1000))
        assert final["result"]["content"][0]["text"] == "burst"

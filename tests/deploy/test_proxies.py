"""A stream that goes through a proxy arrives as it happens, in both eras: nothing waits for the end of the turn."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from greenroom.workflow.events import Progress
from greenroom.workflow.port import Turn
from tests.deploy import proxies
from tests.transport.playhouse import ACCEPT, LEGACY, House, Script, initialize_request, modern_request, open_house

PROXIES = {"nginx": proxies.nginx, "caddy": proxies.caddy}


class Stage:
    """A turn that reports three times, and goes on only when it is told to."""

    def __init__(self) -> None:
        self.go_on = [trio.Event() for _ in range(3)]
        self.stopped = trio.Event()

    async def play(self, arguments: Mapping[str, Any], turn: Turn) -> str:
        try:
            for number, go_on in enumerate(self.go_on):
                turn.report(Progress(number, 3, f"step {number}"))
                await go_on.wait()
        except trio.Cancelled:
            self.stopped.set()
            raise
        return "all the way"


async def data_lines(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data: {"):
            yield json.loads(line[6:])


async def steps_then_result(client: httpx.AsyncClient, stage: Stage, headers: Mapping[str, str], body: Any) -> str:
    """Each step is let go only after the one before has been read, so whatever buffers, hangs."""
    with trio.fail_after(20):
        async with client.stream("POST", "/mcp", headers=headers, json=body) as response:
            assert response.status_code == 200
            seen, told = 0, None
            async for message in data_lines(response):
                if message.get("method") == "notifications/progress":
                    assert message["params"]["message"] == f"step {seen}"
                    stage.go_on[seen].set()
                    seen += 1
                elif "result" in message:
                    assert seen == 3
                    told = message["result"]["content"][0]["text"]
    assert told is not None, "the stream ended without a result"
    return str(told)


async def shake_hands(client: httpx.AsyncClient) -> dict[str, str]:
    response = await client.post("/mcp", headers=ACCEPT, json=initialize_request(LEGACY, {}))
    assert response.status_code == 200, response.text
    session = {"mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": LEGACY}
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.post("/mcp", headers={**ACCEPT, **session}, json=told)).status_code == 202
    return {**ACCEPT, **session}


def upstream(house: House) -> str:
    return house.base.removeprefix("http://")


@pytest.mark.parametrize("proxy", PROXIES)
async def test_steps_arrive_one_by_one_in_the_newer_era(proxy: str, tmp_path: Path) -> None:
    stage = Stage()
    async with open_house(Script({"walk": stage.play})) as house, PROXIES[proxy](tmp_path, upstream(house)) as client:
        headers, body = modern_request("tools/call", {"name": "walk", "arguments": {}}, progressToken="t")
        assert await steps_then_result(client, stage, headers, body) == "all the way"


@pytest.mark.parametrize("proxy", PROXIES)
async def test_steps_arrive_one_by_one_in_the_older_era(proxy: str, tmp_path: Path) -> None:
    stage = Stage()
    async with open_house(Script({"walk": stage.play})) as house, PROXIES[proxy](tmp_path, upstream(house)) as client:
        params = {"name": "walk", "arguments": {}, "_meta": {"progressToken": "t"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        assert await steps_then_result(client, stage, await shake_hands(client), body) == "all the way"


# What a client of httpx leaves behind when it goes away in the middle is not ours to judge.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("proxy", PROXIES)
async def test_a_client_that_leaves_the_proxy_stops_its_turn(proxy: str, tmp_path: Path) -> None:
    stage = Stage()
    async with open_house(Script({"walk": stage.play})) as house, PROXIES[proxy](tmp_path, upstream(house)) as client:
        headers, body = modern_request("tools/call", {"name": "walk", "arguments": {}}, progressToken="t")
        with trio.fail_after(20):
            async with client.stream("POST", "/mcp", headers=headers, json=body) as response:
                async for _ in data_lines(response):
                    break
            # Of HTTP/2 httpx leaves the connection open, and does not say that it has left the stream.
            await client.aclose()
            await stage.stopped.wait()


@pytest.mark.parametrize("proxy", PROXIES)
async def test_a_body_that_is_too_large_gets_the_answer_of_the_server_itself(proxy: str, tmp_path: Path) -> None:
    script = Script({})
    async with open_house(script) as house, PROXIES[proxy](tmp_path, upstream(house)) as client:
        headers, body = modern_request("tools/call", {"name": "walk", "arguments": {"text": "x" * 5_000_000}})
        response = await client.post("/mcp", headers=headers, json=body)
        assert response.status_code == 413
        assert "larger than 4194304 bytes" in response.text

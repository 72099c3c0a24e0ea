"""A REST client for the tests: a session of a server, by its handle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs
import httpx

from greenroom.workflow.events import Direction, Trace
from greenroom.workflow.port import Turn
from tests.transport.playhouse import House
from tests.transport.test_sessions import Gate

NDJSON = {"accept": "application/x-ndjson"}
SSE = {"accept": "text/event-stream"}


@attrs.frozen
class Desk:
    house: House
    handle: str

    @property
    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.handle}"}

    async def post(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> httpx.Response:
        sent = {} if body is None else body
        return await self.house.client.post(
            f"{self.house.base}{path}", json=sent, headers={**self.bearer, **(headers or {})}
        )

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self.house.client.get(f"{self.house.base}{path}", params=query, headers=self.bearer)

    async def execute(self, command: str, **more: Any) -> httpx.Response:
        return await self.post("/execute_command", {"command": command, **more})


async def desk_of(house: House, **body: Any) -> Desk:
    response = await house.client.post(f"{house.base}/initialize", json=body)
    assert response.status_code == 200, response.text
    return Desk(house, response.json()["session_id"])


def told(response: httpx.Response, status: int) -> dict[str, Any]:
    """The error of a response, which must have that status and the one shape."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert set(error) == {"code", "message", "details"}
    assert isinstance(error["code"], str)
    assert error["message"]
    assert isinstance(error["details"], dict | None)
    return error


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line]


def events_of(text: str) -> list[tuple[str, Any]]:
    """Name and data of every server-sent event."""
    frames = [frame.split("\n") for frame in text.split("\n\n") if frame and not frame.startswith(":")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in frames]


def a_trace(number: int = 0, text: str | None = None) -> Trace:
    return Trace(Direction.TO_WORKFLOW, number, raw_command=text or f"step {number}")


class Held(Gate):
    """A turn that reports one trace and then waits to be let go."""

    async def play(self, arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(a_trace(1))
        return await super().play(arguments, turn)

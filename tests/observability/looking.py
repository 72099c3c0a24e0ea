"""Looking at a server of a test as its operator does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from greenroom.config.secret import Secret
from tests.transport.playhouse import House, Wire

TOKEN = "correct-horse-battery"
WITH_TOKEN: dict[str, Any] = {"admin_token": Secret(TOKEN)}
BEARER = {"authorization": f"Bearer {TOKEN}"}
ELSEWHERE: dict[str, Any] = {"public_url": "https://shop.example"}
"""As if the server stood behind a proxy, for everybody."""


async def get(house: House, path: str, **headers: str) -> httpx.Response:
    return await house.client.get(f"{house.base}{path}", headers=headers)


async def seen(house: House, path: str) -> Any:
    response = await get(house, path)
    assert response.status_code == 200, response.text
    return response.json()


async def only_session(house: House) -> dict[str, Any]:
    listed = await seen(house, "/sessions")
    assert listed["total"] == 1
    session: dict[str, Any] = listed["sessions"][0]
    return session


def refused(response: httpx.Response) -> tuple[int, str]:
    error = response.json()["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["message"]
    return response.status_code, error["code"]


@asynccontextmanager
async def watching(
    house: House, path: str, headers: Mapping[str, str] | None = None, receive_buffer: int | None = None
) -> AsyncIterator[Wire]:
    """A stream that has said hello."""
    async with Wire.open(house.address, receive_buffer) as wire:
        await wire.request("GET", path, headers or {})
        response = await wire.response()
        assert response["status"] == "200"
        assert response["content-type"] == "text/event-stream; charset=utf-8"
        assert (await wire.message())["type"] == "watching"
        yield wire


async def until(wire: Wire, kind: str) -> list[dict[str, Any]]:
    """What comes, up to the first event of this kind, which is the last of them."""
    events = [await wire.message()]
    while events[-1]["type"] != kind:
        events.append(await wire.message())
    return events


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()

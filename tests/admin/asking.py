"""Requests of an administrator to a server of a test."""

from __future__ import annotations

import json
from typing import Any

import httpx

from greenroom.config.secret import Secret
from greenroom.persistence.speedict_store import SpeedictStore
from greenroom.workflow.conversations.kept import KeptWorkflow
from tests.transport.playhouse import House

TOKEN = "correct-horse-battery"
OPEN: dict[str, Any] = {"admin_token": Secret(TOKEN)}
BEARER = {"authorization": f"Bearer {TOKEN}"}


async def ask(house: House, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    return await house.client.request(method, f"{house.base}{path}", content=content, headers={**BEARER, **headers})


def kept_by(house: House) -> KeptWorkflow:
    kept = house.app.supervisor.workflow
    assert isinstance(kept, KeptWorkflow)
    return kept


def store_of(house: House) -> SpeedictStore:
    store = kept_by(house).store
    assert isinstance(store, SpeedictStore)
    return store


def told(response: httpx.Response) -> dict[str, Any]:
    error: dict[str, Any] = response.json()["error"]
    assert set(error) == {"code", "message", "details"}
    return error

"""The applications and the requests that the tests on real sockets have in common."""

from __future__ import annotations

from typing import Any

import trio
import trio.lowlevel
import trio.testing

from tests.http1.opening import App

HOST = b"Host: localhost\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"


def posting(*headers: bytes) -> bytes:
    return b"POST / HTTP/1.1\r\n" + HOST + b"".join(header + b"\r\n" for header in headers) + b"\r\n"


def answering(body: bytes = b"ok", status: int = 200, *headers: tuple[bytes, bytes]) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read(receive)
        length = (b"content-length", b"%d" % len(body))
        await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
        await send({"type": "http.response.body", "body": body})

    return app


async def read(receive: Any) -> list[bytes]:
    pieces = []
    while True:
        message = await receive()
        pieces.append(message["body"])
        if not message["more_body"]:
            return pieces


async def ignoring(scope: Any, receive: Any, send: Any) -> None:
    """Answers without a look at the body."""
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


async def stream(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for piece in (b"one", b"", b"two"):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


def tasks() -> int:
    return trio.lowlevel.current_statistics().tasks_living


async def tasks_at_rest() -> int:
    await trio.testing.wait_all_tasks_blocked()
    return tasks()

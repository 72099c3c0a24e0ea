"""An application without a server: requests go straight into its ASGI end, so that a test can send a great many."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio

from greenroom.config.settings import Settings
from greenroom.transport.app import GreenroomApp, create_app
from greenroom.workflow.port import Workflow

Headers = Sequence[tuple[str, str]]

_MADE_UP = (
    (re.compile(rb"turn-[0-9a-f]+"), b"turn-*"),
    (re.compile(rb'"requestState":"[^"]*"'), b'"requestState":"*"'),
    (re.compile(rb"^id: [0-9a-f]{8}\.", re.MULTILINE), b"id: *."),
    (re.compile(rb'session_id("?:? ?"?)[A-Za-z0-9_-]{32}'), rb"session_id\1*"),
    (re.compile(rb'"time": "[^"]*"'), b'"time": "*"'),
)
"""What is another word every time it is said."""


@attrs.frozen
class Request:
    headers: Headers
    body: bytes
    method: str = "POST"


@attrs.frozen
class Answer:
    """A response, as far as two of them can be compared."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @classmethod
    def of(cls, messages: Sequence[Any]) -> Answer:
        start, *rest = messages
        body = b"".join(each["body"] for each in rest)
        length = dict(start["headers"]).get(b"content-length")
        assert length is None or int(length) == len(body)
        for pattern, instead in _MADE_UP:
            body = pattern.sub(instead, body)
        kept = {b"x-request-id", b"content-length"}
        return cls(start["status"], tuple(each for each in start["headers"] if each[0] not in kept), body)


@asynccontextmanager
async def serving(workflow: Workflow, **settings: Any) -> AsyncIterator[GreenroomApp]:
    """The application between its start-up and its shutdown."""
    app = create_app(Settings(port=0, **settings), workflow)
    to_app, from_server = trio.open_memory_channel[Any](1)
    to_server, from_app = trio.open_memory_channel[Any](1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app, {"type": "lifespan", "state": {}}, from_server.receive, to_server.send)
        await to_app.send({"type": "lifespan.startup"})
        assert (await from_app.receive())["type"] == "lifespan.startup.complete"
        yield app
        await to_app.send({"type": "lifespan.shutdown"})
        await from_app.receive()
        nursery.cancel_scope.cancel()


async def send_raw(app: GreenroomApp, request: Request, hangs_up: trio.Event | None = None) -> list[Any]:
    """The messages of the response, just as the application sent them. The client stays, unless it `hangs_up`."""
    unread = [{"type": "http.request", "body": request.body, "more_body": False}]
    messages: list[Any] = []

    async def receive() -> Any:
        if unread:
            return unread.pop()
        if hangs_up is None:
            await trio.sleep_forever()
        else:
            await hangs_up.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "path": "/mcp",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in request.headers],
        "extensions": {"greenroom.http1": {}},
    }
    await app(scope, receive, send)
    return messages


async def say(app: GreenroomApp, request: Request) -> Answer:
    return Answer.of(await send_raw(app, request))


@attrs.define
class Shortcuts:
    """How many calls were answered the short way, and how many were handed over from it with a turn begun."""

    answered: int = 0
    handed_over: int = 0

    @classmethod
    def counted(cls, app: GreenroomApp) -> Shortcuts:
        counts = cls()
        serve = app.mcp.lean.serve

        async def counting(incoming: Any, call: Any) -> Any:
            outcome = await serve(incoming, call)
            counts.answered += outcome is True
            counts.handed_over += not isinstance(outcome, bool)
            return outcome

        app.mcp.lean.serve = counting  # type: ignore[method-assign]
        return counts

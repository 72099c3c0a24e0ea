"""Small tools for speaking ASGI by hand, for the one route that cannot afford a framework.

They know Hypercorn's habits: it never cancels an application whose client has gone, it lets `send` succeed
after a disconnect, and a request body that nobody reads holds a task for ever.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import attrs
import trio

from greenroom.transport import sse

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
RawHeaders = Iterable[tuple[bytes, bytes]]

BODY_SECONDS = 30.0
"""How long a request body may take to arrive."""

KEEP_ALIVE_SECONDS = 15.0
"""Shorter than the idle timeout of any proxy that is worth its name."""

_JSON = (b"content-type", b"application/json")

DRAIN_SECONDS = 5.0
"""How long the rest of a refused body is read and thrown away before the connection is closed on it."""


@attrs.frozen
class BodyRefused:
    status: int
    message: str


class ClientGone(Exception):
    """The client hung up before its request was complete. Nobody is left to answer."""


def folded(raw: RawHeaders) -> dict[str, str]:
    """Headers by lower-case name; repeated ones are joined as HTTP says."""
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def is_our_connection(scope: Scope) -> bool:
    """Whether the connection is ours: it minds the time a body takes, and a `send` of it may be cancelled."""
    return "greenroom.http1" in scope.get("extensions", ())


async def read_body(
    receive: Receive, headers: dict[str, str], limit: int, *, minded: bool = False
) -> bytes | BodyRefused:
    """The whole body, or why not. One that is too large has been drained, so that the refusal is heard.

    `minded` says that somebody else sees to it that a body does not take for ever.
    """
    too_large = BodyRefused(413, f"The request body is larger than {limit} bytes.")
    announced = headers.get("content-length", "")
    if announced.isascii() and announced.isdecimal() and int(announced) > limit:
        await _drain(receive)
        return too_large
    if minded:
        body = await _gather(receive, limit)
        return too_large if body is None else body
    with trio.move_on_after(BODY_SECONDS):
        body = await _gather(receive, limit)
        return too_large if body is None else body
    return BodyRefused(408, f"The request body did not arrive within {BODY_SECONDS:g} seconds.")


async def _gather(receive: Receive, limit: int) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            await _drain(receive)
            return None
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def _drain(receive: Receive) -> None:
    with trio.move_on_after(DRAIN_SECONDS):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                return


async def respond(send: Send, status: int, body: bytes = b"", headers: RawHeaders = ()) -> None:
    """A whole response, in one go if the `send` has a way to do that. An empty body gets no content type."""
    kind = (_JSON,) if body else ()
    lines = [*kind, (b"content-length", b"%d" % len(body)), *headers]
    whole = getattr(send, "whole", None)
    if whole is not None:
        await whole(status, lines, body)
        return
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def session_header(session_id: str) -> list[tuple[bytes, bytes]]:
    return [(b"mcp-session-id", session_id.encode("ascii"))]


class EventStream:
    """A response of server-sent events that starts with its first frame.

    Frames come from two tasks, the one that works and the one that keeps the connection alive, hence the lock.
    """

    def __init__(self, send: Send, headers: RawHeaders, preamble: bytes = b"") -> None:
        self._send = send
        self._steady_send = getattr(send, "steady", send)
        self._is_ours = getattr(send, "is_ours", False)
        self._headers = list(headers)
        self._preamble = preamble
        self._lock = trio.Lock()
        self.started = False

    async def write(self, frame: bytes) -> None:
        await self._write(frame, self._send)

    async def write_steadily(self, frame: bytes) -> None:
        """For whoever works on the response, and is cancelled only if nobody reads it any more."""
        await self._write(frame, self._steady_send)

    async def _write(self, frame: bytes, send: Send) -> None:
        await self._take_turn()
        try:
            if not self.started:
                self.started = True
                await send({"type": "http.response.start", "status": 200, "headers": self._headers})
                frame = self._preamble + frame
            await send({"type": "http.response.body", "body": frame, "more_body": True})
        finally:
            self._lock.release()

    async def _take_turn(self) -> None:
        # Trio's `acquire` lets the others have their turn first, even if there is nobody to wait for. Our connection
        # does that by itself; on Hypercorn's, a send to a client that was cut off never waits, and a turn that goes
        # on reporting would never hear that the client has left.
        if self._is_ours:
            try:
                self._lock.acquire_nowait()
                return
            except trio.WouldBlock:
                pass
        await self._lock.acquire()

    async def end(self, frame: bytes = b"") -> None:
        """Finish the response."""
        if not self.started:
            await self.write(b"")
        await self._send({"type": "http.response.body", "body": frame, "more_body": False})


async def attend(receive: Receive, stream: EventStream, open_after: float) -> None:
    """Watch a response until its client leaves, then return; meanwhile keep the connection alive.

    After `open_after` seconds without a response its stream is opened, and from then on a comment every
    15 seconds keeps proxies from taking silence for death. Runs beside the work, and is cancelled with it.
    """
    patience = open_after
    while True:
        with trio.move_on_after(patience):
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        await stream.write(sse.KEEP_ALIVE)
        patience = KEEP_ALIVE_SECONDS

"""One request and its answer, as the two ends that ASGI gives to an application.

`receive` reads from the connection only while somebody waits in it: pieces of the body first, and after those, ahead,
so that whoever waits learns that the client has left. `send` frames and writes. Neither creates a task or a timer,
and both may be called from any task of the application, and cancelled.
"""

from __future__ import annotations

from math import inf
from typing import Any
from urllib.parse import unquote

import trio
from trio.lowlevel import checkpoint

from greenroom.transport.http1.answer import CONTINUE, Answer, BadAnswer
from greenroom.transport.http1.head import Head, Refusal
from greenroom.transport.http1.limits import Limits
from greenroom.transport.http1.link import Link
from greenroom.transport.http1.reader import Reader
from greenroom.transport.http1.worker import Worker

STALLED = Refusal(408, "the body has stopped coming")


class Exchange:
    __slots__ = (
        "_awaits_continue",
        "_body_over",
        "_closed",
        "_head",
        "_last",
        "_link",
        "_patience",
        "_progress",
        "_reader",
        "_watched",
        "_worker",
        "answer",
        "awaits_body",
        "refusal",
    )

    def __init__(self, worker: Worker, link: Link, reader: Reader, head: Head, last: bool) -> None:
        self._worker = worker
        self._link = link
        self._reader = reader
        self._head = head
        self._last = last
        self._awaits_continue = head.expects_continue and head.length != 0
        self._body_over = False
        self._closed = False
        self._watched = False
        self._patience = worker.limits.body_seconds
        self._progress = 0
        self.answer: Answer | None = None
        self.awaits_body = False
        self.refusal: Refusal | None = None
        """What is wrong with the body, which the application is told as a disconnect."""

    def scope(self, client: tuple[str, int] | None, server: tuple[str, int] | None) -> dict[str, Any]:
        head = self._head
        path, _, query = head.target.partition(b"?")
        text = path.decode("ascii")
        return {
            "type": "http",
            "http_version": head.version,
            "asgi": {"spec_version": "2.1", "version": "3.0"},
            "method": head.method,
            "scheme": "http",
            "path": unquote(text) if "%" in text else text,
            "raw_path": path,
            "query_string": query,
            "root_path": self._worker.root_path,
            "headers": head.headers,
            "client": client,
            "server": server,
            "state": self._worker.state.copy(),
            # Says that `send` may be cancelled anywhere, which Hypercorn's must not be.
            "extensions": {"greenroom.http1": {}},
        }

    # --- receive -------------------------------------------------------------------------------------------

    async def receive(self) -> dict[str, Any]:
        if self._body_over:
            return await self._until_the_client_leaves()
        piece = self._reader.next_body()
        while piece is None:
            if not await self._more_body():
                break
            piece = self._reader.next_body()
        if isinstance(piece, bytes):
            self._awaits_continue = False
            self._body_over = self._reader.done
            return {"type": "http.request", "body": piece, "more_body": not self._body_over}
        self._body_over = True
        self.refusal = self.refusal or piece
        return {"type": "http.disconnect"}

    async def _more_body(self) -> bool:
        """Wait for more of the body, for so long. Only time that is spent waiting counts."""
        if self._awaits_continue and self.answer is None:
            self._awaits_continue = False
            await self._link.write(CONTINUE)
        began = trio.current_time()
        self._link.read_deadline = began + self._patience
        self.awaits_body = self._watched = True
        try:
            data = await self._link.read()
        finally:
            self.awaits_body = self._watched = False
            self._link.read_deadline = inf
        if data:
            self._reader.feed(data)
            self.refusal = None
        self._count(len(data), trio.current_time() - began, self._worker.limits)
        return bool(data)

    def _count(self, arrived: int, waited: float, limits: Limits) -> None:
        self._progress += arrived
        self._patience -= waited
        if self._progress >= limits.body_progress:
            self._progress, self._patience = 0, limits.body_seconds

    def give_up_on_body(self) -> None:
        """The time for the body is over."""
        self.refusal = STALLED
        self._link.wake()

    async def _until_the_client_leaves(self) -> dict[str, Any]:
        self._watched = True
        try:
            while not self._is_over():
                if self._reader.waiting < self._worker.limits.read_ahead:
                    self._reader.feed(await self._link.read())
                else:
                    await self._link.park()
        finally:
            self._watched = False
        await checkpoint()
        return {"type": "http.disconnect"}

    def _is_over(self) -> bool:
        if self._closed or self._link.left or self.refusal is not None:
            return True
        return self.answer is not None and self.answer.complete

    def close(self) -> None:
        """The application has returned; whatever tasks it left behind must keep their hands off the connection."""
        self._closed = self._body_over = True
        if self._watched:
            self._link.wake()

    # --- send ----------------------------------------------------------------------------------------------

    async def send(self, message: Any) -> None:
        kind = message["type"]
        answer = self.answer
        if self._closed:
            await checkpoint()
        elif kind == "http.response.body" and answer is not None and not answer.complete:
            more = message.get("more_body", False)
            data = answer.piece(message.get("body", b""), more)
            if data:
                await self._link.write(data)
            elif more:
                await checkpoint()
            if not more and self._watched:
                self._link.wake()
        elif kind == "http.response.start" and answer is None:
            self.answer = Answer(
                int(message["status"]),
                message.get("headers", ()),
                method=self._head.method,
                version=self._head.version,
                close=self._is_last(),
                common=self._worker.common_headers(),
            )
        elif self._link.left:
            await checkpoint()
        else:
            raise BadAnswer(f"{kind} is out of place here")

    def _is_last(self) -> bool:
        """Whether the connection ends with this answer: it must, if too much of the request would be left over."""
        reader = self._reader
        if self._last or self._worker.ending:
            return True
        if reader.done:
            return False
        return self._awaits_continue or reader.left is None or reader.left > self._worker.limits.unread_body

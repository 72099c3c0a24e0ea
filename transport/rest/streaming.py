"""A turn's events on their way to a REST client, as they happen.

The response begins with the first event, or a moment after the request: before that a refusal can still have its own
status. A client that reads too slowly makes the actor drop the oldest events, and is told how many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trio

from greenroom.transport.http import KEEP_ALIVE_SECONDS, EventStream, Receive, Send
from greenroom.transport.rest import frames
from greenroom.transport.rest.accepting import Form
from greenroom.transport.rest.faults import Answer
from greenroom.workflow.conversations.turns import traces_of
from greenroom.workflow.engine.plain import jsonable
from greenroom.workflow.events import EventsDropped, Progress, Trace, TurnEvent

OPEN_AFTER = 0.05
"""Seconds. A session that is busy says so at once, and that is worth a status of its own."""


class TurnStream:
    def __init__(self, form: Form, send: Send, headers: Sequence[tuple[bytes, bytes]]) -> None:
        self._form = form
        self._stream = EventStream(send, [*frames.headers(form), *headers])

    @property
    def started(self) -> bool:
        return self._stream.started

    async def report(self, event: TurnEvent) -> None:
        match event:
            case Trace():
                [data] = traces_of([event])
                await self._write("trace", jsonable(data))
            case Progress(progress, total, message) if math.isfinite(progress):
                known = total if total is not None and math.isfinite(total) else None
                await self._write("progress", {"progress": progress, "total": known, "message": message})
            case EventsDropped(count):
                await self._write("dropped", {"count": count})
            case _:
                pass

    async def end(self, answer: Answer) -> None:
        kind = "output" if answer.fine else "error"
        await self._stream.end(frames.frame(self._form, kind, answer.value))

    async def attend(self, receive: Receive) -> None:
        """Until the client leaves: the response begins after a moment, and silence is broken in time."""
        if await _leaves_within(OPEN_AFTER, receive):
            return
        if not self.started:
            await self._stream.write(b"")
        while not await _leaves_within(KEEP_ALIVE_SECONDS, receive):
            await self._stream.write(frames.KEEP_ALIVE[self._form])

    async def _write(self, kind: str, data: Any) -> None:
        await self._stream.write(frames.frame(self._form, kind, data))


async def until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _leaves_within(seconds: float, receive: Receive) -> bool:
    with trio.move_on_after(seconds):
        await until_gone(receive)
        return True
    return False

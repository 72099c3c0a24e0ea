"""A one-shot answer, with the turn's events arriving on the way to it.

The answer is a value that is set once and cannot be lost; the events are a bounded buffer from which the
oldest are dropped when the reader is slow, and the reader is told how many. Both wake the same reader, so that
one task can follow a turn to its end: read events until there are none left, then take the answer.

A reply is not a channel: whoever notices that the actor died can fail it, so nobody is left waiting on a
mailbox that nobody reads.
"""

from __future__ import annotations

from collections import deque

import trio

from greenroom.actors.messages import Failed, Heard
from greenroom.config.errors import GreenroomError
from greenroom.workflow.events import EventsDropped, TurnEvent


class Reply:
    """Held by the asker; settled by the actor or, failing that, by its `finally`. One reader only."""

    __slots__ = ("_buffer", "_capacity", "_dropped", "_heard", "_wake")

    def __init__(self, *, events: int = 0) -> None:
        """`events` is how many unread events are kept; 0 for a caller that does not want any."""
        self._capacity = events
        self._buffer: deque[TurnEvent] = deque()
        self._dropped = 0
        self._heard: Heard | None = None
        self._wake = trio.Event()

    @property
    def settled(self) -> bool:
        return self._heard is not None

    def offer(self, event: TurnEvent) -> None:
        if self._capacity == 0 or self._heard is not None:
            return
        if len(self._buffer) >= self._capacity:
            self._buffer.popleft()
            self._dropped += 1
        self._buffer.append(event)
        self._wake.set()

    def settle(self, heard: Heard) -> None:
        """The first answer counts; a later one is ignored, so that a `finally` may settle without looking."""
        if self._heard is None:
            self._heard = heard
            self._wake.set()

    def fail(self, error: GreenroomError) -> None:
        self.settle(Failed(error))

    async def next_event(self) -> TurnEvent | None:
        """The next event, or None once the answer is there and every event kept has been read."""
        while True:
            if self._dropped:
                count, self._dropped = self._dropped, 0
                return EventsDropped(count)
            if self._buffer:
                return self._buffer.popleft()
            if self._heard is not None:
                return None
            self._wake = trio.Event()
            await self._wake.wait()

    async def wait(self) -> Heard:
        while await self.next_event() is not None:
            pass
        assert self._heard is not None
        return self._heard

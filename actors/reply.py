"""A one-shot answer, with the turn's events arriving on the way to it.

The answer is a value that is set once and cannot be lost; the events are a bounded buffer from which the
oldest are dropped when the reader is slow, and the reader is told how many. Both wake the same reader, so that
one task can follow a turn to its end: read events until there are none left, then take the answer.

A reply is not a channel: whoever notices that the actor died can fail it, so nobody is left waiting on a
mailbox that nobody reads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container

import trio

from greenroom.actors.messages import Failed, Heard
from greenroom.config.errors import GreenroomError
from greenroom.workflow.events import EventsDropped, TurnEvent


class Reply:
    """Held by the asker; settled by the actor or, failing that, by its `finally`. One reader only."""

    __slots__ = ("_buffer", "_capacity", "_dropped", "_heard", "_ignored", "_nudged", "_reader")

    def __init__(self, *, events: int = 0, ignoring: Container[type] = ()) -> None:
        """`events` is how many unread events are kept; 0 for a caller that does not want any.

        Those of the kinds that it is `ignoring` are not even kept.
        """
        self._capacity = events
        self._ignored = ignoring
        self._buffer: deque[TurnEvent] = deque()
        self._dropped = 0
        self._heard: Heard | None = None
        self._nudged = False
        self._reader: trio.lowlevel.Task | None = None

    @property
    def settled(self) -> bool:
        return self._heard is not None

    def offer(self, event: TurnEvent) -> None:
        if self._capacity == 0 or self._heard is not None or type(event) in self._ignored:
            return
        if len(self._buffer) >= self._capacity:
            self._buffer.popleft()
            self._dropped += 1
        self._buffer.append(event)
        self._wake()

    def settle(self, heard: Heard) -> None:
        """The first answer counts; a later one is ignored, so that a `finally` may settle without looking."""
        if self._heard is None:
            self._heard = heard
            self._wake()

    def fail(self, error: GreenroomError) -> None:
        self.settle(Failed(error))

    def nudge(self) -> None:
        """Make `prompt_answer` return with what there is."""
        self._nudged = True
        self._wake()

    async def prompt_answer(self) -> Heard | None:
        """The answer, if nothing is to be heard before it; None at the first event or nudge. Nothing is used up."""
        while self._heard is None and not self._buffer and not self._nudged:
            await self._wait()
        return None if self._buffer or self._dropped else self._heard

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
            await self._wait()

    async def wait(self) -> Heard:
        while await self.next_event() is not None:
            pass
        assert self._heard is not None
        return self._heard

    def _wake(self) -> None:
        if self._reader is not None:
            trio.lowlevel.reschedule(self._reader)
            self._reader = None

    async def _wait(self) -> None:
        # A task by itself, not an event: there is one per call, and only one task ever waits for it.
        assert self._reader is None, "a reply has one reader"
        self._reader = trio.lowlevel.current_task()

        def leave(_: object) -> trio.lowlevel.Abort:
            self._reader = None
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(leave)

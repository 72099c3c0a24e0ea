"""A session's mailbox: bounded, read by one task at a time, and able to call for a reader where there is none.

It is not a channel. An actor that is busy with its turn does not look into its mailbox; `when_unread` says whom to call
if something comes meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class Mailbox(Generic[T]):
    __slots__ = ("_capacity", "_messages", "_reader", "when_unread")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._messages: deque[T] = deque()
        self._reader: trio.lowlevel.Task | None = None
        self.when_unread: Callable[[], None] | None = None
        """Called once, by the next message that nobody waits for."""

    def __len__(self) -> int:
        return len(self._messages)

    def send_nowait(self, message: T) -> None:
        if len(self._messages) >= self._capacity:
            raise trio.WouldBlock
        self._messages.append(message)
        if self._reader is not None:
            self.wake()
        elif self.when_unread is not None:
            call, self.when_unread = self.when_unread, None
            call()

    def wake(self) -> None:
        """Make whoever waits look up, message or not."""
        if self._reader is not None:
            trio.lowlevel.reschedule(self._reader)
            self._reader = None

    def take(self) -> T:
        """The oldest message. There has to be one."""
        return self._messages.popleft()

    async def wait(self) -> None:
        """Until a message comes, if there is none, or until it is woken. Another may have taken it then."""
        if self._messages:
            return
        assert self._reader is None, "a mailbox has one reader"
        self._reader = trio.lowlevel.current_task()

        def leave(_: object) -> trio.lowlevel.Abort:
            self._reader = None
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(leave)

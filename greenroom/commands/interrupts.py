"""Ctrl-C as an event of the program, not as an exception out of nowhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import attrs
import trio

T = TypeVar("T")


@attrs.frozen
class Interrupted:
    """Instead of a result: the human did not want to wait."""


@attrs.define
class Interrupts:
    """A signal stops the innermost work that is guarded, so what is around it can still end in good order."""

    _guarded: list[trio.CancelScope] = attrs.field(factory=list)

    async def listen(self, signals: AsyncIterator[int]) -> None:
        """`signals` comes from `trio.open_signal_receiver`."""
        async for _ in signals:
            if self._guarded:
                self._guarded[-1].cancel()

    async def guard(self, work: Callable[[], Awaitable[T]]) -> T | Interrupted:
        with trio.CancelScope() as scope:
            self._guarded.append(scope)
            try:
                return await work()
            finally:
                self._guarded.remove(scope)
        return Interrupted()

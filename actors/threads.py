"""Worker threads for blocking workflow code, under a limit of our own.

A thread cannot be stopped. What is built here makes that bearable: whoever waits for a call can be cancelled
at any moment and leaves at once, the call's late result is thrown away, and `Crew.busy` stays true until the
last abandoned call has really returned. Trio's own `to_thread` does not tell when that is.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import outcome
import trio

T = TypeVar("T")


class CommandExited(Exception):
    """The code called `sys.exit` or the like. That ends its turn, never the server."""


class Crew:
    """The threads that one turn has started. `limiter` is shared by all turns of the server."""

    __slots__ = ("_limiter", "_returned", "_working")

    def __init__(self, limiter: trio.CapacityLimiter) -> None:
        self._limiter = limiter
        self._working = 0
        self._returned: trio.Event | None = None

    @property
    def busy(self) -> bool:
        return self._working > 0

    async def wait_until_returned(self) -> None:
        while self._working:
            self._returned = trio.Event()
            await self._returned.wait()

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        borrower = object()
        await self._limiter.acquire_on_behalf_of(borrower)
        loop = trio.lowlevel.current_trio_token()
        finished = trio.Event()
        results: list[outcome.Outcome[T]] = []

        def back_in_the_loop(result: outcome.Outcome[T]) -> None:
            self._limiter.release_on_behalf_of(borrower)
            self._working -= 1
            if self._returned is not None:
                self._returned.set()
            results.append(result)
            finished.set()

        def deliver(result: outcome.Outcome[T]) -> None:
            # The loop may be gone when a thread that nobody waits for comes back at last.
            with suppress(trio.RunFinishedError):
                loop.run_sync_soon(back_in_the_loop, result)

        job = partial(contextvars.copy_context().run, _contained, function, *args)
        try:
            trio.lowlevel.start_thread_soon(job, deliver, "greenroom-worker")
        except BaseException:
            self._limiter.release_on_behalf_of(borrower)
            raise
        self._working += 1
        await finished.wait()
        return results[0].unwrap()


def _contained(function: Callable[..., T], *args: Any) -> T:
    try:
        return function(*args)
    except Exception:
        raise
    except BaseException as exc:
        raise CommandExited(f"the command raised {type(exc).__name__}") from exc

"""Something to be done a fixed time from now, for many at once: one task and a queue instead of a deadline for each.

Everybody waits equally long, so whoever came first is due first. Most do not need it any more by then; what is called
has to see for itself whether it is still wanted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import trio


class Later:
    def __init__(self, seconds: float, pause: float = 0.0) -> None:
        """`pause` is how long at least passes between two looks at who is due, if many are."""
        self._seconds = seconds
        self._pause = pause
        self._queue: deque[tuple[float, Callable[[], None]]] = deque()
        self._first = trio.Event()

    def put(self, call: Callable[[], None]) -> None:
        """Have this called later. It must not raise, nor wait."""
        if not self._queue:
            self._first.set()
        self._queue.append((trio.current_time() + self._seconds, call))

    async def run(self) -> None:
        """Live until cancelled."""
        while True:
            if not self._queue:
                self._first = trio.Event()
                await self._first.wait()
            due, _ = self._queue[0]
            await trio.sleep(max(due - trio.current_time(), self._pause))
            self._call_those_due()

    def _call_those_due(self) -> None:
        now = trio.current_time()
        while self._queue and self._queue[0][0] <= now:
            _, call = self._queue.popleft()
            call()

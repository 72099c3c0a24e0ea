"""How late the event loop is: a task that wants to wake at fixed times, and how long after them it does.

Whatever holds the loop up (workflow code that blocks, a large body, a slow disk) shows here, as it does for everybody.
"""

from __future__ import annotations

from collections import deque

import trio

from greenroom.persistence.meter import Meter

EVERY_SECONDS = 0.5
RECENT = 120
"""Measurements of the last minute."""

_BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class LoopLag:
    def __init__(self) -> None:
        self.meter = Meter(_BOUNDS)
        self._recent: deque[float] = deque(maxlen=RECENT)

    @property
    def recent_max(self) -> float:
        return max(self._recent, default=0.0)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        while True:
            due = trio.current_time() + EVERY_SECONDS
            await trio.sleep_until(due)
            late = trio.current_time() - due
            self.meter.note(late)
            self._recent.append(late)

"""How long an event loop stands, and what it would be on this machine right now if nobody asked anything of it.

`python -m bench.store.lag` is the second: a loop with nothing to do and a file that is synced now and then, from the
first line of its input to its end. What it prints then, as JSON, is the floor under the figures of whatever ran beside
it.
"""

from __future__ import annotations

import heapq
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from itertools import accumulate
from typing import Any

import attrs
import trio

PAUSE = 0.001
ABOVE_MS = 20


@attrs.define
class Lag:
    """How late the loop was, in tenths of a millisecond, and what it had been doing the worst few times.

    Beside it, how much of that time this thread was at work: the rest it waited, for the disk or for a processor.
    """

    tenths: array[int] = attrs.field(factory=lambda: array("L", bytes(8 * 20_000)))
    busiest: float = 0.0
    worst: list[tuple[float, int, dict[str, Any]]] = attrs.field(factory=list)
    done: dict[str, list[float]] = attrs.field(factory=dict)
    """By operation: the milliseconds that each took since the last sample."""
    totals: dict[str, list[float]] = attrs.field(factory=dict)
    """By operation: how many, milliseconds altogether, the longest."""
    just_told: bool = False
    """To add up the figures takes ten milliseconds: that sample is of this bench, and does not count."""

    def note(self, operation: str, milliseconds: float) -> None:
        self.done.setdefault(operation, []).append(milliseconds)
        total = self.totals.setdefault(operation, [0, 0.0, 0.0])
        total[:] = [total[0] + 1, total[1] + milliseconds, max(total[2], milliseconds)]

    async def sample(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        count = 0
        while True:
            wall, cpu = time.perf_counter(), time.thread_time()
            await trio.sleep(PAUSE)
            late = max(time.perf_counter() - wall - PAUSE, 0.0) * 1000
            if self.just_told:
                self.just_told = False
                continue
            count += 1
            busy = (time.thread_time() - cpu) * 1000
            self.busiest = max(self.busiest, busy)
            self.tenths[min(int(late * 10), len(self.tenths) - 1)] += 1
            if len(self.worst) < 5 or late > self.worst[0][0]:
                did = {name: [len(each), round(sum(each), 1)] for name, each in self.done.items()}
                about = {"late": round(late, 1), "cpu": round(busy, 1), "did": did}
                (heapq.heappush if len(self.worst) < 5 else heapq.heappushpop)(self.worst, (late, count, about))
            self.done.clear()

    def take(self) -> dict[str, Any]:
        """The figures since the last time."""
        total = sum(self.tenths)
        below = list(accumulate(self.tenths))
        shares = {f"p{share:g}": self._at(below, share / 100 * total) for share in (50, 99, 99.9)}
        worst = [about for _, _, about in sorted(self.worst, reverse=True)]
        figures = {
            **shares,
            "samples": total,
            "above": total - below[ABOVE_MS * 10 - 1],
            "max": worst[0]["late"],
            "busiest": self.busiest,
            "worst": worst,
            "operations": self.totals,
        }
        self.tenths, self.worst, self.totals = array("L", bytes(8 * len(self.tenths))), [], {}
        self.busiest, self.just_told = 0.0, True
        return figures

    def _at(self, below: list[int], count: float) -> float:
        return next(tenth for tenth, so_far in enumerate(below, start=1) if so_far >= count) / 10


# --- the floor ---------------------------------------------------------------------------------------------


@attrs.define
class Floor:
    """Of a loop, and of the disk, in milliseconds, while what is done inside of it is done."""

    process: subprocess.Popen[bytes]
    figures: dict[str, Any] = attrs.field(factory=dict)

    @classmethod
    def waiting(cls) -> Floor:
        """A process of its own, with the priority that this one has now. It has nothing to do before it is entered."""
        command = [sys.executable, "-m", "bench.store.lag"]
        return cls(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    def __enter__(self) -> Floor:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"begin\n")
        self.process.stdin.flush()
        self.process.stdout.readline()
        return self

    def __exit__(self, *raised: object) -> None:
        told, _ = self.process.communicate(timeout=30)
        self.figures = json.loads(told)

    def __str__(self) -> str:
        loop, disk = self.figures["loop"], self.figures["disk"]
        return (
            f"meanwhile, an idle loop: p99 {loop['p99']:.1f} ms, p99.9 {loop['p99.9']:.1f}, worst {loop['max']:.1f}, "
            f"{loop['above']} times above {ABOVE_MS}; syncing a small file: median {disk[0]:.1f} ms, "
            f"p99 {disk[1]:.1f}, worst {disk[2]:.1f}"
        )


def _sync_now_and_then(stop: threading.Event, took: list[float]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        while not stop.wait(0.1):
            with open(f"{folder}/file", "wb") as file:
                file.write(b"x")
                file.flush()
                started = time.perf_counter()
                os.fsync(file.fileno())
                took.append((time.perf_counter() - started) * 1000)
            os.unlink(file.name)


async def _idle() -> None:
    lag, stop, took = Lag(), threading.Event(), [0.0]
    async with trio.open_nursery() as nursery:
        await nursery.start(lag.sample)
        nursery.start_soon(trio.to_thread.run_sync, _sync_now_and_then, stop, took)
        await trio.sleep(0.3)
        print("ready", flush=True)
        await trio.to_thread.run_sync(sys.stdin.read)
        stop.set()
        took.sort()
        disk = [took[len(took) // 2], took[int(len(took) * 0.99)], took[-1]]
        print(json.dumps({"loop": lag.take(), "disk": disk}))
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    if sys.stdin.readline():
        trio.run(_idle)

"""How long something takes, counted in buckets: cheap enough to be always on. Pure, and for one thread."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

FINE = (0.000_01, 0.000_025, 0.000_05, 0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)
"""Seconds, for what takes microseconds if all is well."""

COARSE = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Seconds, for what somebody waits for."""


class Meters:
    """Of a store."""

    def __init__(self) -> None:
        self.commits = Meter()
        self.failures = 0


class Meter:
    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float] = FINE) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def note(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds

    @property
    def count(self) -> int:
        return sum(self.counts)

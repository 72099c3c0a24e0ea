"""Rounds, and what is made of them: medians, spreads, ratios. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import attrs


@attrs.frozen
class Round:
    """One server, for a second or two. A unit is what the scenario counts: a call, a set-up, a notification."""

    units: int
    cpu_us: float
    rate: float
    p50_ms: float
    p99_ms: float
    client_us: float

    @classmethod
    def of(cls, latencies: Sequence[float], seconds: float, cpu: float, client: float, per_script: int = 1) -> Round:
        """`per_script` is how many units one script is; latencies are of whole scripts all the same."""
        units = len(latencies) * per_script
        return cls(
            units,
            cpu / units * 1e6,
            units / seconds,
            percentile(latencies, 50) * 1e3,
            percentile(latencies, 99) * 1e3,
            client / units * 1e6,
        )


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of all do not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(int(rank), 1) - 1]


@attrs.frozen
class Spread:
    """The median of the rounds, between their extremes."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def to(self, other: Spread) -> float:
        return self.middle / other.middle if other.middle else float("nan")


@attrs.frozen
class Figures:
    """One line of a scenario's table."""

    cpu_us: Spread
    rate: Spread
    p50_ms: Spread
    p99_ms: Spread
    rounds: int

    @classmethod
    def of(cls, rounds: Sequence[Mapping[str, Any]]) -> Figures:
        """From rounds as they stand in the file of results."""

        def spread(name: str) -> Spread:
            return Spread.of([each[name] for each in rounds])

        return cls(spread("cpu_us"), spread("rate"), spread("p50_ms"), spread("p99_ms"), len(rounds))


def figures_of(results: Mapping[str, Any], scenario: str, peer: str) -> Figures | None:
    """None if that peer was not measured there."""
    found = results["scenarios"].get(scenario, {}).get(peer, {})
    return Figures.of(found["rounds"]) if found.get("rounds") else None

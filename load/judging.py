"""What a wave has to leave behind, and what it must not. Pure."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import attrs

REFUSED = "no"
"""The word of the calls that have to be refused: it must never be executed."""

_SAMPLE = re.compile(r"^(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


@attrs.frozen
class Standing:
    """How the server stands, between two waves."""

    sessions: int
    callers: int
    tasks: int
    descriptors: int
    megabytes: float

    @classmethod
    def of(cls, metrics: str) -> Standing:
        figures: Counter[str] = Counter()
        for name, value in _SAMPLE.findall(metrics):
            figures[name] += float(value)  # type: ignore[assignment]
        return cls(
            int(figures["greenroom_sessions"]),
            int(figures["greenroom_callers_waiting"] + figures["greenroom_http_requests_in_flight"]) - 1,
            int(figures["greenroom_tasks"]),
            int(figures["process_open_fds"]),
            figures["process_resident_memory_bytes"] / 1e6,
        )

    @property
    def settled(self) -> bool:
        """Nobody is there but the one who asks."""
        return self.sessions == 0 and self.callers <= 0


@attrs.frozen
class Bounds:
    tasks: int = 5
    descriptors: int = 12
    megabytes: float = 15.0
    share: float = 0.10
    """Of what it was before, if that is more."""
    p95_ratio: float = 60.0
    """Of the idle server's. The clients of a wave need the same two cores as the server does."""


def leaks(before: Standing, after: Standing, bounds: Bounds) -> list[str]:
    found = []
    if after.tasks > before.tasks + bounds.tasks:
        found.append(f"tasks grew from {before.tasks} to {after.tasks}")
    if after.descriptors > before.descriptors + bounds.descriptors:
        found.append(f"descriptors grew from {before.descriptors} to {after.descriptors}")
    if after.megabytes > before.megabytes + max(bounds.megabytes, bounds.share * before.megabytes):
        found.append(f"memory grew from {before.megabytes:.0f} to {after.megabytes:.0f} MB")
    return found


def execution_faults(executed: Iterable[str], told: Iterable[str]) -> list[str]:
    """Something that was executed twice, or that was told and never executed, or refused and executed all the same."""
    counts = Counter(executed)
    faults = [f"{word} was executed {count} times" for word, count in counts.items() if count > 1]
    faults += [f"{word} was answered and never executed" for word in told if not counts[word]]
    if counts[REFUSED]:
        faults.append(f"a call that was refused was executed {counts[REFUSED]} times")
    return faults


@attrs.frozen
class Row:
    """One kind of request, as locust's table has it."""

    requests: int
    failures: int
    p50: float
    p95: float
    p99: float


def table(text: str) -> Mapping[str, Row]:
    rows = {}
    for line in csv.DictReader(text.splitlines()):
        if line["Name"] and line["Request Count"].isdigit():
            times = [float(line[share]) if line[share] not in ("", "N/A") else 0.0 for share in ("50%", "95%", "99%")]
            key = line["Name"] if line["Type"] != "CHECK" else f"check of {line['Name']}"
            rows[key] = Row(int(line["Request Count"]), int(line["Failure Count"]), *times)
    return rows

"""How much is measured, and what is kept of it: the shape of the file of results."""

from __future__ import annotations

from typing import Any

import attrs

from bench.figures import Round
from bench.load import Tally


@attrs.frozen
class Effort:
    main_rounds: int
    """Of the scenario that everybody looks at first."""
    rounds: int
    """Of every other one."""
    seconds: float
    warm_up: float
    quick: bool


FULL, QUICK = Effort(6, 3, 1.3, 0.8, False), Effort(2, 2, 0.7, 0.5, True)


@attrs.define
class Record:
    """Everything that is known at the end, as it goes into the file."""

    results: dict[str, Any]

    @classmethod
    def empty(cls, effort: Effort) -> Record:
        tables = ("scenarios", "skipped", "wrong", "memory", "turns")
        return cls({**{name: {} for name in tables}, "quick": effort.quick})

    def note(self, scenario: str, peer: str, tally: Tally) -> None:
        wrong = self.results["wrong"].setdefault(peer, {"count": 0, "faults": []})
        wrong["count"] += tally.wrong
        wrong["faults"] += [f"{scenario}: {fault}" for fault in tally.faults[:3]]

    def absent(self, scenario: str, peer: str, reason: str) -> None:
        self.results["scenarios"].setdefault(scenario, {})[peer] = {"absent": reason}

    def add(self, scenario: str, peer: str, measured: Round | None) -> None:
        rounds = self.results["scenarios"].setdefault(scenario, {}).setdefault(peer, {"rounds": []})["rounds"]
        if measured is not None:
            rounds.append(attrs.asdict(measured))

"""How many calls, how they ended, how long they took. Plain numbers that only grow."""

from __future__ import annotations

from collections import Counter

from greenroom.persistence.meter import COARSE, Meter
from greenroom.workflow.llm.port import Purpose


class CallTally:
    def __init__(self) -> None:
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """By role, and "completed" or the name of an error."""
        self.seconds = {purpose.name.lower(): Meter(COARSE) for purpose in Purpose}

    def note(self, purpose: Purpose, outcome: str, seconds: float) -> None:
        role = purpose.name.lower()
        self.outcomes[(role, outcome)] += 1
        self.seconds[role].note(seconds)

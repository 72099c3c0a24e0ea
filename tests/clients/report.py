"""What one client's script tells the runner: a JSON line on its stdout, and the verdict on it.

Standard library only, because the script of FastMCP imports it from another virtualenv. The `.mjs` scripts
print the same keys by hand.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field

TOOL = "countdown"
ARGUMENTS: dict[str, int] = {"steps": 3, "seconds": 1}
EXPECTED_TEXT = "lift-off"
MIN_PROGRESS = 2

# Three steps over one second: the first progress leaves the server two thirds of a second or more before the
# result. Anything much closer means that the stream was held back and delivered in one piece.
MIN_LEAD_SECONDS = 0.2


@dataclass(frozen=True)
class Report:
    """What a client saw. `progress` counts what it had received when the result reached it."""

    version: str
    protocol: str | None
    tools: list[str]
    progress: int
    lead: float
    text: str

    @classmethod
    def from_output(cls, output: str) -> Report | None:
        """The report is the last line that is a JSON object with our keys; clients may print before it."""
        for line in reversed(output.splitlines()):
            try:
                return cls(**json.loads(line))
            except (ValueError, TypeError):
                continue
        return None

    def emit(self) -> None:
        print(json.dumps(asdict(self)), flush=True)

    def problem(self, expected_protocol: str) -> str | None:
        """Why this client does not pass, or None."""
        if TOOL not in self.tools:
            return f"tools/list does not name {TOOL}: {self.tools}"
        if EXPECTED_TEXT not in self.text:
            return f"the result has no {EXPECTED_TEXT!r}: {self.text[:200]!r}"
        if self.progress < MIN_PROGRESS:
            return f"{self.progress} progress notifications before the result, {MIN_PROGRESS} expected"
        if self.lead < MIN_LEAD_SECONDS:
            return f"the first progress came only {self.lead:.2f} s before the result: delivered in one piece?"
        if self.protocol != expected_protocol:
            return f"negotiated {self.protocol}, expected {expected_protocol}"
        return None


@dataclass
class Recorder:
    """Counts progress as it arrives and notes when the first one did."""

    progress: int = 0
    _first: float | None = field(default=None, init=False)

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        if self._first is None:
            self._first = time.monotonic()
        self.progress += 1

    def lead(self) -> float:
        """Seconds from the first progress until now: call it when the result is here."""
        return 0.0 if self._first is None else round(time.monotonic() - self._first, 3)

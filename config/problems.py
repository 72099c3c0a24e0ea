"""The one error of start-up: a configuration that cannot be used, with everything that is wrong with it.

It is for the operator at a terminal, not for a client, so it is no part of the tree in `errors`.
"""

from __future__ import annotations

from collections.abc import Iterable


class ConfigurationError(Exception):
    """Carries every problem at once: whoever mends a configuration should not have to start the server N times."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__(*self.problems)

    def __str__(self) -> str:
        count = len(self.problems)
        heading = "Greenroom cannot start: " + (
            "there is a problem with its configuration." if count == 1 else f"its configuration has {count} problems."
        )
        return "\n".join([heading, *(f"  - {problem}" for problem in self.problems)])

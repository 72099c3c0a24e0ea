"""A string that must not turn up in a log, a traceback or the output of `greenroom check`."""

from __future__ import annotations

MASK = "***"

_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


class Secret:
    """Shows `***` whatever its length; `reveal()` is the one way in, and easy to search for."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash((Secret, self._value))


def sounds_secret(variable: str) -> bool:
    """Whether a variable's name promises a secret, for the families that hold model names and, by habit, keys."""
    return any(word in variable.upper() for word in _SECRET_WORDS)

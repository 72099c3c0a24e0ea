"""Who is here, in the order in which they were last needed. No clock of its own, no I/O.

Two tables of the server are rosters: the sessions, and the connections of the older protocol. Both let the
idle go after a while, both have a maximum, and in both the busy may never be sent away.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Roster(Generic[T]):
    def __init__(self, *, ttl: float, maximum: int, is_idle: Callable[[T], bool]) -> None:
        self._ttl = ttl
        self._maximum = maximum
        self._is_idle = is_idle
        self._members: OrderedDict[str, tuple[T, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[T]:
        """The members, least recently needed first."""
        return (member for member, _ in list(self._members.values()))

    def entries(self) -> list[tuple[T, float]]:
        """The members, and when each was last needed, the least recently needed first."""
        return list(self._members.values())

    @property
    def full(self) -> bool:
        return len(self._members) >= self._maximum

    def add(self, key: str, member: T, now: float) -> None:
        self._members[key] = (member, now)

    def find(self, key: str) -> T | None:
        entry = self._members.get(key)
        return entry[0] if entry else None

    def touch(self, key: str, now: float) -> None:
        if (entry := self._members.get(key)) is not None:
            self._members[key] = (entry[0], now)
            self._members.move_to_end(key)

    def remove(self, key: str) -> T | None:
        entry = self._members.pop(key, None)
        return entry[0] if entry else None

    def take_one_idle(self) -> T | None:
        """Remove the least recently needed member that is idle, to make room. None if all are busy."""
        for key, (member, _) in self._members.items():
            if self._is_idle(member):
                del self._members[key]
                return member
        return None

    def take_expired(self, now: float) -> list[T]:
        """Remove and return those who have been idle past their time. The busy count as needed now."""
        gone: list[T] = []
        while self._members:
            key, (member, last_needed) = next(iter(self._members.items()))
            if now - last_needed < self._ttl:
                break
            if self._is_idle(member):
                del self._members[key]
                gone.append(member)
            else:
                self.touch(key, now)
        return gone

    def next_expiry(self, now: float) -> float:
        """When to look again: the earliest moment at which somebody may have to go."""
        for _, last_needed in self._members.values():
            return last_needed + self._ttl
        return now + self._ttl

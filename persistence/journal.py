"""The journal of finished turns: a port, and the one that keeps the newest few of each session in memory.

An actor commits a turn here before anybody is told of its end, and looks here when somebody asks for a turn
that is over. A journal that raises stops the actor, and only that actor.
"""

from __future__ import annotations

from typing import Any, Protocol

import attrs


@attrs.frozen
class TurnRecord:
    session: str
    turn_id: str
    outcome: Any
    kind: str = attrs.field(default="", eq=False)
    name: str = attrs.field(default="", eq=False)
    """What was to be done. Not with which arguments: those may be large, and are kept with the conversation."""
    began: float = attrs.field(default=0.0, eq=False)
    seconds: float = attrs.field(default=0.0, eq=False)


class Journal(Protocol):
    def commit(self, record: TurnRecord) -> None:
        """Keep it. Returns when it is kept."""

    def find(self, session: str, turn_id: str) -> TurnRecord | None: ...

    def forget(self, session: str) -> None:
        """The session is over; nobody will ask again."""


class MemoryJournal:
    """Keeps the last `depth` turns of every session that is open."""

    def __init__(self, depth: int = 32) -> None:
        self._depth = depth
        # Lists, not deques: an empty deque is six times the size, and there is one per open session.
        self._turns: dict[str, list[TurnRecord]] = {}

    def commit(self, record: TurnRecord) -> None:
        kept = self._turns.setdefault(record.session, [])
        kept.append(record)
        del kept[: -self._depth]

    def find(self, session: str, turn_id: str) -> TurnRecord | None:
        for record in self._turns.get(session, ()):
            if record.turn_id == turn_id:
                return record
        return None

    def recent(self, session: str) -> list[TurnRecord]:
        """What is at hand of this session, the oldest first."""
        return list(self._turns.get(session, ()))

    def forget(self, session: str) -> None:
        self._turns.pop(session, None)

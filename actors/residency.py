"""What lets a session outlive this process: a port, and a journal that looks there for turns long past.

Without one, a session lives as long as the supervisor keeps it. With one, whoever still holds its handle finds it
again, after an expiry, a crash or a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from greenroom.actors.messages import Finished
from greenroom.persistence.journal import MemoryJournal, TurnRecord
from greenroom.workflow.port import Caller, WorkflowSession
from greenroom.workflow.values import ToolResult


class Residency(Protocol):
    def open(self, handle: str, caller: Caller, conversation_id: str | None) -> WorkflowSession:
        """A session that is remembered by its handle. Raises `GreenroomError` if there is no such conversation."""

    def recall(self, handle: str) -> tuple[str, WorkflowSession] | None:
        """A session of an earlier time and whose it is; None if nobody remembers it."""

    def about(self, session: WorkflowSession) -> Mapping[str, Any]:
        """What a client is told of a session when it opens it."""

    def recorded(self, handle: str, turn_id: str) -> ToolResult | None:
        """How a turn of that session ended, if that was kept."""


class LastingJournal(MemoryJournal):
    """Keeps the newest turns at hand, as its base does, and knows of all the others that were kept."""

    def __init__(self, residency: Residency) -> None:
        super().__init__()
        self._residency = residency

    def find(self, session: str, turn_id: str) -> TurnRecord | None:
        at_hand = super().find(session, turn_id)
        if at_hand is not None:
            return at_hand
        result = self._residency.recorded(session, turn_id)
        return TurnRecord(session, turn_id, Finished(result)) if result is not None else None

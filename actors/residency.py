"""What lets a session outlive this process: a port, and a journal that looks there for turns long past.

Without one, a session lives as long as the supervisor keeps it. With one, whoever still holds its handle finds it
again, after an expiry, a crash or a restart.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

import attrs

from greenroom.actors.lookout import result_of
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

    def has_kept(self, turn_id: str) -> bool:
        """Whether the turn that has just ended can be asked of `recorded` from now on. To be asked once."""


@attrs.frozen
class InShort(Finished):
    """An answer that is kept elsewhere: what somebody who looks on sees of it, shared by all that look the same."""


class LastingJournal(MemoryJournal):
    """Keeps the newest turns at hand, as its base does, and knows of all the others that were kept.

    An answer may be large, and there may be many sessions that nobody needs for now. So of an answer that can be read
    back, a session's record holds next to nothing; the newest `whole` ones of all sessions are at hand as they were.
    """

    def __init__(self, residency: Residency, whole: int = 256) -> None:
        super().__init__()
        self._residency = residency
        self._most_whole = whole
        self._whole: OrderedDict[tuple[str, str], TurnRecord] = OrderedDict()

    def commit(self, record: TurnRecord) -> None:
        if not (self._residency.has_kept(record.turn_id) and isinstance(record.outcome, Finished)):
            super().commit(record)
            return
        self._whole[record.session, record.turn_id] = record
        if len(self._whole) > self._most_whole:
            self._whole.popitem(last=False)
        super().commit(attrs.evolve(record, outcome=_in_short(record.outcome)))

    def find(self, session: str, turn_id: str) -> TurnRecord | None:
        at_hand = self._whole.get((session, turn_id)) or super().find(session, turn_id)
        if at_hand is not None and not isinstance(at_hand.outcome, InShort):
            return at_hand
        result = self._residency.recorded(session, turn_id)
        return TurnRecord(session, turn_id, Finished(result)) if result is not None else None

    def forget(self, session: str) -> None:
        for record in self.recent(session):
            self._whole.pop((session, record.turn_id), None)
        super().forget(session)


def _in_short(outcome: Finished) -> InShort:
    structured = outcome.result.structured if isinstance(outcome.result, ToolResult) else None
    context = (structured or {}).get("context")
    return _shared(result_of(outcome), context if isinstance(context, str) else None)


@lru_cache(maxsize=256)
def _shared(status: str, context: str | None) -> InShort:
    return InShort(ToolResult(structured={"status": status, "context": context}))

"""A journal over a store: answers that are kept need not be in memory, and are found all the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from greenroom.actors.lookout import result_of
from greenroom.actors.messages import Failed, Finished
from greenroom.actors.residency import LastingJournal
from greenroom.config.errors import TurnCancelled
from greenroom.persistence.journal import TurnRecord
from greenroom.workflow.port import Caller, WorkflowSession
from greenroom.workflow.values import Text, ToolResult


@attrs.define
class Shelf:
    """Keeps the turns that it is told to, as a store would."""

    kept: dict[str, ToolResult] = attrs.field(factory=dict)

    def open(self, handle: str, caller: Caller, conversation_id: str | None) -> WorkflowSession:
        raise NotImplementedError

    def recall(self, handle: str) -> tuple[str, WorkflowSession] | None:
        return None

    def about(self, session: WorkflowSession) -> Mapping[str, Any]:
        return {}

    def recorded(self, handle: str, turn_id: str) -> ToolResult | None:
        return self.kept.get(turn_id)

    def has_kept(self, turn_id: str) -> bool:
        return turn_id in self.kept


def answered(number: int, **structured: Any) -> ToolResult:
    return ToolResult([Text(f"answer {number}")], {"status": "completed", "context": "Shop", **structured})


def a_record(number: int, result: ToolResult, session: str = "s") -> TurnRecord:
    return TurnRecord(session, f"t{number}", Finished(result))


def found(journal: LastingJournal, number: int, session: str = "s") -> object:
    record = journal.find(session, f"t{number}")
    return record.outcome.result if record is not None else None


def test_an_answer_that_is_kept_is_found_whether_it_is_still_at_hand_or_not() -> None:
    shelf = Shelf()
    journal = LastingJournal(shelf, whole=2)
    results = [answered(number) for number in range(4)]
    for number, result in enumerate(results):
        shelf.kept[f"t{number}"] = attrs.evolve(result)
        journal.commit(a_record(number, result))
    assert [found(journal, number) for number in range(4)] == results
    assert [found(journal, number) is results[number] for number in range(4)] == [False, False, True, True]


def test_of_an_answer_that_is_kept_a_session_holds_no_more_than_it_shares_with_others() -> None:
    shelf = Shelf({f"t{number}": answered(number) for number in range(3)})
    journal = LastingJournal(shelf)
    for number in range(2):
        journal.commit(a_record(number, answered(number, long="x" * 1000), session=f"s{number}"))
    journal.commit(a_record(2, answered(2, status="awaiting_user"), session="s2"))
    first, second, third = (journal.recent(f"s{number}")[0].outcome for number in range(3))
    assert first is second
    assert first.result.structured == {"status": "completed", "context": "Shop"}
    assert [result_of(each) for each in (first, third)] == ["completed", "awaiting_user"]


def test_an_answer_that_nobody_keeps_stays_in_memory() -> None:
    journal = LastingJournal(Shelf(), whole=1)
    results = [answered(number) for number in range(3)]
    for number, result in enumerate(results):
        journal.commit(a_record(number, result))
    assert [found(journal, number) for number in range(3)] == results


def test_a_turn_that_was_kept_and_failed_in_the_end_is_found_as_it_ended() -> None:
    journal = LastingJournal(Shelf({"t0": answered(0)}))
    failure = Failed(TurnCancelled("t0"))
    journal.commit(TurnRecord("s", "t0", failure))
    record = journal.find("s", "t0")
    assert record is not None
    assert record.outcome is failure


def test_of_a_session_that_is_over_nothing_is_left_at_hand() -> None:
    shelf = Shelf({"t0": answered(0)})
    journal = LastingJournal(shelf)
    journal.commit(a_record(0, answered(0)))
    journal.forget("s")
    shelf.kept.clear()
    assert journal.find("s", "t0") is None
    assert journal.recent("s") == []

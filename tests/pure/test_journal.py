"""The journal that keeps the newest turns in memory."""

from __future__ import annotations

from greenroom.persistence.journal import MemoryJournal, TurnRecord


def test_the_journal_keeps_the_newest_turns_of_each_session_apart() -> None:
    journal = MemoryJournal(depth=2)
    for number in range(4):
        journal.commit(TurnRecord("a", f"t{number}", number))
    journal.commit(TurnRecord("b", "t0", "other"))
    assert [journal.find("a", f"t{number}") is not None for number in range(4)] == [False, False, True, True]
    assert journal.find("b", "t0") == TurnRecord("b", "t0", "other")
    journal.forget("a")
    journal.forget("a")
    assert journal.find("a", "t3") is None
    assert journal.find("b", "t0") is not None


def test_a_turn_that_nobody_committed_is_not_found() -> None:
    assert MemoryJournal().find("nobody", "t0") is None

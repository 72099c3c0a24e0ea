"""Which state a session goes on from, whenever the process was killed."""

from __future__ import annotations

from typing import Any

from greenroom.workflow.conversations import states

ONE, TWO, THREE = {"at": 1}, {"at": 2}, {"at": 3}


def none(_: str) -> bool:
    return False


def only(turn_id: str) -> Any:
    return lambda asked: asked == turn_id


def test_the_state_after_a_turn_that_is_kept_is_valid() -> None:
    assert states.valid(states.after("t1", ONE, None), only("t1")) == ONE


def test_a_turn_that_was_not_kept_leaves_the_state_before_it() -> None:
    kept = states.after("t2", TWO, states.after("t1", ONE, None))
    assert states.valid(kept, only("t1")) == ONE
    assert states.valid(kept, only("t2")) == TWO
    assert states.valid(states.after("t1", ONE, None), none) is None


def test_only_one_state_back_is_carried_along() -> None:
    kept = states.after("t3", THREE, states.after("t2", TWO, states.after("t1", ONE, None)))
    assert "t1" not in str(kept)
    assert states.valid(kept, none) == TWO


def test_after_a_restart_what_was_found_valid_is_what_is_before_the_next_turn() -> None:
    found = states.valid(states.after("t2", TWO, states.after("t1", ONE, None)), none)
    assert states.valid(states.after("t3", THREE, found), none) == ONE


def test_what_was_saved_without_a_turn_is_valid_as_it_is() -> None:
    assert states.valid(ONE, none) == ONE
    assert states.valid(None, none) is None
    assert states.valid(states.after("t2", TWO, ONE), none) == ONE

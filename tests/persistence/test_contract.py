"""What every store promises, said one promise at a time, of the one in memory and the one on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from greenroom.config.errors import GreenroomError, TurnNotFound
from greenroom.persistence.errors import (
    ConversationExists,
    ConversationNotFound,
    InvalidCursor,
    NothingToRate,
    TurnIdTaken,
    UnstorableValue,
)
from greenroom.persistence.memory_store import MemoryStore
from greenroom.persistence.records import Feedback, TurnStatus
from greenroom.persistence.store import Store, UserStore
from tests.persistence.builders import a_handle, a_turn, opened


@pytest.fixture(params=["memory", "disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
    else:
        with opened(tmp_path) as on_disk:
            yield on_disk


@pytest.fixture
def user(store: Store) -> UserStore:
    return store.user("ann")


def test_a_turn_gets_its_number_and_moves_its_conversation_to_the_front(user: UserStore) -> None:
    user.create_conversation("old", at=10)
    user.create_conversation("new", at=20)
    first = user.append_turn(a_turn("t1", "old", started_at=30, duration_ms=5, outputs={"x": [1, None]}))
    assert (first.number, first.outputs) == (1, {"x": [1, None]})
    assert user.append_turn(a_turn("t2", "old", started_at=31)).number == 2
    page = user.list_conversations()
    assert [(each.id, each.updated_at, each.turn_count) for each in page.conversations] == [
        ("old", 35, 2),
        ("new", 20, 0),
    ]
    assert page.cursor is None


def test_a_turn_that_comes_again_is_not_kept_twice(user: UserStore) -> None:
    user.create_conversation("c", at=1)
    user.create_conversation("other", at=1)
    kept = user.append_turn(a_turn("t", outputs="first"))
    assert user.append_turn(a_turn("t", outputs="second")) == kept
    assert user.turns("c") == (kept,)
    with pytest.raises(TurnIdTaken):
        user.append_turn(a_turn("t", "other"))


def test_a_turn_of_a_conversation_that_is_not_there_is_refused(user: UserStore) -> None:
    with pytest.raises(ConversationNotFound):
        user.append_turn(a_turn("t", "nowhere"))
    with pytest.raises(TurnNotFound):
        user.replace_turn(a_turn("t", "nowhere"))
    assert user.get_turn("t") is None


def test_a_turn_that_waited_for_its_user_can_end(user: UserStore) -> None:
    user.create_conversation("c", at=1)
    user.append_turn(a_turn("t", status="awaiting_user"))
    user.append_turn(a_turn("later"))
    user.set_feedback(Feedback(nl_feedback="quick", given_at=5), turn_id="t")
    ended = user.replace_turn(a_turn("t", "ignored", status="completed", started_at=50))
    assert (ended.number, ended.conversation_id, ended.status) == (1, "c", TurnStatus.COMPLETED)
    assert ended.feedback == Feedback(nl_feedback="quick", given_at=5)
    found = user.get_conversation("c")
    assert found is not None
    assert (found.turn_count, found.updated_at) == (2, 50)


def test_turns_are_handed_out_from_the_newest_end_in_either_order(user: UserStore) -> None:
    user.create_conversation("c", at=1)
    for number in range(1, 6):
        user.append_turn(a_turn(f"t{number}"))
    assert [turn.number for turn in user.turns("c", limit=2)] == [5, 4]
    assert [turn.number for turn in user.turns("c", limit=2, newest_first=False)] == [4, 5]
    assert [turn.number for turn in user.turns("c", limit=2, before=4)] == [3, 2]
    assert [turn.number for turn in user.turns("c", before=1)] == []


def test_topics_that_differ_in_case_form_or_white_space_are_the_same(user: UserStore) -> None:
    topics = ["My trip", "my  TRIP", "MyTrip", "\uff2dy\u00a0tri\np", "Straße", "STRASSE"]
    named = [user.create_conversation(f"{place}", at=1, topic=topic).topic for place, topic in enumerate(topics)]
    assert named == ["My trip", "my TRIP (2)", "MyTrip (3)", "\uff2dy tri p (4)", "Straße", "STRASSE (2)"]
    assert user.name_conversation("1", topic="Else", summary="s").topic == "Else"
    assert user.name_conversation("2", topic="mytrip", summary="s").topic == "mytrip (2)"


def test_a_conversation_may_keep_its_own_topic_and_any_number_may_have_none(user: UserStore) -> None:
    assert user.create_conversation("a", at=1, topic="Trip").topic == "Trip"
    assert user.name_conversation("a", topic="TRIP", summary="s").topic == "TRIP"
    assert [user.create_conversation(each, at=1, topic=" ").topic for each in "bc"] == ["", ""]


def test_a_topic_is_free_again_when_its_conversation_is_gone(user: UserStore, store: Store) -> None:
    user.create_conversation("a", at=1, topic="Trip", activate=True)
    assert user.delete_conversation("a")
    assert not user.delete_conversation("a")
    assert user.create_conversation("a", at=1, topic="Trip").topic == "Trip"
    assert user.active_conversation() is None
    assert store.user("bob").create_conversation("a", at=1, topic="Trip").topic == "Trip"


def test_feedback_goes_to_the_turn_that_is_named_or_to_the_newest(user: UserStore) -> None:
    with pytest.raises(NothingToRate):
        user.set_feedback(Feedback(binary_or_numeric_score=True, given_at=1))
    user.create_conversation("c", at=1, activate=True)
    user.create_conversation("d", at=1)
    for turn_id, conversation_id in (("t1", "c"), ("t2", "c"), ("u1", "d")):
        user.append_turn(a_turn(turn_id, conversation_id))
    good = Feedback(binary_or_numeric_score=True, given_at=1)
    assert user.set_feedback(good).id == "t2"
    assert user.set_feedback(good, conversation_id="d").id == "u1"
    assert user.set_feedback(Feedback(binary_or_numeric_score=0.5, given_at=2), turn_id="t1").feedback is not None
    assert [turn.feedback is not None for turn in user.turns("c")] == [True, True]
    with pytest.raises(TurnNotFound):
        user.set_feedback(good, turn_id="none")
    with pytest.raises(ConversationNotFound):
        user.set_feedback(good, conversation_id="none")


@pytest.mark.parametrize("nothing", [{}, {"binary_or_numeric_score": float("nan")}, {"nl_feedback": 3}])
def test_feedback_says_something(nothing: dict[str, object]) -> None:
    with pytest.raises(UnstorableValue):
        Feedback(given_at=1, **nothing)  # type: ignore[arg-type]


def test_what_comes_back_is_a_copy(user: UserStore) -> None:
    user.create_conversation("c", at=1)
    payload = {"list": [1]}
    kept = user.append_turn(a_turn("t", outputs=payload))
    payload["list"].append(2)
    kept.outputs["list"].append(3)
    again = user.get_turn("t")
    assert again is not None
    assert again.outputs == {"list": [1]}


def test_what_is_not_json_is_refused_whole(user: UserStore) -> None:
    user.create_conversation("c", at=1)
    for payload in ({1, 2}, float("inf"), object()):
        with pytest.raises(UnstorableValue):
            user.append_turn(a_turn("t", outputs=payload))
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(UnstorableValue):
        user.append_turn(a_turn("t", outputs=deep))
    assert user.get_conversation("c") == attrs.evolve(user.create_conversation("d", at=1), id="c")


def test_a_cursor_that_nobody_gave_is_refused(user: UserStore) -> None:
    for junk in ("", "x", "ü", "A" * 31, "A" * 36):
        with pytest.raises(InvalidCursor):
            user.list_conversations(3, junk)


def test_a_list_goes_on_where_it_stopped_even_if_that_place_is_gone(user: UserStore) -> None:
    for number in range(5):
        user.create_conversation(f"{number}", at=number)
    page = user.list_conversations(2)
    assert [each.id for each in page.conversations] == ["4", "3"]
    user.delete_conversation("3")
    assert [each.id for each in user.list_conversations(9, page.cursor).conversations] == ["2", "1", "0"]


def test_a_user_who_only_asks_leaves_no_trace(store: Store, user: UserStore, tmp_path: Path) -> None:
    assert user.list_conversations().conversations == ()
    assert (user.active_conversation(), user.get_conversation("c"), user.latest_turn("c")) == (None, None, None)
    with pytest.raises(ConversationNotFound):
        user.activate_conversation("c")
    assert list(store.users()) == []
    assert list(tmp_path.iterdir()) == []


def test_an_import_adds_what_is_missing_and_changes_nothing_else(store: Store, user: UserStore) -> None:
    user.create_conversation("c", at=1, topic="Trip", activate=True)
    user.append_turn(a_turn("t1", outputs="mine"))
    user.append_turn(a_turn("t2"))
    lines = list(user.export())
    other = store.user("bob")
    other.create_conversation("mine", at=5, topic="trip")
    assert other.import_(lines) == 2
    assert other.import_(lines) == 0
    assert [turn.id for turn in other.turns("c")] == ["t2", "t1"]
    copied = other.get_conversation("c")
    assert copied is not None
    assert (copied.topic, copied.turn_count) == ("Trip (2)", 2)
    assert user.import_(lines) == 0
    assert list(user.export()) == lines


def test_a_line_that_is_not_understood_is_named(user: UserStore) -> None:
    for line in ({}, {"type": "turn"}, {"type": "turn", "schema": 99}, {"type": "active", "conversation_id": 3}):
        with pytest.raises(UnstorableValue, match="Line 1 cannot be imported"):
            user.import_([line])


def test_a_handle_is_found_by_itself_and_by_its_user_and_can_expire(store: Store) -> None:
    handles = store.handles
    for name, used in (("h1", 10), ("h2", 30), ("h3", 20)):
        handles.put(a_handle(name, last_used_at=used))
    latest = handles.latest("ann")
    assert latest == handles.find("h2") == a_handle("h2", last_used_at=30)
    handles.put(a_handle("h1", last_used_at=40, state={"room": 1}))
    assert handles.latest("ann") == a_handle("h1", last_used_at=40, state={"room": 1})
    assert handles.latest("bob") is handles.find("h4") is None
    assert handles.expire(30) == 1
    assert (handles.find("h3"), len(handles)) == (None, 2)
    assert handles.forget("h2")
    assert not handles.forget("h2")


def test_purging_takes_everything_of_one_user(store: Store, user: UserStore) -> None:
    for name in ("ann", "bob"):
        store.user(name).create_conversation("c", at=1)
        store.handles.put(a_handle(f"of {name}", name))
    store.purge("ann")
    store.purge("nobody")
    assert (user.get_conversation("c"), store.handles.find("of ann")) == (None, None)
    assert store.user("bob").get_conversation("c") is not None
    assert store.handles.find("of bob") is not None
    assert user.create_conversation("c", at=2).created_at == 2


def test_a_conversation_cannot_be_made_twice(user: UserStore) -> None:
    user.create_conversation("c", at=1)
    with pytest.raises(ConversationExists):
        user.create_conversation("c", at=1)


@pytest.mark.parametrize("nonsense", ["\ud800", "a\udfff"])
def test_an_id_that_is_not_unicode_is_refused_for_keeping_and_unknown_for_asking(
    store: Store, user: UserStore, nonsense: str
) -> None:
    with pytest.raises(UnstorableValue):
        user.create_conversation(nonsense, at=1)
    with pytest.raises(UnstorableValue):
        store.user(nonsense)
    found = (user.get_conversation(nonsense), user.get_turn(nonsense), store.handles.find(nonsense))
    assert found == (None, None, None)


def test_every_error_of_the_store_is_one_that_a_client_may_be_told_about(user: UserStore) -> None:
    with pytest.raises(GreenroomError) as caught:
        user.activate_conversation("c")
    assert (caught.value.code, caught.value.name) == (404, "conversation_not_found")
    assert caught.value.data == {"conversation_id": "c"}


def test_users_may_be_asked_for_while_all_of_them_are_gone_through(store: Store) -> None:
    for name in ("ann", "bob"):
        store.user(name).create_conversation("c", at=1)
    seen = []
    for name in store.users():
        seen.append(name)
        store.user(f"{name}'s friend").create_conversation("c", at=1)
    assert sorted(seen) == ["ann", "bob"]

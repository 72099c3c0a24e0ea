"""Records across releases, and what a topic and a folder's name are made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.persistence import codec, keys
from greenroom.persistence.codec import CONVERSATION, TURN, BadRecord, Kind, NewerSchema
from greenroom.persistence.database import Changes
from greenroom.persistence.errors import StoreDamaged, StoreTooNew
from greenroom.persistence.keys import FORMAT
from greenroom.persistence.names import SESSIONS, folder_name, is_folder_name
from greenroom.persistence.records import Conversation, Feedback
from greenroom.persistence.speedict_store import SpeedictStore
from greenroom.persistence.topics import fold, free_topic
from tests.persistence.builders import a_turn, fill, opened, the_database


def _named(fields: dict[str, Any]) -> dict[str, Any]:
    """Of a version 1 that called its topic a title."""
    return {("topic" if key == "title" else key): value for key, value in fields.items()}


def _with_summary(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "summary": f"about {fields['topic']}"}


def _overwrite(store: SpeedictStore, key: bytes, value: bytes) -> None:
    the_database(store, "ann").write(Changes({key: value}))


RECORD = keys.conversation("c")
THIRD = Kind("conversation", Conversation, 3, {1: _named, 2: _with_summary})
FIRST = b'{"schema":1,"id":"c","title":"Trip","created_at":1,"updated_at":2,"turn_count":0}'


def test_every_stored_record_says_its_version() -> None:
    assert json.loads(TURN.dump(a_turn("t")))["schema"] == 1


def test_a_record_comes_back_as_it_was() -> None:
    for score in (True, 1, 0.5, None):
        feedback = Feedback(binary_or_numeric_score=score, nl_feedback="ok", given_at=1)
        turn = a_turn("t\0", input={"a": [None]}, traces=[{"x": 1}], status="failed", feedback=feedback)
        again = TURN.load(TURN.dump(turn))
        assert again == turn
        assert again.feedback is not None
        assert type(again.feedback.binary_or_numeric_score) is type(score)


def test_an_older_record_is_brought_up_to_date_step_by_step() -> None:
    expected = Conversation(id="c", topic="Trip", summary="about Trip", created_at=1, updated_at=2)
    assert THIRD.load(FIRST) == expected
    assert THIRD.load(THIRD.dump(expected)) == expected


def test_an_older_database_is_read_and_written_back_in_the_new_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
        data = json.loads(the_database(store, "ann").get(RECORD) or b"")
        data["title"] = data.pop("topic")
        del data["summary"]
        _overwrite(store, RECORD, json.dumps(data).encode())
    monkeypatch.setattr(codec, "CONVERSATION", THIRD)
    with opened(tmp_path) as store:
        user = store.user("ann")
        found = user.get_conversation("c")
        assert found is not None
        assert (found.topic, found.summary) == ("About c", "about About c")
        user.append_turn(a_turn("next", "c"))
        assert json.loads(the_database(store, "ann").get(RECORD) or b"")["schema"] == 3


def test_a_newer_record_is_refused_and_the_log_names_file_and_version(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
        newer = {**CONVERSATION.fields(Conversation(id="c", created_at=1, updated_at=1)), "schema": 7, "mood": "good"}
        _overwrite(store, RECORD, json.dumps(newer).encode())
        with pytest.raises(StoreTooNew) as caught:
            store.user("ann").get_conversation("c")
        assert str(tmp_path) in caught.value.detail
        assert "schema version 7" in caught.value.detail
        assert str(tmp_path) not in caught.value.message
        assert caught.value.detail in caplog.text
        assert store.user("ann").get_turn("c-0") is not None


def test_a_newer_layout_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
        _overwrite(store, FORMAT, b"2")
    with opened(tmp_path) as store:
        for _ in range(2):
            with pytest.raises(StoreTooNew, match="newer release") as caught:
                store.user("ann").list_conversations()
            assert "has format 2" in caught.value.detail


def test_a_record_that_makes_no_sense_is_damage(tmp_path: Path) -> None:
    for junk in (
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"schema":true}',
        b'{"schema":1}',
        b'{"schema":0}',
        b"\xff",
        b"[" * 100_000,
    ):
        with pytest.raises(BadRecord):
            CONVERSATION.load(junk)
    with pytest.raises(BadRecord):
        CONVERSATION.load(FIRST)
    with pytest.raises(NewerSchema):
        CONVERSATION.load(b'{"schema":2}')
    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
        _overwrite(store, RECORD, b"junk")
        with pytest.raises(StoreDamaged):
            store.user("ann").get_conversation("c")


# --- topics and names --------------------------------------------------------------------------------------


@given(st.lists(st.text("aBc\u00df1", min_size=1)), st.sampled_from([" ", "\t", "\u3000", "\x1f", "\u2029", "\u00a0"]))
def test_white_space_and_case_never_make_a_topic_another(words: list[str], space: str) -> None:
    assert fold(space.join(words)) == fold("".join(words)) == fold(f" {'  '.join(words)} ".upper())


@given(st.lists(st.text("aA \u00a0\uff21(2)", max_size=4), max_size=6))
def test_no_two_topics_that_are_given_out_are_the_same(wanted: list[str]) -> None:
    given_out: list[str] = []
    for topic in wanted:
        given_out.append(free_topic(topic, {fold(each) for each in given_out}.__contains__))
    named = [fold(topic) for topic in given_out if fold(topic)]
    assert len(named) == len(set(named))


@given(st.text(), st.text())
def test_a_user_has_a_folder_of_their_own_that_stays_where_it_is_put(one: str, other: str) -> None:
    name = folder_name(one)
    assert is_folder_name(name)
    assert Path(name).name == name == name.lower()
    assert name != SESSIONS
    assert len(name) < 100
    assert (name == folder_name(other)) == (one == other)


def test_a_folder_can_be_recognised_by_a_reader() -> None:
    assert folder_name("Ann Smith@example.org").startswith("ann-smith-example-org.")
    assert folder_name("../../etc/passwd").startswith("etc-passwd.")
    assert "." not in folder_name("\N{SNOWMAN}")


def test_a_record_can_be_changed_only_by_making_another() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        a_turn("t").number = 3  # type: ignore[misc]

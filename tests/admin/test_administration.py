"""Export, import, purge and forgetting as functions, on the store on disk and on the model alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenroom.config.describe import describe
from greenroom.config.settings import ConfigurationError, load_settings
from greenroom.persistence import administration
from greenroom.persistence.administration import (
    DAY_MS,
    Counts,
    before_days,
    export_all,
    forget_older_than,
    forget_step,
    import_all,
    import_step,
    purge_user,
    read_lines,
)
from greenroom.persistence.errors import UnstorableValue
from greenroom.persistence.memory_store import MemoryStore
from greenroom.persistence.speedict_store import SpeedictStore
from greenroom.persistence.store import Store
from tests.admin.stores import NOW, converse, database_of
from tests.persistence.builders import a_handle, opened

OLD, YOUNG, BEFORE = NOW - 100 * DAY_MS, NOW - DAY_MS, NOW - 30 * DAY_MS


@pytest.fixture(params=["memory", "disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SpeedictStore(tmp_path / "data")
    yield made
    made.close()


def left_of(store: Store, user_id: str) -> set[str]:
    return {each.id for each in store.user(user_id).list_conversations(1000).conversations}


# --- out and in --------------------------------------------------------------------------------------------


def test_each_line_of_an_export_says_its_user(store: Store) -> None:
    converse(store, "ann", "a", NOW, active=True)
    converse(store, "bob", "b", NOW)
    lines = list(export_all(store))
    assert sorted((line["user_id"], line["type"]) for line in lines) == [
        ("ann", "active"),
        ("ann", "conversation"),
        ("ann", "turn"),
        ("ann", "turn"),
        ("bob", "conversation"),
        ("bob", "turn"),
        ("bob", "turn"),
    ]


def test_an_export_says_nothing_of_handles(store: Store) -> None:
    converse(store, "ann", "a", NOW)
    store.handles.put(a_handle("secret", "ann", state={"word": "swordfish"}))
    assert "swordfish" not in json.dumps(list(export_all(store)))


def test_what_was_exported_and_imported_is_the_same_export(store: Store) -> None:
    converse(store, "ann", "a", NOW, active=True)
    converse(store, "../bob", "b", NOW)
    lines = list(export_all(store))
    other = MemoryStore()
    assert import_all(other, lines) == Counts(users=2, conversations=2, turns=4)
    again = list(export_all(other))
    assert sorted(map(json.dumps, again)) == sorted(map(json.dumps, lines))


def test_importing_twice_adds_nothing(store: Store) -> None:
    converse(store, "ann", "a", NOW, active=True)
    lines = list(export_all(store))
    assert import_all(store, lines) == Counts()
    assert list(export_all(store)) == lines


def test_the_lines_of_several_users_may_come_in_any_mixture(store: Store) -> None:
    source = MemoryStore()
    converse(source, "ann", "a", NOW)
    converse(source, "bob", "b", NOW)
    mixed = [line for pair in zip(*_by_user(source), strict=True) for line in pair]
    assert import_all(store, mixed) == Counts(users=2, conversations=2, turns=4)


def _by_user(store: Store) -> list[list[dict[str, Any]]]:
    lines = list(export_all(store))
    return [[line for line in lines if line["user_id"] == user_id] for user_id in ("ann", "bob")]


CONVERSATION = b'{"user_id":"u","type":"conversation","schema":1,"id":"c","created_at":1,"updated_at":1}'
TURN = b'{"user_id":"u","type":"turn","schema":1,"id":"t","conversation_id":"%s","tool":"go","started_at":1}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{oops", "it is not a JSON object"),
        (b"", "it is not a JSON object"),
        (b"[1]", "it is not a JSON object"),
        (b"\xff\xff", "it is not a JSON object"),
        (b"[" * 100_000, "it is not a JSON object"),
        (b'{"user_id":"u","type":"turn","input":NaN}', "it is not a JSON object"),
        (b"{}", "its user_id is missing or not a text"),
        (b'{"user_id":7}', "its user_id is missing or not a text"),
        (b'{"user_id":"u","type":"poem"}', "it is no conversation, turn or active conversation"),
        (b'{"user_id":"u","type":"conversation","schema":99}', "this release knows versions up to 1"),
        (TURN % b"elsewhere", "There is no conversation 'elsewhere'"),
        (b'{"user_id":"\\ud800","type":"active","conversation_id":"c"}', "without lone surrogates"),
    ],
)
def test_a_bad_line_is_refused_by_its_number_and_the_lines_before_it_are_kept(
    store: Store, text: bytes, reason: str
) -> None:
    with pytest.raises(UnstorableValue) as caught:
        import_all(store, read_lines([CONVERSATION, TURN % b"c", text]))
    assert str(caught.value).startswith("Line 3 cannot be imported: ")
    assert reason in str(caught.value)
    assert len(store.user("u").turns("c")) == 1


def test_an_import_goes_a_line_at_a_time(store: Store) -> None:
    steps = import_step(store, read_lines([CONVERSATION, TURN % b"c"]))
    assert next(steps) == Counts(users=1, conversations=1)
    assert store.user("u").turns("c") == ()
    assert next(steps) == Counts(turns=1)


# --- away --------------------------------------------------------------------------------------------------


def test_a_purge_takes_one_user_with_their_handles_and_nobody_else(store: Store) -> None:
    for user_id in ("ann", "bob"):
        converse(store, user_id, "c", NOW)
        store.handles.put(a_handle(f"of {user_id}", user_id))
    assert purge_user(store, "ann") is True
    assert (left_of(store, "ann"), left_of(store, "bob")) == (set(), {"c"})
    assert store.handles.find("of ann") is None
    assert store.handles.find("of bob") is not None
    assert purge_user(store, "ann") is False


def test_a_user_whose_data_is_damaged_can_be_purged(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        converse(store, "ann", "c", NOW)
    path = database_of(tmp_path, "ann")
    (path / "CURRENT").write_bytes(b"nonsense")
    with opened(tmp_path) as store:
        assert purge_user(store, "ann") is True
    assert not path.exists()


def test_what_is_older_is_forgotten_and_what_is_not_stays(store: Store) -> None:
    converse(store, "ann", "old", BEFORE - 1, turns=3)
    converse(store, "ann", "young", BEFORE, active=True)
    converse(store, "bob", "young", YOUNG)
    assert forget_older_than(store, BEFORE) == Counts(users=1, conversations=1, turns=3)
    assert (left_of(store, "ann"), left_of(store, "bob")) == ({"young"}, {"young"})
    assert store.user("ann").get_turn("old-0") is None


def test_the_active_conversation_of_a_user_who_has_a_younger_one_stays(store: Store) -> None:
    converse(store, "ann", "on stage", OLD, active=True)
    converse(store, "ann", "old", OLD)
    converse(store, "ann", "young", YOUNG)
    forget_older_than(store, BEFORE)
    assert left_of(store, "ann") == {"on stage", "young"}


def test_a_user_who_has_not_been_here_since_is_forgotten_with_the_active_conversation(store: Store) -> None:
    converse(store, "ann", "on stage", OLD, active=True)
    converse(store, "ann", "old", OLD)
    assert forget_older_than(store, BEFORE) == Counts(users=1, conversations=2, turns=4)
    assert left_of(store, "ann") == set()
    assert store.user("ann").active_conversation() is None


def test_forgetting_pauses_after_each_user_and_deletes_at_most_one_conversation_in_a_step(store: Store) -> None:
    for user_id in ("ann", "bob"):
        for number in range(3):
            converse(store, user_id, f"c{number}", OLD)
    steps = list(forget_step(store, BEFORE))
    assert [step.conversations for step in steps] == [1, 1, 1, 0] * 2
    assert sum(step.users for step in steps) == 2


def test_a_long_list_is_looked_through_page_by_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(administration, "_PAGE", 2)
    for number in range(5):
        converse(store, "ann", f"c{number}", OLD + number, turns=1)
    assert [step.conversations for step in forget_step(store, OLD + 3)] == [0, 0, 1, 1, 1, 0]
    assert left_of(store, "ann") == {"c3", "c4"}


def test_a_conversation_that_goes_on_while_others_are_forgotten_is_kept(store: Store) -> None:
    converse(store, "ann", "c1", OLD + 1)
    converse(store, "ann", "c0", OLD)
    steps = forget_step(store, BEFORE)
    assert next(steps).conversations == 1
    [spared] = left_of(store, "ann")
    import_all(store, read_lines([(TURN % spared.encode()).replace(b'"u"', b'"ann"').replace(b":1}", b":%d}" % YOUNG)]))
    assert sum(step.conversations for step in steps) == 0
    assert left_of(store, "ann") == {spared}


def test_a_user_who_cannot_be_reached_does_not_keep_the_others_from_being_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for user_id in ("ann", "bob", "cid"):
            converse(store, user_id, "c", OLD)
    path = database_of(tmp_path, "bob")
    (path / "CURRENT").write_bytes(b"nonsense")
    with opened(tmp_path) as store:
        assert forget_older_than(store, BEFORE) == Counts(users=2, conversations=2, turns=4, failed=1)


@pytest.mark.parametrize(("days", "before"), [(1, NOW - DAY_MS), (0.5, NOW - DAY_MS // 2), (1e308, 0), (1e6, 0)])
def test_so_many_days_ago_is_always_a_time(days: float, before: int) -> None:
    assert before_days(NOW, days) == before


# --- the two settings --------------------------------------------------------------------------------------


def test_a_token_is_never_shown() -> None:
    settings = load_settings({"GREENROOM_ADMIN_TOKEN": "hush-hush-hush-hush"})
    assert settings.admin_token is not None
    assert settings.admin_token.reveal() == "hush-hush-hush-hush"
    assert "hush" not in repr(settings) + describe(settings)


@pytest.mark.parametrize("token", ["hush-hush-hush-", "hush hush hush hush", "hush-hush-hush-h\u00fbsh"])
def test_a_token_that_cannot_be_used_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings({"GREENROOM_ADMIN_TOKEN": token})
    assert "GREENROOM_ADMIN_TOKEN is set (from environment), but it must be at least 16" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_token_that_cannot_be_used_is_told_together_with_everything_else_that_is_wrong() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings({"GREENROOM_ADMIN_TOKEN": "hush", "GREENROOM_PORT": "high", "GREENROOM_MAX_OPEN_DATABASES": "0"})
    named = [problem.split()[0] for problem in caught.value.problems]
    assert sorted(named) == ["GREENROOM_ADMIN_TOKEN", "GREENROOM_MAX_OPEN_DATABASES", "GREENROOM_PORT"]
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("days", ["0", "-1", "nan", "for ever"])
def test_a_retention_that_is_no_number_of_days_is_refused(days: str) -> None:
    with pytest.raises(ConfigurationError, match=r"GREENROOM_RETENTION_DAYS .* a number of days greater than 0"):
        load_settings({"GREENROOM_RETENTION_DAYS": days})

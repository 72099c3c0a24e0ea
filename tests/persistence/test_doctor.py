"""What the doctor sees, what it mends, and what it says is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from greenroom.persistence import keys
from greenroom.persistence.database import SET_ASIDE, Changes
from greenroom.persistence.doctor import Checkup, examine, repair
from greenroom.persistence.names import SESSIONS, folder_name
from greenroom.persistence.pool import FRESH
from tests.persistence.builders import a_handle, a_turn, fill, opened, the_database


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two users and a session."""
    with opened(tmp_path) as store:
        fill(store.user("ann"), 300, size=400)
        fill(store.user("ann"), 20, "d")
        fill(store.user("bob"), 5)
        store.handles.put(a_handle("h", "ann"))
    return tmp_path


def of(checkups: tuple[Checkup, ...], user_id: str | None) -> Checkup:
    (found,) = [each for each in checkups if each.user_id == user_id]
    return found


def database(folder: Path, user_id: str = "ann") -> Path:
    return folder / folder_name(user_id) / "db"


def test_a_healthy_store_is_counted_and_left_alone(folder: Path) -> None:
    before = {each: each.stat().st_mtime_ns for each in folder.rglob("*.sst")}
    found = examine(folder)
    assert all(each.healthy for each in found)
    assert (of(found, "ann").conversations, of(found, "ann").turns, of(found, "bob").turns) == (2, 320, 5)
    assert (of(found, None).folder.name, of(found, None).handles) == (SESSIONS, 1)
    assert repair(folder) == found
    assert before == {each: each.stat().st_mtime_ns for each in folder.rglob("*.sst")}
    assert examine(folder / "nowhere") == ()


def test_a_store_in_use_can_be_examined_but_not_repaired(folder: Path) -> None:
    with opened(folder) as store:
        store.user("ann").append_turn(a_turn("now"))
        assert of(examine(folder), "ann").turns == 321
        the_database(store, "ann").write(Changes(deletes=[keys.turn_by_id("now")]))
        locked = of(repair(folder), "ann")
        assert not locked.repaired
        assert any("lock" in problem for problem in locked.problems)
        assert store.user("ann").append_turn(a_turn("still", "d")).number == 21


def test_indexes_are_made_again_from_the_records(folder: Path) -> None:
    with opened(folder) as store:
        damaged = the_database(store, "ann")
        pairs = [key for letter in keys.INDEXES for key, _ in damaged.scan(letter)]
        damaged.write(Changes({keys.by_topic("ghost"): b"x" * 16, keys.ACTIVE: b"ghost"}, deletes=pairs))
        sessions = store.pool.sessions()
        sessions.write(Changes(deletes=[key for key, _ in sessions.scan(keys.BY_OWNER)]))
        assert store.user("ann").list_conversations().conversations == ()
    assert {each.user_id for each in examine(folder) if not each.healthy} == {"ann", None}
    mended = repair(folder)
    assert [each.repaired for each in mended] == [not each.healthy for each in mended]
    assert (of(mended, "ann").turns, of(mended, "ann").lost_turns) == (320, 0)
    assert all(each.healthy for each in examine(folder))
    with opened(folder) as store:
        user = store.user("ann")
        assert [each.id for each in user.list_conversations().conversations] == ["c", "d"]
        assert user.get_turn("d-7") is not None
        assert user.create_conversation("e", at=1, topic="about C").topic == "about C (2)"
        assert store.handles.latest("ann") is not None


def test_a_damaged_block_costs_only_what_was_in_it(folder: Path) -> None:
    table = max(database(folder).glob("*.sst"), key=lambda each: each.stat().st_size)
    with table.open("r+b") as file:
        file.seek(table.stat().st_size // 2)
        file.write(b"damage")
    assert not of(examine(folder), "ann").healthy
    mended = of(repair(folder), "ann")
    assert mended.repaired
    assert 0 < mended.lost_turns < 30
    assert mended.turns == 320 - mended.lost_turns
    assert (database(folder).parent / SET_ASIDE / "db-0" / table.name).exists()
    assert mended.notes
    with opened(folder) as store:
        assert store.user("ann").append_turn(a_turn("next")).number == 301
    again = of(examine(folder), "ann")
    assert (again.healthy, again.lost_turns) == (True, mended.lost_turns)


def test_a_table_that_was_cut_short_is_set_aside_and_the_rest_is_saved(folder: Path) -> None:
    with opened(folder) as store:
        store.user("ann").append_turn(a_turn("in a later table"))
    first = min(database(folder).glob("*.sst"))
    os.truncate(first, first.stat().st_size // 2)
    mended = of(repair(folder), "ann")
    assert mended.repaired
    assert mended.turns >= 1
    assert mended.turns + mended.lost_turns >= 301
    with opened(folder) as store:
        user = store.user("ann")
        assert user.get_turn("in a later table") is not None
        assert user.append_turn(a_turn("next")).number == 302


@pytest.mark.parametrize("lost", ["CURRENT", "MANIFEST-*"])
def test_what_only_says_where_things_are_can_be_made_again(folder: Path, lost: str) -> None:
    next(database(folder).glob(lost)).unlink()
    mended = of(repair(folder), "ann")
    assert (mended.repaired, mended.turns, mended.lost_turns) == (True, 320, 0)
    assert len(list(database(folder).parent.iterdir())) == 3


def test_turns_that_lost_their_conversation_get_one(folder: Path) -> None:
    with opened(folder) as store:
        the_database(store, "ann").write(Changes(deletes=[keys.conversation("d")]))
    assert of(repair(folder), "ann").repaired
    with opened(folder) as store:
        found = store.user("ann").get_conversation("d")
        assert found is not None
        assert (found.topic, found.turn_count, found.created_at, found.updated_at) == ("", 20, 2, 21)


def test_a_record_of_a_later_release_is_left_alone(folder: Path) -> None:
    newer = json.dumps({"schema": 9, "id": "c"}).encode()
    with opened(folder) as store:
        the_database(store, "ann").write(Changes({keys.conversation("c"): newer}))
    found = of(repair(folder), "ann")
    assert not found.repaired
    assert any("schema version 9" in problem for problem in found.problems)
    with opened(folder) as store:
        assert the_database(store, "ann").get(keys.conversation("c")) == newer


def test_a_record_that_makes_no_sense_is_taken_out(folder: Path) -> None:
    with opened(folder) as store:
        the_database(store, "ann").write(Changes({keys.turn("d", 3): b"junk"}))
    mended = of(repair(folder), "ann")
    assert (mended.repaired, mended.turns, mended.lost_turns) == (True, 319, 1)


def test_a_user_whose_name_was_lost_has_it_again_after_coming_back(folder: Path) -> None:
    (database(folder).parent / "user.json").write_text("junk")
    (unnamed,) = [each for each in examine(folder) if not each.healthy]
    assert (unnamed.user_id, unnamed.turns) == (None, 320)
    with opened(folder) as store:
        assert store.user("ann").get_turn("d-7") is not None
        assert set(store.users()) == {"ann", "bob"}
    assert of(examine(folder), "ann").healthy


def test_a_repair_that_was_killed_at_its_last_step_is_finished_by_whoever_comes_next(folder: Path) -> None:
    database(folder).rename(database(folder).with_name(FRESH))
    with opened(folder) as store:
        assert store.user("ann").get_turn("d-7") is not None
    assert of(examine(folder), "ann").turns == 320

"""Files that are not what they were: a clear error, for their user alone, and never a silent loss."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from greenroom.persistence.database import SET_ASIDE
from greenroom.persistence.errors import StoreDamaged
from greenroom.persistence.names import folder_name
from tests.persistence.builders import a_turn, assert_fit_for_a_client, crashed, fill, opened, the_database


def test_a_table_that_was_cut_short_is_a_clear_error_and_only_for_its_user(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for name in ("ann", "bob"):
            fill(store.user(name), 50)
        path = the_database(store, "ann").path
    table = next(path.glob("*.sst"))
    os.truncate(table, table.stat().st_size // 2)
    with opened(tmp_path) as store:
        for _ in range(2):
            with pytest.raises(StoreDamaged) as caught:
                store.user("ann").list_conversations()
        assert_fit_for_a_client(caught.value, tmp_path)
        assert "doctor" in caught.value.detail
        assert len(store.user("bob").turns("c")) == 50
    assert not (path.parent / SET_ASIDE).exists()


def test_a_damaged_block_is_an_error_and_not_a_shorter_list(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 300, size=400)
        path = the_database(store, "ann").path
    with next(path.glob("*.sst")).open("r+b") as table:
        table.seek(path.stat().st_size // 2 + 20_000)
        table.write(b"damage")
    with opened(tmp_path) as store, pytest.raises(StoreDamaged):
        store.user("ann").turns("c", limit=1000)


def test_a_database_without_its_pointer_is_damaged_and_not_empty(tmp_path: Path) -> None:
    with opened(tmp_path / "live") as store:
        fill(store.user("ann"), 5)
        image = crashed(tmp_path / "live", tmp_path / "image")
    for folder in (tmp_path / "live", image):
        pointer = folder / folder_name("ann") / "db" / "CURRENT"
        pointer.unlink()
        with opened(folder) as store:
            for _ in range(2):
                with pytest.raises(StoreDamaged):
                    store.user("ann").create_conversation("d", at=1)
        assert not pointer.exists()


@pytest.mark.parametrize("torn", ["cut", "zeroed", "garbled"])
def test_a_log_that_lost_its_end_is_read_up_to_there(
    tmp_path: Path, torn: str, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path / "live") as store:
        fill(store.user("ann"), 100)
        image = crashed(tmp_path / "live", tmp_path / "image")
    home = image / folder_name("ann")
    log = max((home / "db").glob("*.log"), key=lambda each: each.stat().st_size)
    whole = log.stat().st_size
    if torn == "garbled":
        with log.open("r+b") as file:
            file.seek(whole - 300)
            file.write(b"garbled")
    else:
        os.truncate(log, whole - 300)
        os.truncate(log, whole if torn == "zeroed" else whole - 300)
    with caplog.at_level(logging.ERROR), opened(image) as store:
        user = store.user("ann")
        found = [turn.number for turn in user.turns("c", limit=1000, newest_first=False)]
        assert found == list(range(1, len(found) + 1))
        assert 95 < len(found) < 100
        conversation = user.get_conversation("c")
        assert conversation is not None
        assert conversation.turn_count == len(found)
        assert user.append_turn(a_turn("next")).number == len(found) + 1
    assert (home / SET_ASIDE).exists() == (torn != "cut")
    assert ("damaged, and a copy is in" in caplog.text) == (torn != "cut")

"""What a store does ahead of time, in small steps or in another thread, so that nobody has to wait for a disk."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from greenroom.persistence import speedict_store
from greenroom.persistence.database import Changes
from greenroom.persistence.errors import StoreReadOnly, StoreTooNew
from greenroom.persistence.keys import FORMAT
from tests.persistence.builders import a_turn, crashed, fill, opened, the_database


def test_preparing_opens_within_the_bound_and_one_thing_at_a_time(tmp_path: Path) -> None:
    with opened(tmp_path, max_open=2) as store:
        for name in ("ann", "bob", "cid"):
            before = len(store.pool)
            for step in store.preparing(name):
                worker = threading.Thread(target=step)
                worker.start()
                worker.join()
                assert len(store.pool) - before in (-1, 0, 1)
                before = len(store.pool)
            assert store.at_hand(name)
            fill(store.user(name), 3)
        assert (len(store.pool), store.at_hand("ann")) == (2, False)
        assert list(store.preparing("cid")) == []
        assert len(store.user("ann").turns("c")) == 3


def test_a_step_in_between_may_use_or_remove_what_is_about_to_be_closed(tmp_path: Path) -> None:
    with opened(tmp_path, max_open=1) as store:
        fill(store.user("ann"), 3)
        for turn, step in enumerate(store.preparing("bob")):
            step()
            if turn == 0:
                store.user("ann").append_turn(a_turn("late"))
        assert len(store.user("ann").turns("c")) == 4
        for turn, step in enumerate(store.preparing("bob")):
            step()
            if turn == 0:
                store.purge("ann")
        assert set(store.users()) == {"bob"}


def test_what_is_kept_is_known_without_opening_anything(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert not store.keeps("ann")
        with store.glance("ann") as nobody:
            assert nobody.active_conversation() is None
        assert list(tmp_path.iterdir()) == []
        fill(store.user("ann"), 1)
        assert store.keeps("ann")
    with opened(tmp_path) as store:
        assert store.keeps("ann")
        assert len(store.pool) == 0


def test_a_glance_sees_everything_and_leaves_everything_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path / "live") as store:
        fill(store.user("ann"), 7)
        with store.glance("ann") as user:
            assert len(user.turns("c")) == 7
        assert store.at_hand("ann")
        image = crashed(tmp_path / "live", tmp_path / "image")
    with opened(image) as store:
        before = {each: each.read_bytes() for each in image.rglob("*.*") if each.is_file()}
        with store.glance("ann") as user:
            assert len(user.turns("c")) == 7
            with pytest.raises(AssertionError):
                user.append_turn(a_turn("t"))
        assert {each: each.read_bytes() for each in image.rglob("*.*") if each.is_file()} == before
        assert not store.at_hand("ann")
        assert store.user("ann").append_turn(a_turn("t")).number == 8


def test_a_glance_at_what_a_later_release_wrote_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
        database = the_database(store, "ann")
        database.write(Changes({FORMAT: b"99"}))
    with opened(tmp_path) as store, pytest.raises(StoreTooNew), store.glance("ann"):
        pass


def test_syncing_may_be_done_by_another_thread_while_writing_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
        sync = store.syncing()
        assert store.pool.dirty() == []
        store.user("ann").append_turn(a_turn("meanwhile"))
        worker = threading.Thread(target=sync)
        worker.start()
        worker.join()
        assert store.pool.dirty() == [the_database(store, "ann")]


def test_the_logs_that_hold_what_was_written_are_what_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(speedict_store, "sync_files", synced.extend)
    with opened(tmp_path) as store:
        fill(store.user("ann"), 3)
        path = the_database(store, "ann").path
        store.syncing()()
        assert {each for each in path.glob("*.log") if each.stat().st_size} <= set(synced)
        assert path in synced


def test_what_could_not_be_synced_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
        fill(store.user("bob"), 1)
        with monkeypatch.context() as broken:
            broken.setattr(speedict_store, "sync_files", refuse)
            with pytest.raises(StoreReadOnly):
                store.syncing()()
        assert len(store.pool.dirty()) == 2
        store.syncing()()
        assert not store.dirty


def test_a_log_that_is_gone_by_then_needs_no_sync(tmp_path: Path) -> None:
    with opened(tmp_path, max_open=1) as store:
        fill(store.user("ann"), 1)
        sync = store.syncing()
        fill(store.user("bob"), 1)
        store.purge("ann")
        sync()

"""A new database is laid out in another thread, and the engine takes it for one that it began itself."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from greenroom.persistence import layout, pool
from greenroom.persistence.database import Changes, Database
from tests.persistence.builders import fill, opened


def opened_and_closed(path: Path) -> None:
    database = Database(path)
    assert database.get(b"key") in (None, b"value")
    database.write(Changes({b"key": b"value"}))
    database.close()
    database = Database(path)
    assert database.get(b"key") == b"value"
    database.close()


def test_what_is_laid_out_is_an_empty_database_to_read_and_to_write(tmp_path: Path) -> None:
    layout.lay_out(tmp_path / "db")
    glance = Database(tmp_path / "db", read_only=True)
    assert glance.scan(b"") == []
    glance.close()
    opened_and_closed(tmp_path / "db")


def test_the_engine_goes_on_from_there_instead_of_beginning_anew(tmp_path: Path) -> None:
    layout.lay_out(tmp_path / "laid-out")
    identity = (tmp_path / "laid-out" / "IDENTITY").read_bytes()
    for name in ("laid-out", "engine"):
        Database(tmp_path / name).close()
    assert (tmp_path / "laid-out" / "IDENTITY").read_bytes() == identity
    names = [{each.name for each in (tmp_path / name).iterdir()} for name in ("laid-out", "engine")]
    assert names[0] == names[1]
    assert len(identity) == len((tmp_path / "engine" / "IDENTITY").read_bytes())


def test_no_two_databases_have_the_same_identity(tmp_path: Path) -> None:
    layout.lay_out(tmp_path / "one")
    layout.lay_out(tmp_path / "other")
    assert (tmp_path / "one" / "IDENTITY").read_bytes() != (tmp_path / "other" / "IDENTITY").read_bytes()


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    opened_and_closed(tmp_path / "db")
    layout.lay_out(tmp_path / "db")
    opened_and_closed(tmp_path / "db")


@pytest.mark.parametrize("count", range(3))
def test_a_kill_in_the_middle_leaves_nothing_that_is_taken_for_a_database(tmp_path: Path, count: int) -> None:
    layout.lay_out(tmp_path / "whole")
    half = tmp_path / "db.new"
    half.mkdir()
    for each in sorted((tmp_path / "whole").iterdir())[:count]:
        shutil.copy(each, half)
    assert not (tmp_path / "db").exists()
    layout.lay_out(tmp_path / "db")
    assert not half.exists()
    opened_and_closed(tmp_path / "db")


def test_a_kill_before_the_engine_has_seen_it_leaves_a_user_of_whom_nothing_is_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        next(iter(store.preparing("ann")))()
    with opened(tmp_path) as store:
        assert store.keeps("ann")
        with store.glance("ann") as user:
            assert user.active_conversation() is None
        fill(store.user("ann"), 2)
    with opened(tmp_path) as store:
        assert len(store.user("ann").turns("c")) == 2


def test_laying_out_is_a_step_for_another_thread_and_comes_before_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[tuple[int, bool]] = []

    def noting(path: Path) -> None:
        layout.lay_out(path)
        laid_out.append((threading.get_ident(), (path / "LOCK").exists()))

    monkeypatch.setattr(pool, "lay_out", noting)
    with opened(tmp_path) as store:
        for step in store.preparing("ann"):
            worker = threading.Thread(target=step)
            worker.start()
            worker.join()
        [(thread, by_the_engine)] = laid_out
        assert thread != threading.get_ident()
        assert not by_the_engine
        assert store.at_hand("ann")

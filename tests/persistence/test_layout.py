"""A database whose first files were written by us is one like any other."""

from __future__ import annotations

from pathlib import Path

from greenroom.persistence.engine import Engine
from greenroom.persistence.layout import lay_out
from greenroom.persistence.manifest import check_manifest


def test_the_engine_goes_on_from_what_was_laid_out(tmp_path: Path) -> None:
    path = tmp_path / "db"
    lay_out(path)
    engine = Engine(path)
    engine.write({b"key": b"value"}, ())
    engine.close()
    again = Engine(path, read_only=True)
    assert again.get(b"key") == b"value"
    again.close()


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "db"
    engine = Engine(path, create=True)
    engine.write({b"key": b"value"}, ())
    engine.close()
    before = sorted(each.name for each in path.iterdir())
    lay_out(path)
    assert sorted(each.name for each in path.iterdir()) == before


def test_what_a_crash_left_half_done_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "db.new").mkdir()
    (tmp_path / "db.new" / "CURRENT").write_text("half of it")
    lay_out(tmp_path / "db")
    Engine(tmp_path / "db").close()
    assert not (tmp_path / "db.new").exists()


def test_one_that_was_laid_out_and_never_opened_is_sound_and_empty(tmp_path: Path) -> None:
    path = tmp_path / "db"
    lay_out(path)
    check_manifest(path)
    engine = Engine(path, read_only=True)
    assert engine.scan(b"", None, None, reverse=False) == []
    engine.close()

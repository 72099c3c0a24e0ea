"""A MANIFEST that lost its end: the engine takes it for an older one, and would throw the newest tables away."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from greenroom.persistence.doctor import examine, repair
from greenroom.persistence.engine import Engine
from greenroom.persistence.errors import StoreDamaged
from greenroom.persistence.manifest import log_number
from greenroom.persistence.names import SESSIONS, folder_name
from tests.persistence.builders import a_handle, a_turn, assert_fit_for_a_client, crashed, fill, opened

LOST = 100
"""Bytes from the end of the MANIFEST: what a close writes, and with it the only word on the newest table."""


def database(folder: Path, user_id: str = "ann") -> Path:
    return folder / folder_name(user_id) / "db"


def manifest_of(path: Path) -> Path:
    return path / (path / "CURRENT").read_text().strip()


def cut(path: Path, lost: int) -> None:
    manifest = manifest_of(path)
    os.truncate(manifest, manifest.stat().st_size - lost)


def everything(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.iterdir()}


def furnish(folder: Path, lives: int) -> None:
    for life in range(lives):
        with opened(folder) as store:
            fill(store.user("ann"), 20, f"life-{life}")
            fill(store.user("bob"), 2, f"life-{life}")
            store.handles.put(a_handle(f"h-{life}"))


def turns_of_ann(folder: Path, lives: int) -> list[int]:
    with opened(folder) as store:
        return [len(store.user("ann").turns(f"life-{life}", limit=100)) for life in range(lives)]


@pytest.mark.parametrize("lives", [1, 2, 3, 6])
def test_a_manifest_without_its_end_is_refused_and_repaired_and_nobody_else_notices(tmp_path: Path, lives: int) -> None:
    furnish(tmp_path, lives)
    path = database(tmp_path)
    cut(path, LOST)
    before = everything(path)
    with opened(tmp_path) as store:
        for ask in (store.user("ann").list_conversations, lambda: store.user("ann").append_turn(a_turn("t", "life-0"))):
            with pytest.raises(StoreDamaged) as caught:
                ask()
        with pytest.raises(StoreDamaged), store.glance("ann"):
            pass
        assert_fit_for_a_client(caught.value, tmp_path)
        assert str(manifest_of(path)) in caught.value.detail
        assert "`greenroom doctor --repair`" in caught.value.detail
        assert len(store.user("bob").turns("life-0")) == 2
    (wrong,) = [each for each in examine(tmp_path) if not each.healthy]
    assert wrong.user_id == "ann"
    assert everything(path) == before
    (mended,) = [each for each in repair(tmp_path) if each.repaired]
    assert (mended.user_id, mended.turns, mended.lost_turns) == ("ann", 20 * lives, 0)
    assert all(each.healthy for each in examine(tmp_path))
    assert turns_of_ann(tmp_path, lives) == [20] * lives


def test_wherever_it_was_cut_nothing_is_lost_without_a_word(tmp_path: Path) -> None:
    """What is not refused, by us or by the engine, has everything."""
    with opened(tmp_path / "whole") as store:
        fill(store.user("ann"), 20, "life-0")
    with opened(tmp_path / "whole") as store:
        fill(store.user("ann"), 20, "life-1")
    size = manifest_of(database(tmp_path / "whole")).stat().st_size
    answers = {}
    for lost in (*range(0, size, 9), LOST, size):
        folder = tmp_path / f"cut-{lost}"
        shutil.copytree(tmp_path / "whole", folder)
        cut(database(folder), lost)
        try:
            assert turns_of_ann(folder, 2) == [20, 20], lost
            answers[lost] = "whole"
        except StoreDamaged:
            answers[lost] = "refused"
    assert (answers[0], answers[LOST], answers[size]) == ("whole", "refused", "refused")
    for lost in (LOST, size):
        repair(tmp_path / f"cut-{lost}")
        assert turns_of_ann(tmp_path / f"cut-{lost}", 2) == [20, 20]


def test_the_sessions_are_looked_after_too(tmp_path: Path) -> None:
    furnish(tmp_path, 2)
    cut(tmp_path / SESSIONS / "db", LOST)
    with opened(tmp_path) as store, pytest.raises(StoreDamaged):
        store.handles.find("h-1")
    assert [each.handles for each in repair(tmp_path) if each.repaired] == [2]
    with opened(tmp_path) as store:
        assert store.handles.find("h-1") is not None


def test_the_engine_alone_would_not_have_noticed(tmp_path: Path) -> None:
    """Why all this: should it ever notice by itself, `manifest` can go."""
    furnish(tmp_path, 1)
    path = database(tmp_path)
    cut(path, LOST)
    tables = set(path.glob("*.sst"))
    engine = Engine(path)
    try:
        assert engine.scan(b"", None, None, reverse=False) == []
    finally:
        engine.close()
    assert tables
    assert not tables & set(path.glob("*.sst"))


def test_a_table_that_was_being_written_when_the_process_was_killed_is_no_damage(tmp_path: Path) -> None:
    with opened(tmp_path / "live") as store:
        fill(store.user("ann"), 20, "life-0")
        image = crashed(tmp_path / "live", tmp_path / "image")
    table = next(database(tmp_path / "live").glob("*.sst"))
    shutil.copy(table, database(image))
    assert turns_of_ann(image, 1) == [20]


def test_what_is_no_manifest_says_nothing() -> None:
    assert log_number(b"") is None
    assert log_number(b"\x00" * 5000) is None
    assert log_number(bytes(range(256)) * 300) is None
    whole = b"crc!\x02\x00\x01\x02\x09"
    assert log_number(whole) == 9
    assert log_number(whole + b"crc!\x02\x00\x01\x02") == 9
    assert log_number(whole + b"crc!\x01\x00\x02\x02" + b"crc!\x02\x00\x04\x80\x01") == 128

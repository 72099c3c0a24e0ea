"""What lies in the folder: whose it is, how much of it, and what an operation reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from greenroom.persistence import engine
from greenroom.persistence.records import Feedback, handle_digest
from greenroom.persistence.speedict_user import SpeedictUserStore
from tests.persistence.builders import a_handle, a_turn, crashed, fill, opened, the_database

NASTY = ["", ".", "..", "../../outside", "/etc/passwd", "a\0b", "Ann", "ann", "ANN ", "x" * 5000, "con", "\N{SNOWMAN}"]


def contents(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file())


def test_whatever_a_user_is_called_their_files_stay_in_the_folder_and_apart(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "store"
    with opened(folder, max_open=3) as store:
        for name in NASTY:
            store.user(name).create_conversation("c", at=1, summary=f"of {name}")
        for name in NASTY:
            found = store.user(name).get_conversation("c")
            assert found is not None
            assert found.summary == f"of {name}"
        assert sorted(store.users()) == sorted(NASTY)
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert [each.name for each in folder.parent.iterdir()] == ["store"]
    assert len(list(folder.iterdir())) == len(NASTY)
    assert all(each.stat().st_mode & 0o077 == 0 for each in folder.iterdir())


def test_not_a_byte_of_one_user_is_in_the_files_of_another(tmp_path: Path) -> None:
    with opened(tmp_path, max_open=2) as store:
        for round_ in range(20):
            for name in ("ann", "bob", "cid"):
                user, secret = store.user(name), f"secret-of-{name}"
                if round_ == 0:
                    user.create_conversation(secret, at=1, topic=secret, summary=secret)
                user.append_turn(a_turn(f"{secret}{round_}", secret, outputs=secret, input={secret: 1}))
        homes = {name: the_database(store, name).path.parent for name in ("ann", "bob", "cid")}
    for name, home in homes.items():
        found = contents(home)
        assert f"secret-of-{name}".encode() in found
        assert not any(f"secret-of-{other}".encode() in found for other in homes if other != name)


def test_a_handle_is_nowhere_on_the_disk_but_its_digest_is(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.handles.put(a_handle("the-secret-handle"))
        store.sync()
        found = contents(tmp_path)
    assert b"the-secret-handle" not in found
    assert handle_digest("the-secret-handle").encode() in found


def test_purging_leaves_no_file_and_no_byte(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 3, "marker-of-ann")
        fill(store.user("bob"), 1)
        home = the_database(store, "ann").path.parent
        store.purge("ann")
        assert not home.exists()
        assert b"marker-of-ann" not in contents(tmp_path)
        home.with_name(f"{home.name}.purged").mkdir()
    with opened(tmp_path):
        assert len(list(tmp_path.glob("*.purged"))) == 0


@pytest.mark.parametrize("writes", [True, False])
def test_coming_and_going_leaves_few_files(tmp_path: Path, writes: bool) -> None:
    for round_ in range(25):
        with opened(tmp_path) as store:
            user = store.user("ann")
            fill(user, 0)
            if writes:
                user.append_turn(a_turn(f"{round_}"))
            home = the_database(store, "ann").path.parent
    names = [each.name for each in home.rglob("*") if each.is_file()]
    assert "LOG" not in names
    assert sum(name.endswith(".log") for name in names) <= 2
    assert len(names) < 25


def test_no_more_databases_are_open_than_allowed_and_none_is_left_open(tmp_path: Path) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = descriptors()
    with opened(tmp_path, max_open=3) as store:
        for number in range(10):
            fill(store.user(f"{number}"), 1)
        assert len(store.pool) == 3
        assert descriptors() - before <= 3 * 10
        assert [len(store.user(f"{number}").turns("c")) for number in range(10)] == [1] * 10
    assert descriptors() == before


def test_an_export_goes_on_while_its_database_is_closed_and_opened(tmp_path: Path) -> None:
    with opened(tmp_path, max_open=1) as store:
        fill(store.user("ann"), 250)
        fill(store.user("bob"), 1)
        lines = []
        for line in store.user("ann").export():
            lines.append(line)
            store.user("bob").get_conversation("c")
        assert len(lines) == 252
        assert store.user("carol").import_(lines) == 250


def test_sync_makes_clean_and_the_owner_hears_when_it_is_needed(tmp_path: Path) -> None:
    heard: list[str] = []
    with opened(tmp_path, on_dirty=lambda: heard.append("dirty")) as store:
        assert store.pool.dirty() == []
        fill(store.user("ann"), 5)
        assert (store.dirty, len(heard)) == (True, 1)
        store.sync("nobody")
        assert store.dirty
        store.sync("ann")
        assert store.pool.dirty() == []
        fill(store.user("ann"), 1, "d")
        store.handles.put(a_handle("h"))
        assert len(heard) == 3
        store.sync()
        assert store.pool.dirty() == []


OPERATIONS: dict[str, Callable[[SpeedictUserStore], Any]] = {
    "list": lambda user: user.list_conversations(10),
    "latest": lambda user: user.latest_turn("c"),
    "activate": lambda user: user.activate_conversation("c"),
    "active": lambda user: user.active_conversation(),
    "last ten": lambda user: user.turns("c", limit=10),
    "ten in the middle": lambda user: user.turns("c", limit=5, before=6),
    "find": lambda user: user.get_turn("c-5"),
    "append": lambda user: user.append_turn(a_turn("one more")),
    "rate": lambda user: user.set_feedback(Feedback(binary_or_numeric_score=True, given_at=1)),
    "name": lambda user: user.name_conversation("c", topic="Trip", summary="s"),
}


def costs(folder: Path, turns: int) -> dict[str, tuple[int, int]]:
    with opened(folder) as store:
        user = store.user("ann")
        for other in range(3):
            user.create_conversation(f"{other}", at=1)
        fill(user, turns)
        counters, spent = the_database(store, "ann").counters, {}
        for name, operation in OPERATIONS.items():
            before = (counters.reads, counters.writes)
            operation(user)
            spent[name] = (counters.reads - before[0], counters.writes - before[1])
        return spent


def test_what_an_operation_reads_does_not_grow_with_the_conversation(tmp_path: Path) -> None:
    short, long = costs(tmp_path / "short", 10), costs(tmp_path / "long", 5000)
    assert short == long
    assert max(reads for reads, _ in long.values()) <= 12
    assert (long["append"], long["latest"]) == ((2, 1), (1, 0))


def test_a_crash_image_opens(tmp_path: Path) -> None:
    with opened(tmp_path / "live") as store:
        fill(store.user("ann"), 50)
        image = crashed(tmp_path / "live", tmp_path / "image")
    with opened(image) as store:
        assert len(store.user("ann").turns("c")) == 50


def test_an_error_while_reading_does_not_keep_the_database_locked(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 300, size=400)
        path = the_database(store, "ann").path
    with next(path.glob("*.sst")).open("r+b") as table:
        table.seek(20_000)
        table.write(b"damage")
    kept: list[Exception] = []
    for _ in range(2):
        with opened(tmp_path) as store:
            try:
                store.user("ann").turns("c", limit=1000)
            except Exception as error:
                kept.append(error)
    assert [type(error).__name__ for error in kept] == ["StoreDamaged", "StoreDamaged"]


def test_only_one_module_knows_speedict_and_none_knows_an_event_loop() -> None:
    sources = {each.name: each.read_text() for each in Path(engine.__file__).parent.glob("*.py")}
    assert [name for name, text in sources.items() if "from speedict import" in text or "import speedict" in text] == [
        "engine.py"
    ]
    assert not [name for name, text in sources.items() if "import trio" in text]

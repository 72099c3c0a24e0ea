"""What keeping a turn costs, what opening a database costs, and what ten thousand users cost on disk and in memory.

Run `python -m bench.store.commit` from the project's folder; `--users` and `--folder` choose how many and where. The
folder should be on the kind of disk that the server will have: a synced commit is as quick as that disk.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from greenroom.persistence.database import Database
from greenroom.persistence.records import Turn
from greenroom.persistence.speedict_store import MAX_OPEN, SpeedictStore
from greenroom.persistence.speedict_user import SpeedictUserStore

TRACE = {"direction": "workflow_to_agent", "command_name": "add", "response_text": "It is 3." * 10, "success": True}


def a_turn(number: int) -> Turn:
    """About 900 bytes of JSON."""
    return Turn(
        id=f"turn-{number:016x}",
        conversation_id="c",
        tool="invoke_agent",
        input={"user_query": "What is one and two?"},
        outputs={"command_responses": [{"response": "It is 3. " * 20, "success": True, "artifacts": {}}]},
        traces=(TRACE, TRACE),
        started_at=1_800_000_000_000 + number,
        duration_ms=5,
    )


def resident_kb() -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1])


def timed(work: Callable[[int], object], count: int) -> list[float]:
    """Microseconds of each."""
    spent = []
    for number in range(count):
        before = time.perf_counter()
        work(number)
        spent.append((time.perf_counter() - before) * 1e6)
    return spent


def row(what: str, value: str) -> None:
    print(f"{what:<58} {value:>28}")


def show(what: str, spent: list[float], unit: str = "us") -> None:
    scale = 1.0 if unit == "us" else 1e-3
    middle, high, worst = statistics.median(spent), statistics.quantiles(spent, n=100)[98], max(spent)
    row(what, f"{middle * scale:.1f} / {high * scale:.1f} / {worst * scale:.1f} {unit}")


@contextmanager
def opened(folder: Path) -> Iterator[SpeedictStore]:
    store = SpeedictStore(folder)
    try:
        yield store
    finally:
        store.close()


def commits(folder: Path, count: int) -> None:
    with opened(folder) as store:
        user = store.user("ann")
        user.create_conversation("c", at=1, topic="Sums", activate=True)
        show("append a turn, unsynced", timed(lambda number: user.append_turn(a_turn(number)), count))

        def synced(number: int) -> None:
            user.append_turn(a_turn(count + number))
            store.sync("ann")

        show("append a turn, synced", timed(synced, 200))
        show("latest turn", timed(lambda _: user.latest_turn("c"), 2000))
        show("list ten conversations (there is one)", timed(lambda _: user.list_conversations(10), 2000))
        show("activate", timed(lambda _: user.activate_conversation("c"), 2000))


def lists(folder: Path, turns: int) -> None:
    with opened(folder) as store:
        user = store.user("ann")
        for number in range(20):
            user.create_conversation(f"{number}", at=number)
        user.create_conversation("c", at=1)
        for number in range(turns):
            user.append_turn(a_turn(number))
        show(f"list ten of 21 conversations after {turns} turns", timed(lambda _: user.list_conversations(10), 500))


def opening(folder: Path) -> None:
    with opened(folder) as store:
        fill_one(store.user("ann"))
        database = store.pool.database("ann")
        assert database is not None
        path = database.path
    opens, closes = [], []
    for _ in range(50):
        before = time.perf_counter()
        one = Database(path)
        between = time.perf_counter()
        one.close()
        opens.append((between - before) * 1e6)
        closes.append((time.perf_counter() - between) * 1e6)
    show("open a database", opens, "ms")
    show("close one that was only read", closes, "ms")


def fill_one(user: SpeedictUserStore) -> None:
    user.create_conversation("c", at=1, topic="Sums", activate=True)
    user.append_turn(a_turn(0))


def many_users(folder: Path, users: int) -> None:
    with opened(folder) as store:
        empty, descriptors = resident_kb(), len(os.listdir("/proc/self/fd"))
        marks = {users // 100: 0, users // 2: 0, users: 0}
        before = time.perf_counter()
        for number in range(users):
            fill_one(store.user(f"user-{number}"))
            if number + 1 in marks:
                marks[number + 1] = resident_kb() - empty
        each = (time.perf_counter() - before) / users * 1e3
        row("a new user with a conversation and a turn", f"{each:.1f} ms")
        for count, kilobytes in marks.items():
            row(f"memory after {count} users, {len(store.pool)} open at the end", f"{kilobytes / 1024:.1f} MB")
        row("descriptors", f"{len(os.listdir('/proc/self/fd')) - descriptors}")
        show("a user who comes back", timed(lambda number: store.user(f"user-{number}").latest_turn("c"), 300), "ms")
    homes = [home for home in folder.iterdir() if home.is_dir()]
    files = [each for home in homes for each in home.rglob("*") if each.is_file()]
    row("files per user", f"{len(files) / len(homes):.1f}")
    row("bytes per user, apparent / on disk", _sizes(files, len(homes)))


def _sizes(files: list[Path], homes: int) -> str:
    found = [each.stat() for each in files]
    return (
        f"{sum(each.st_size for each in found) / homes:.0f} / {sum(each.st_blocks for each in found) * 512 / homes:.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, help="where to make a folder for the databases")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="greenroom-store-", dir=given.folder))
    print(f"median / 99th percentile / worst; at most {MAX_OPEN} databases open\n")
    try:
        commits(folder / "commits", given.commits)
        for turns in (10, 5_000, 50_000):
            lists(folder / f"lists-{turns}", turns)
        opening(folder / "opening")
        many_users(folder / "users", given.users)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

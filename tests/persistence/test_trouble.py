"""Locks, rights and full disks: a clear error, a server that stays up, and nothing that was kept is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.persistence.errors import (
    StoreFull,
    StoreLocked,
    StoreUnavailable,
)
from greenroom.persistence.store import UserStore
from tests.persistence.builders import a_handle, a_turn, assert_fit_for_a_client, crashed, fill, opened

ROOT = Path(__file__).parents[2]


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )


# --- another process ---------------------------------------------------------------------------------------

_HOLD = """
import sys
from pathlib import Path
from greenroom.persistence.speedict_store import SpeedictStore
store = SpeedictStore(Path(sys.argv[1]))
print(store.user("ann").list_conversations().conversations[0].id, flush=True)
sys.stdin.read()
store.close()
"""


def test_a_database_that_another_process_has_open_is_refused_until_it_is_free(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
        fill(store.user("bob"), 1)
    with (
        subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as other,
        opened(tmp_path) as store,
    ):
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"c\n"
        with pytest.raises(StoreLocked) as caught:
            store.user("ann").append_turn(a_turn("t"))
        assert caught.value.code == 503
        assert_fit_for_a_client(caught.value, tmp_path)
        assert caught.value.detail in caplog.text
        assert store.user("bob").append_turn(a_turn("t")).number == 2
        other.stdin.close()
        other.wait(30)
        assert store.user("ann").append_turn(a_turn("t")).number == 2


# --- a folder that must not be written ---------------------------------------------------------------------

# speedict imports pickle when it opens something; nobody may not be allowed to read the standard library by then.
_READ_ONLY = """
import os, pickle, sys
from pathlib import Path
from greenroom.persistence.errors import StoreError
from greenroom.persistence.speedict_store import SpeedictStore
store = SpeedictStore(Path(sys.argv[1]))
if os.getuid() == 0:
    os.setuid(65534)
for user in sys.argv[2:]:
    try:
        store.user(user).create_conversation("new", at=1)
    except StoreError as error:
        print(error.code, error.name, sys.argv[1] in error.message, sys.argv[1] in error.detail)
"""


def test_a_folder_that_may_not_be_written_is_a_clear_error() -> None:
    # Not pytest's own, which nobody but its owner may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder) as store:
            fill(store.user("ann"), 1)
        for each in (folder, *folder.rglob("*")):
            each.chmod(0o555 if each.is_dir() else 0o444)
        try:
            said = run(_READ_ONLY, name, "ann", "nobody yet").stdout
        finally:
            for each in (folder, *folder.rglob("*")):
                each.chmod(0o755)
        assert said.splitlines() == ["503 store_read_only False True"] * 2
        with opened(folder) as store:
            assert store.user("ann").get_turn("c-0") is not None


_RIGHTS_TAKEN_AWAY = """
import os, pickle, sys
from pathlib import Path
from greenroom.persistence.errors import StoreReadOnly
from greenroom.persistence.records import Turn
from greenroom.persistence.speedict_store import SpeedictStore
now, kept = 0.0, 0
folder = Path(sys.argv[1])
if os.getuid() == 0:
    os.chown(folder, 65534, 65534)
    os.setuid(65534)
user = SpeedictStore(folder, clock=lambda: now).user("ann")
user.create_conversation("c", at=1)
def allow(mode):
    for each in (folder, *folder.glob("*"), *folder.glob("*/db")):
        each.chmod(mode)
def append():
    user.append_turn(Turn(id=str(kept), conversation_id="c", tool="t", outputs=os.urandom(9000).hex(), started_at=1))
allow(0o555)
try:
    while True:
        append()
        kept += 1
except StoreReadOnly:
    now = 2.0
try:
    append()
except StoreReadOnly:
    print(len(user.turns("c", limit=10_000)) == kept > 0)
allow(0o755)
now = 4.0
append()
print(len(user.turns("c", limit=10_000)) == kept + 1)
"""


def test_when_the_right_to_write_is_taken_away_reading_goes_on_and_giving_it_back_heals() -> None:
    with tempfile.TemporaryDirectory() as name:
        assert run(_RIGHTS_TAKEN_AWAY, name).stdout.split() == ["True", "True"]


def test_a_file_where_the_folder_should_be_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with opened(tmp_path / "file") as store:
        with pytest.raises(StoreUnavailable) as caught:
            store.user("ann").create_conversation("c", at=1)
        assert_fit_for_a_client(caught.value, tmp_path)


# --- a full disk -------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    tried = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "greenroom", str(tmp_path)], capture_output=True, check=False
    )
    if tried.returncode:
        pytest.skip("only who may mount can have a small disk; the limit on files below is tested everywhere")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def _fill_the_disk(folder: Path) -> None:
    ballast = os.open(folder / "ballast", os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(ballast, bytes(4096)):
            pass
    except OSError:
        pass
    finally:
        os.close(ballast)


def _append_for_ever(user: UserStore, kept: list[str]) -> None:
    while True:
        kept.append(user.append_turn(a_turn(f"t{len(kept)}", outputs=os.urandom(2000).hex())).id)


def test_on_a_full_disk_what_was_kept_can_be_read_and_room_heals_it(small_disk: Path) -> None:
    now = 0.0
    with opened(small_disk / "store", clock=lambda: now) as store:
        user, kept = store.user("ann"), list[str]()
        fill(user, 0)
        with pytest.raises(StoreFull) as caught:
            _append_for_ever(user, kept)
        assert kept
        assert_fit_for_a_client(caught.value, small_disk)
        assert [turn.id for turn in user.turns("c", limit=10_000, newest_first=False)] == kept
        _fill_the_disk(small_disk)
        for later in (0.5, 2.0, 4.0):
            now = later
            with pytest.raises(StoreFull) as caught:
                user.append_turn(a_turn("one more"))
            assert ("failed a moment ago" in caught.value.detail) == (later < 1)
            assert user.get_turn(kept[-1]) is not None
        with pytest.raises(StoreFull):
            store.user("bob").create_conversation("c", at=1)
        (small_disk / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
        now = 6.0
        assert user.append_turn(a_turn("one more")).number == len(kept) + 1
        assert store.user("bob").create_conversation("c", at=1).id == "c"
    with opened(small_disk / "store") as store:
        found = store.user("ann").turns("c", limit=10_000, newest_first=False)
        assert [turn.id for turn in found] == [*kept, "one more"]


def test_a_store_that_is_opened_on_a_full_disk_can_be_read(small_disk: Path) -> None:
    with opened(small_disk / "store") as store:
        fill(store.user("ann"), 20)
        image = crashed(small_disk / "store", small_disk / "image")
    _fill_the_disk(small_disk)
    for folder in (small_disk / "store", image):
        with opened(folder) as store:
            assert len(store.user("ann").turns("c")) == 20
            with pytest.raises(StoreFull):
                store.user("ann").append_turn(a_turn("one more"))


_LIMITED = """
import os, resource, sys
from pathlib import Path
from greenroom.persistence.errors import StoreFull
from greenroom.persistence.records import Turn
from greenroom.persistence.speedict_store import SpeedictStore
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
user = SpeedictStore(Path(sys.argv[1])).user("ann")
user.create_conversation("c", at=1)
kept = 0
try:
    while True:
        user.append_turn(Turn(id=str(kept), conversation_id="c", tool="t", outputs=os.urandom(500).hex(), started_at=1))
        kept += 1
except StoreFull:
    print(kept, len(user.turns("c", limit=10_000)))
"""


def test_a_file_that_cannot_grow_is_a_full_disk(tmp_path: Path) -> None:
    kept, readable = run(_LIMITED, str(tmp_path)).stdout.split()
    assert kept == readable != "0"
    with opened(tmp_path) as store:
        assert len(store.user("ann").turns("c", limit=10_000)) == int(kept)


def test_a_store_that_is_closed_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store.user("ann"), 1)
    store.close()
    with pytest.raises(StoreUnavailable):
        store.user("ann").list_conversations()
    with pytest.raises(StoreUnavailable):
        store.handles.put(a_handle("h"))

"""The databases of all users in one folder, of which a bounded number is open.

An open database costs descriptors, a thread and some hundred kilobytes, and opening one some milliseconds: the least
recently used is closed when another has to be opened. Nobody above holds on to a `Database`, they ask here each time.

    <folder>/<name>/user.json    whose it is
    <folder>/<name>/db/          the database
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from greenroom.persistence.codec import dump_json
from greenroom.persistence.database import Changes, Database
from greenroom.persistence.engine import translated
from greenroom.persistence.errors import StoreDamaged, StoreTooNew, StoreUnavailable, logged
from greenroom.persistence.files import sync_files
from greenroom.persistence.keys import FORMAT
from greenroom.persistence.layout import lay_out
from greenroom.persistence.meter import Meters
from greenroom.persistence.names import SESSIONS, folder_name, is_folder_name

FORMAT_VERSION = 1
"""Of the layout of keys. Records have versions of their own."""

FRESH = "db.fresh"
"""Takes the place of a database once it is complete and the old one is out of the way."""

_PURGED = ".purged"
"""Ends the name of what is being removed, and of what a crash kept from being removed: that goes at the next start."""


class Pool:
    def __init__(
        self,
        folder: Path,
        maximum: int,
        clock: Callable[[], float] = time.monotonic,
        on_dirty: Callable[[], None] | None = None,
    ) -> None:
        self.folder = folder
        self.meters = Meters()
        self._maximum = maximum
        self._clock = clock
        self._on_dirty = on_dirty
        self._open: OrderedDict[str, Database] = OrderedDict()
        """By user, the most recently used last."""
        self._sessions: Database | None = None
        self._closed = False
        for leftover in folder.glob(f"*{_PURGED}"):
            shutil.rmtree(leftover, ignore_errors=True)

    def __len__(self) -> int:
        return len(self._open)

    def database(self, user_id: str, *, create: bool = False) -> Database | None:
        """Of a user; None if there is none, unless it is to be made."""
        found = self._open.get(user_id)
        if found is not None:
            self._open.move_to_end(user_id)
            return found
        self._refuse_if_closed()
        home = self.folder / folder_name(user_id)
        if not translated(home, lambda: _is_ready(home, user_id, create=create)):
            return None
        while len(self._open) >= self._maximum:
            self._close_oldest()
        self._open[user_id] = opened = self._open_one(home / "db")
        return opened

    def preparing(self, user_id: str) -> Iterator[Callable[[], None]]:
        """Open what the next call about this user needs, in steps of some milliseconds at most.

        Each holds up whatever runs in this process: whoever iterates lets others have their turn in between, and
        does in another thread what is handed out, which waits for the disk and holds up nobody.
        """
        if user_id in self._open:
            return
        self._refuse_if_closed()
        home = self.folder / folder_name(user_id)
        yield lambda: translated(home, lambda: _make_ready(home, user_id))
        while len(self._open) >= self._maximum:
            yield from next(iter(self._open.values())).settling()
            if len(self._open) >= self._maximum:
                self._close_oldest()
                yield _nothing
        self.database(user_id, create=True)
        yield _nothing

    def at_hand(self, user_id: str) -> bool:
        return user_id in self._open

    def keeps(self, user_id: str) -> bool:
        """Whether there is a database, open or not."""
        home = self.folder / folder_name(user_id)
        return user_id in self._open or (home / "db").is_dir() or (home / FRESH).is_dir()

    @contextmanager
    def glance(self, user_id: str) -> Iterator[Database | None]:
        """For reading alone: in a quarter of the time, without waiting for the disk, and nobody else is closed."""
        self._refuse_if_closed()
        home = self.folder / folder_name(user_id)
        translated(home, lambda: finish_repair(home))
        if user_id in self._open or not (home / "db").is_dir():
            yield self._open.get(user_id)
            return
        database = _checked(Database(home / "db", read_only=True))
        try:
            yield database
        finally:
            database.close()

    def sessions(self) -> Database:
        """Of all session handles. Open from its first use to the end, and not counted."""
        if self._sessions is None:
            self._refuse_if_closed()
            home = self.folder / SESSIONS
            translated(home, lambda: home.mkdir(mode=0o700, parents=True, exist_ok=True))
            self._sessions = self._open_one(home / "db")
        return self._sessions

    def users(self) -> Iterator[str]:
        for home in translated(self.folder, lambda: list(homes(self.folder))):
            user_id = owner(home)
            if user_id is not None and (home / "db").is_dir():
                yield user_id

    def dirty(self, user_id: str | None = None) -> list[Database]:
        """Those with something to sync: one user's or all. What is not open is on the disk."""
        if user_id is not None:
            candidates = [self._open.get(user_id)]
        else:
            candidates = [*self._open.values(), self._sessions]
        return [database for database in candidates if database is not None and database.dirty]

    def remove(self, user_id: str) -> None:
        """Every file of this user."""
        name = folder_name(user_id)
        database = self._open.pop(user_id, None)
        if database is not None:
            database.close()
        home, gone = self.folder / name, self.folder / f"{name}{_PURGED}"
        if home.exists():
            # First out of the way, at once: half a database would be a damaged one.
            translated(home, lambda: home.rename(gone))
        if gone.exists():
            translated(gone, lambda: shutil.rmtree(gone))

    def close(self) -> None:
        self._closed = True
        while self._open:
            self._open.popitem()[1].close()
        if self._sessions is not None:
            self._sessions.close()
            self._sessions = None

    def _close_oldest(self) -> None:
        self._open.popitem(last=False)[1].close()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self.folder}: the store is closed.")

    def _open_one(self, path: Path) -> Database:
        database = _checked(Database(path, clock=self._clock, on_dirty=self._on_dirty, meters=self.meters))
        try:
            if database.get(FORMAT) is None:
                database.write(Changes({FORMAT: b"%d" % FORMAT_VERSION}))
        except BaseException:
            database.close()
            raise
        return database


def _checked(database: Database) -> Database:
    try:
        check_format(database.get(FORMAT), database.path)
    except BaseException:
        database.close()
        raise
    return database


def check_format(stamp: bytes | None, path: Path) -> None:
    """A database without a stamp has nothing in it yet."""
    if stamp is None:
        return
    if not stamp.isdigit():
        raise logged(StoreDamaged(f"{path}: its format is {stamp[:20]!r}."))
    if int(stamp) > FORMAT_VERSION:
        detail = f"{path} has format {int(stamp)}, but this release knows formats up to {FORMAT_VERSION}."
        raise logged(StoreTooNew(detail))


def homes(folder: Path) -> Iterator[Path]:
    """The folders of all users. Whatever else lies around is not ours."""
    if folder.is_dir():
        yield from (each for each in sorted(folder.iterdir()) if is_folder_name(each.name) and each.is_dir())


def finish_repair(home: Path) -> None:
    """A database that was made anew, and whose last step into place a crash prevented, takes it now."""
    if (home / FRESH).is_dir() and not (home / "db").exists():
        (home / FRESH).rename(home / "db")


def owner(home: Path) -> str | None:
    """Whose it is, if that can be read and is true."""
    try:
        user_id = json.loads((home / "user.json").read_bytes())["user_id"]
        return user_id if folder_name(user_id) == home.name else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _is_ready(home: Path, user_id: str, *, create: bool) -> bool:
    """Whether there is a database to open, or a place to make one in."""
    finish_repair(home)
    if not create and not (home / "db").is_dir():
        return False
    if owner(home) != user_id:
        _make_home(home, user_id)
    return True


def _make_ready(home: Path, user_id: str) -> None:
    _is_ready(home, user_id, create=True)
    lay_out(home / "db")


def _nothing() -> None:
    """A step that was done already."""


def _make_home(home: Path, user_id: str) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = home / "user.json.new"
    with fresh.open("wb") as file:
        file.write(dump_json({"user_id": user_id}))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(home / "user.json")
    # The engine sees to its own folder; that there is one must survive a loss of power too.
    sync_files((home, home.parent))

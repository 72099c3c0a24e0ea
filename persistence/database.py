"""A database that looks after itself: the engine, with decisions.

- Reading goes on when writing is impossible. After a write has failed, the engine refuses every further one until it
  is opened anew, which needs room on the disk; so that is tried at most once a second, and only once a file beside the
  database could be written. On a disk that is full from the start it is opened for reading alone.
- A log that a loss of power has torn is read up to the tear, and what cannot be read is set aside, not thrown away.
- The empty logs that every opening leaves behind (a fault of the engine, mended upstream since) are swept away by the
  next one, and a clean close takes the info log along: 26 KB that are of interest only when something went wrong.

It knows nothing of records, and it belongs to one thread.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import attrs

from greenroom.persistence.engine import Engine, Fault, Pair, translated
from greenroom.persistence.errors import StoreDamaged, StoreError, StoreFull, StoreUnavailable
from greenroom.persistence.files import sync_files
from greenroom.persistence.manifest import check_manifest
from greenroom.persistence.meter import Meters

log = logging.getLogger(__name__)

SET_ASIDE = "set-aside"
"""Beside a database, if ever a log could not be read to its end."""

_BETWEEN_ATTEMPTS = 1.0
_PATIENCE = 20
"""How often it is looked whether a flush is over, each time after a sync."""
_ROOM_NEEDED = 256 * 1024
"""About what opening a database and a first flush may write."""


@attrs.define
class Changes:
    """What is to be written together. Deletions come first: a key may be deleted and put."""

    puts: dict[bytes, bytes] = attrs.field(factory=dict)
    deletes: list[bytes] = attrs.field(factory=list)


@attrs.define
class Counters:
    """What was asked of the engine, for whoever wants to know what an operation costs."""

    gets: int = 0
    scanned: int = 0
    writes: int = 0

    @property
    def reads(self) -> int:
        return self.gets + self.scanned


class Database:
    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        on_dirty: Callable[[], None] | None = None,
        meters: Meters | None = None,
        read_only: bool = False,
    ) -> None:
        self.path = path
        self._read_only = read_only
        self.counters = Counters()
        self._meters = meters or Meters()
        self.dirty = False
        self._clock = clock
        self._on_dirty = on_dirty
        self._engine: Engine | None = None
        self._fault: Fault | None = None
        """Why it cannot be written, if it cannot."""
        self._retry_at = 0.0
        self._reopen()

    # --- reading -------------------------------------------------------------------------------------------

    def get(self, key: bytes) -> bytes | None:
        self.counters.gets += 1
        return self._opened().get(key)

    def scan(
        self, prefix: bytes, *, start: bytes | None = None, limit: int | None = None, reverse: bool = False
    ) -> list[Pair]:
        """Keys that begin with `prefix`; from `start`, which is included, or from the end that comes first."""
        found = self._opened().scan(prefix, start, limit, reverse=reverse)
        self.counters.scanned += len(found)
        return found

    # --- writing -------------------------------------------------------------------------------------------

    def write(self, changes: Changes) -> None:
        """All of it or nothing. Survives the process when this returns, the machine after `sync`."""
        assert not self._read_only, "it was opened for a glance"
        if self._fault is not None:
            self._try_again(self._fault)
        self.counters.writes += 1
        began = time.perf_counter()
        try:
            self._opened().write(changes.puts, changes.deletes)
        except (StoreUnavailable, StoreDamaged) as error:
            self._meters.failures += 1
            self._note(error)
            raise
        self._meters.commits.note(time.perf_counter() - began)
        if not self.dirty:
            self.dirty = True
            if self._on_dirty is not None:
                self._on_dirty()

    def sync(self) -> None:
        if self.dirty:
            self._opened().sync()
            self.dirty = False

    def unsynced_files(self) -> list[Path]:
        """What has to reach the disk for everything that was written up to now, which counts as synced from here on.

        A log that is gone by then was emptied into a table, and the engine has synced that itself.
        """
        if not self.dirty:
            return []
        self.dirty = False
        return [*self.path.glob("*.log"), self.path]

    def settling(self) -> Iterator[Callable[[], None]]:
        """Everything about a close that has to wait for the disk, as steps for another thread.

        Trouble on the way is for `close` to meet.
        """
        engine = self._engine
        if engine is None or self._fault is not None:
            return
        with suppress(StoreError):
            engine.start_flush()
            for _ in range(_PATIENCE):
                yield partial(_sync_quietly, [*self.path.glob("*.log"), self.path])
                # It may have been closed meanwhile.
                if self._engine is not engine or not engine.is_flushing:
                    return

    def compact(self) -> None:
        self._opened().compact()

    def close(self) -> None:
        """Whatever the engine says to it, this is closed afterwards."""
        engine, self._engine = self._engine, None
        self.dirty = False
        if engine is None:
            return
        try:
            engine.close()
            if self._fault is None and not self._read_only:
                (self.path / "LOG").unlink(missing_ok=True)
        except (StoreError, OSError) as error:
            log.warning("a database did not close cleanly: %s", getattr(error, "detail", error))

    # --- inside --------------------------------------------------------------------------------------------

    def _opened(self) -> Engine:
        if self._engine is None:
            self._reopen()
        assert self._engine is not None
        return self._engine

    def _reopen(self) -> None:
        if self._read_only:
            check_manifest(self.path)
            self._engine = Engine(self.path, read_only=True)
            return
        try:
            self._engine = translated(self.path, lambda: open_for_writing(self.path))
            self._fault = None
        except StoreFull as error:
            # Opening writes. What is there can be read all the same.
            self._engine = Engine(self.path, read_only=True)
            self._note(error)

    def _try_again(self, fault: Fault) -> None:
        if self._clock() < self._retry_at:
            raise fault(f"{self.path}: writing failed a moment ago.")
        self._retry_at = self._clock() + _BETWEEN_ATTEMPTS
        translated(self.path, self._try_to_write)
        # Only now: what is open can at least be read.
        self.close()
        self._reopen()
        if self._fault is not None:
            raise fault(f"{self.path}: it could be opened for reading alone.")
        log.warning("a database can be written again: %s", self.path)

    def _try_to_write(self) -> None:
        probe = self.path.parent / "probe"
        try:
            probe.write_bytes(bytes(_ROOM_NEEDED))
        finally:
            probe.unlink(missing_ok=True)

    def _note(self, error: StoreUnavailable | StoreDamaged) -> None:
        self._fault = type(error)
        self._retry_at = self._clock() + _BETWEEN_ATTEMPTS


def _sync_quietly(paths: list[Path]) -> None:
    with suppress(OSError):
        sync_files(paths)


def open_for_writing(path: Path) -> Engine:
    """Make it if there is nothing yet, read what a crash left, and clear up."""
    check_manifest(path)
    logs = sorted(path.glob("*.log"))
    full = [each for each in logs if each.stat().st_size]
    # Its file CURRENT cannot tell whether there is something: it may be what was lost.
    holds_data = bool(full) or any(path.glob("*.sst"))
    try:
        engine = Engine(path, create=not holds_data)
    except StoreDamaged as damage:
        if not full:
            raise
        engine = _open_leniently(path, full, damage)
    # Only under the engine's lock. Its new log is not among those that were there before.
    for each in logs:
        if each.exists() and not each.stat().st_size:
            each.unlink()
    return engine


def _open_leniently(path: Path, logs: list[Path], damage: StoreDamaged) -> Engine:
    folder = path.parent / SET_ASIDE
    folder.mkdir(exist_ok=True)
    copies = [folder / f"{len(list(folder.iterdir())) + place}-{each.name}" for place, each in enumerate(logs)]
    for each, copy in zip(logs, copies, strict=True):
        shutil.copy2(each, copy)
    try:
        engine = Engine(path, lenient=True)
    except StoreError:
        # The damage is elsewhere, and the logs are still where they were.
        for copy in copies:
            copy.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
        raise
    log.error("a log was read up to where it is damaged, and a copy is in %s: %s", folder, damage.detail)
    return engine

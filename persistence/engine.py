"""The storage engine, and the only module that knows speedict: sorted bytes in a folder, for one process at a time.

It opens, reads, writes and repairs, and turns what speedict raises, which is a bare `Exception` with a text, into a
`StoreError`. It makes no decisions: when to open, to try again or to close is for `database`.

What speedict leaves to be done, each with a test:
- its lazy iterators (`items`, `keys`) end early at a damaged block and say nothing: only `RdictIter`, whose `status`
  is asked, is used;
- an iterator that is alive keeps a closed database locked: none leaves `scan`;
- `set_iterate_lower_bound` sets the upper one: no bounds, prefixes are compared here;
- dropping a database without closing it swallows the error of its last flush: `close` is always called.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from speedict import AccessType, BlockBasedOptions, Cache, DBRecoveryMode, Options, Rdict, WriteBatch

from greenroom.persistence.errors import (
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnavailable,
    logged,
)

T = TypeVar("T")
Fault = type[StoreUnavailable] | type[StoreDamaged]
Pair = tuple[bytes, bytes]

_WRITE_BUFFER = 512 * 1024
"""A database has at most two in memory. Larger ones are no faster, smaller ones flush all the time."""
_ARENA = 8 * 1024
"""What a write buffer grows by, and so what an idle database needs."""
_FILE_BUFFER = 16 * 1024
"""Of each file that is being written, of which an open database has two."""
_CACHE = Cache(8 * 1024 * 1024)
"""For blocks that were read, of all databases together."""


class Engine:
    """An open database."""

    def __init__(self, path: Path, *, read_only: bool = False, create: bool = False, lenient: bool = False) -> None:
        """`lenient` reads the log of a crash up to the first damage, instead of refusing a damaged one."""
        self._path = path
        access = AccessType.read_only(False) if read_only else AccessType.read_write()
        recovery = DBRecoveryMode.point_in_time() if lenient else DBRecoveryMode.tolerate_corrupted_tail_records()
        options = _options(recovery, create=create)
        self._rdict = translated(path, lambda: Rdict(str(path), options, access_type=access))

    def get(self, key: bytes) -> bytes | None:
        value: bytes | None = translated(self._path, lambda: self._rdict.get(key))
        return value

    def scan(self, prefix: bytes, start: bytes | None, limit: int | None, *, reverse: bool) -> list[Pair]:
        """Keys that begin with `prefix`, from `start` or the end, as many as that."""
        found: list[Pair] = []
        translated(self._path, lambda: self._walk(found, prefix, start, limit, reverse=reverse))
        return found

    def salvage(self) -> tuple[list[Pair], StoreError | None]:
        """Everything that can be reached from either end, and what stands in between, if something does."""
        forward: list[Pair] = []
        try:
            translated(self._path, lambda: self._walk(forward, b"", None, None, reverse=False))
        except StoreError as obstacle:
            backward: list[Pair] = []
            try:
                translated(self._path, lambda: self._walk(backward, b"", None, None, reverse=True))
            except StoreError:
                pass
            return list(dict([*forward, *reversed(backward)]).items()), obstacle
        return forward, None

    def write(self, puts: Mapping[bytes, bytes], deletes: Iterable[bytes]) -> None:
        """All of it or nothing. Deletions come first: a key may be deleted and put."""
        batch = WriteBatch(raw_mode=True)
        for key in deletes:
            batch.delete(key)
        for key, value in puts.items():
            batch.put(key, value)
        translated(self._path, lambda: self._rdict.write(batch))

    def sync(self) -> None:
        translated(self._path, lambda: self._rdict.flush_wal(True))

    def start_flush(self) -> None:
        """Have the engine's own thread write a table of what is in memory: less is left for `close` to wait for."""
        translated(self._path, lambda: self._rdict.flush(False))

    @property
    def is_flushing(self) -> bool:
        look = self._rdict.property_int_value
        names = ("rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes")
        return translated(self._path, lambda: any(look(name) for name in names))

    def compact(self) -> None:
        """Write the files anew without what was deleted; until then its bytes are still in them."""

        def rewrite() -> None:
            self._rdict.flush()
            self._rdict.compact_range(None, None)

        translated(self._path, rewrite)

    def close(self) -> None:
        """It is closed afterwards even if this raises."""
        translated(self._path, self._rdict.close)

    def _walk(self, found: list[Pair], prefix: bytes, start: bytes | None, limit: int | None, *, reverse: bool) -> None:
        cursor = self._rdict.iter()
        try:
            if not reverse:
                cursor.seek(prefix if start is None else start)
            elif start is not None:
                cursor.seek_for_prev(start)
            elif prefix:
                cursor.seek_for_prev(prefix + b"\xff" * 64)
            else:
                cursor.seek_to_last()
            step = cursor.prev if reverse else cursor.next
            while (limit is None or len(found) < limit) and cursor.valid() and cursor.key().startswith(prefix):
                found.append((cursor.key(), cursor.value()))
                step()
            cursor.status()
        finally:
            # The traceback of an error would keep them alive, and with them the lock.
            cursor = step = None  # type: ignore[assignment]


def repair(path: Path) -> None:
    """Let the engine make of the files what it can. What it cannot use it moves to a folder `lost` inside."""
    options = _options(DBRecoveryMode.skip_any_corrupted_record(), create=False)
    translated(path, lambda: Rdict.repair(str(path), options))


def _options(recovery: DBRecoveryMode, *, create: bool) -> Options:
    tables = BlockBasedOptions()
    tables.set_block_cache(_CACHE)
    options = Options(raw_mode=True)
    options.create_if_missing(create)
    options.set_wal_recovery_mode(recovery)
    options.set_block_based_table_factory(tables)
    options.set_write_buffer_size(_WRITE_BUFFER)
    options.set_arena_block_size(_ARENA)
    options.set_max_open_files(64)
    options.set_table_cache_num_shard_bits(0)
    options.set_writable_file_max_buffer_size(_FILE_BUFFER)
    options.set_max_file_opening_threads(1)
    options.set_manifest_preallocation_size(4096)
    options.set_skip_stats_update_on_db_open(True)
    options.set_keep_log_file_num(1)
    options.set_stats_dump_period_sec(0)
    options.set_stats_persist_period_sec(0)
    return options


# --- errors ------------------------------------------------------------------------------------------------

_BY_TEXT: tuple[tuple[re.Pattern[str], Fault], ...] = tuple(
    (re.compile(pattern), error)
    for pattern, error in (
        (r"No space left on device|Disk quota exceeded|File too large", StoreFull),
        (r"Permission denied|Read-only file system|Operation not permitted", StoreReadOnly),
        (r"lock hold by current process|While lock file", StoreLocked),
        (r"^IO error: No such file or directory", StoreDamaged),
        (r"^Corruption|^Invalid argument: .*does not exist|^Options should have raw_mode", StoreDamaged),
    )
)
_BY_NUMBER: Mapping[int | None, Fault] = {
    errno.ENOSPC: StoreFull,
    errno.EDQUOT: StoreFull,
    errno.EFBIG: StoreFull,
    errno.EACCES: StoreReadOnly,
    errno.EPERM: StoreReadOnly,
    errno.EROFS: StoreReadOnly,
}


def translated(path: Path, work: Callable[[], T]) -> T:
    """Do something with files, and raise nothing but `StoreError` for it."""
    try:
        return work()
    except StoreError:
        raise
    except Exception as error:  # speedict raises nothing more precise
        raise logged(_kind(error, path)(f"{path}: {error}.")) from error


def _kind(error: Exception, path: Path) -> Fault:
    if isinstance(error, OSError) and error.errno in _BY_NUMBER:
        return _BY_NUMBER[error.errno]
    # The folder's own name must not be taken for a reason.
    text = str(error).replace(str(path), "")
    return next((kind for pattern, kind in _BY_TEXT if pattern.search(text)), StoreUnavailable)

"""The store on disk: one database per user, and one for all session handles.

Users are in `speedict_user`, files in `pool`, the engine and its moods in `database` and `engine`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import attrs

from greenroom.persistence import codec, indexes, keys
from greenroom.persistence.database import Changes, Database
from greenroom.persistence.engine import translated
from greenroom.persistence.errors import StoreError
from greenroom.persistence.files import sync_files
from greenroom.persistence.names import checked_user_id
from greenroom.persistence.pool import Pool
from greenroom.persistence.records import SessionHandle, handle_digest
from greenroom.persistence.speedict_user import SpeedictUserStore, load

MAX_OPEN = 64
"""At 6 descriptors, a thread and a quarter of a megabyte each."""

_AT_ONCE = 500


class SpeedictHandles:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def put(self, handle: SessionHandle) -> None:
        database = self._pool.sessions()
        old = self._get(database, handle.digest)
        changes = Changes({keys.handle(handle.digest): codec.HANDLE.dump(handle)})
        indexes.move(changes, indexes.of_handle(old) if old else {}, indexes.of_handle(handle))
        database.write(changes)

    def find(self, handle: str) -> SessionHandle | None:
        return self._get(self._pool.sessions(), handle_digest(handle))

    def latest(self, user_id: str) -> SessionHandle | None:
        database = self._pool.sessions()
        found = database.scan(keys.of_owner(user_id), limit=1)
        return self._get(database, keys.digest_at(found[0][0])) if found else None

    def forget(self, handle: str) -> bool:
        database = self._pool.sessions()
        old = self._get(database, handle_digest(handle))
        if old is not None:
            self._forget(database, [old])
        return old is not None

    def expire(self, before: int) -> int:
        database, count = self._pool.sessions(), 0
        while True:
            found = [key for key, _ in database.scan(keys.BY_LAST_USE, limit=_AT_ONCE)]
            old = [key for key in found if keys.time_of_last_use(key) < before]
            self._forget(database, self._at(database, old), old)
            count += len(old)
            if len(old) < _AT_ONCE:
                return count

    def forget_all_of(self, user_id: str) -> None:
        database = self._pool.sessions()
        found = [key for key, _ in database.scan(keys.of_owner(user_id))]
        if found:
            self._forget(database, self._at(database, found), found)
            database.compact()

    def __len__(self) -> int:
        return len(self._pool.sessions().scan(keys.HANDLE))

    def _get(self, database: Database, digest: str) -> SessionHandle | None:
        data = database.get(keys.handle(digest))
        return None if data is None else load(codec.HANDLE, data, database)

    def _at(self, database: Database, places: list[bytes]) -> list[SessionHandle]:
        found = (self._get(database, keys.digest_at(place)) for place in places)
        return [handle for handle in found if handle is not None]

    def _forget(self, database: Database, handles: list[SessionHandle], entries: list[bytes] | None = None) -> None:
        """`entries` go too, whatever they point at: expiry must get past an index entry without a handle."""
        changes = Changes(deletes=list(entries or ()))
        for handle in handles:
            changes.deletes += [keys.handle(handle.digest), *indexes.of_handle(handle)]
        if changes.deletes:
            database.write(changes)


@attrs.frozen
class _Lent:
    """Stands in for the pool as long as somebody takes a glance."""

    _database: Database | None

    def database(self, user_id: str, *, create: bool = False) -> Database | None:
        return self._database


class SpeedictStore:
    def __init__(
        self,
        folder: Path,
        *,
        max_open: int = MAX_OPEN,
        on_dirty: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is opened or made before it is needed.

        `on_dirty` is called when a database in which all was synced has been written: the owner then calls `sync`, as
        soon as its settings say.
        """
        self.pool = Pool(folder, max_open, clock, on_dirty)
        self.handles = SpeedictHandles(self.pool)

    def user(self, user_id: str) -> SpeedictUserStore:
        return SpeedictUserStore(self.pool, checked_user_id(user_id))

    def keeps(self, user_id: str) -> bool:
        return self.pool.keeps(checked_user_id(user_id))

    @contextmanager
    def glance(self, user_id: str) -> Iterator[SpeedictUserStore]:
        with self.pool.glance(checked_user_id(user_id)) as database:
            yield SpeedictUserStore(_Lent(database), user_id)

    def at_hand(self, user_id: str) -> bool:
        return self.pool.at_hand(user_id)

    def preparing(self, user_id: str) -> Iterator[Callable[[], None]]:
        return self.pool.preparing(checked_user_id(user_id))

    def users(self) -> Iterator[str]:
        return self.pool.users()

    def purge(self, user_id: str) -> None:
        self.handles.forget_all_of(user_id)
        self.pool.remove(user_id)

    @property
    def dirty(self) -> bool:
        return bool(self.pool.dirty())

    def sync(self, user_id: str | None = None) -> None:
        """Every database gets its chance. The first error is raised when all have had it."""
        errors: list[StoreError] = []
        for database in self.pool.dirty(user_id):
            try:
                database.sync()
            except StoreError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def syncing(self) -> Callable[[], None]:
        """Done to the files and not through the engine, which would hold up all other threads meanwhile."""
        waiting = {database: database.unsynced_files() for database in self.pool.dirty()}

        def sync() -> None:
            errors: list[StoreError] = []
            for database, files in waiting.items():
                try:
                    translated(database.path, partial(sync_files, files))
                except StoreError as error:
                    database.dirty = True
                    errors.append(error)
            if errors:
                raise errors[0]

        return sync

    def close(self) -> None:
        self.pool.close()

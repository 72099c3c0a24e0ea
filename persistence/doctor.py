"""Looks after databases that something has happened to. Returns what it found; prints nothing.

`examine` only looks, and may do so while a server runs, though what that server writes meanwhile may seem amiss.
`repair` needs the databases to itself. It never throws anything away: a database that had to be made anew leaves the
old one in the folder `set-aside` beside it. Two things cannot be mended, and are reported for what they are: turns
whose bytes are gone, and records of a later release, which are left alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import attrs

from greenroom.persistence import engine as engines
from greenroom.persistence import keys
from greenroom.persistence.census import Census, HandleCensus, UserCensus
from greenroom.persistence.database import SET_ASIDE, open_for_writing
from greenroom.persistence.engine import Engine, Pair, translated
from greenroom.persistence.errors import StoreDamaged, StoreError
from greenroom.persistence.manifest import check_manifest
from greenroom.persistence.names import SESSIONS
from greenroom.persistence.pool import FORMAT_VERSION, FRESH, check_format, finish_repair, homes, owner

_AT_ONCE = 500


@attrs.frozen
class Checkup:
    """One database."""

    folder: Path
    user_id: str | None
    """None for the sessions, and for a user whose name cannot be read."""
    conversations: int = 0
    turns: int = 0
    handles: int = 0
    problems: tuple[str, ...] = ()
    lost_turns: int = 0
    """Turns of which only the number is left, however long ago they went."""
    repaired: bool = False
    notes: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        return not self.problems


def examine(folder: Path) -> tuple[Checkup, ...]:
    """Every database under the folder of a store."""
    return tuple(_examined(home) for home in _all(folder))


def repair(folder: Path) -> tuple[Checkup, ...]:
    """The same, but those with problems are mended; a checkup then says what was wrong, and how things are now."""
    return tuple(_mended(home, before) for home, before in ((home, _examined(home)) for home in _all(folder)))


def _all(folder: Path) -> Iterator[Path]:
    yield from homes(folder)
    if (folder / SESSIONS).is_dir():
        yield folder / SESSIONS


# --- looking -----------------------------------------------------------------------------------------------


def _examined(home: Path) -> Checkup:
    census = _new_census(home)
    problems: list[str] = []
    if (home / "db").is_dir():
        try:
            check_manifest(home / "db")
            engine = Engine(home / "db", read_only=True)
        except StoreError as error:
            return _checkup(home, census, [error.detail])
        try:
            check_format(engine.get(keys.FORMAT), home / "db")
            for part in _in_parts(engine):
                census.add(part)
        except StoreError as error:
            problems.append(error.detail)
        finally:
            engine.close()
    census.close()
    return _checkup(home, census, problems)


def _in_parts(engine: Engine) -> Iterator[list[Pair]]:
    start: bytes | None = None
    while True:
        part = [pair for pair in engine.scan(b"", start, _AT_ONCE + 1, reverse=False) if pair[0] != start]
        yield part
        if len(part) < _AT_ONCE:
            return
        start = part[-1][0]


def _new_census(home: Path) -> UserCensus | HandleCensus:
    return HandleCensus() if home.name == SESSIONS else UserCensus()


def _checkup(home: Path, census: UserCensus | HandleCensus, problems: list[str]) -> Checkup:
    found = [*problems, *(f"{sentence} ({count} times)" for sentence, count in census.problems.items())]
    aside = home / SET_ASIDE
    notes = (f"{len(list(aside.iterdir()))} things that could not be used are in {aside}",) if aside.is_dir() else ()
    if isinstance(census, HandleCensus):
        return Checkup(home, None, handles=len(census.handles), problems=tuple(found), notes=notes)
    user_id = owner(home)
    if user_id is None:
        found.append("user.json does not say whose this is; it is written again when the user comes back")
    return Checkup(
        home,
        user_id,
        conversations=len(census.conversations),
        turns=len(census.turns),
        problems=tuple(found),
        lost_turns=census.lost_turns,
        notes=notes,
    )


# --- mending -----------------------------------------------------------------------------------------------


def _mended(home: Path, before: Checkup) -> Checkup:
    translated(home, lambda: finish_repair(home))
    if before.healthy or not (home / "db").is_dir():
        return before
    census = _new_census(home)
    try:
        census.add(_everything_readable(home / "db"))
        census.close()
        if census.too_new:
            return before
        translated(home, lambda: _put_in_place(home, census))
    except StoreError as error:
        return attrs.evolve(before, problems=(*before.problems, error.detail))
    after = _examined(home)
    return attrs.evolve(after, problems=before.problems, repaired=after.healthy)


def _everything_readable(path: Path) -> list[Pair]:
    try:
        engine = open_for_writing(path)
    except StoreDamaged:
        return _after_the_engine_repaired_a_copy(path)
    try:
        check_format(engine.get(keys.FORMAT), path)
        return engine.salvage()[0]
    finally:
        engine.close()


def _after_the_engine_repaired_a_copy(path: Path) -> list[Pair]:
    copy = path.with_name("db.copy")
    shutil.rmtree(copy, ignore_errors=True)
    translated(copy, lambda: shutil.copytree(path, copy))
    try:
        engines.repair(copy)
        engine = Engine(copy)
        try:
            return engine.salvage()[0]
        finally:
            engine.close()
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def _put_in_place(home: Path, census: Census) -> None:
    fresh, aside = home / FRESH, home / SET_ASIDE
    shutil.rmtree(fresh, ignore_errors=True)
    engine = Engine(fresh, create=True)
    try:
        contents = list(census.contents().items())
        for start in range(0, len(contents), _AT_ONCE):
            engine.write(dict(contents[start : start + _AT_ONCE]), ())
        engine.write({keys.FORMAT: b"%d" % FORMAT_VERSION}, ())
        engine.sync()
    finally:
        engine.close()
    aside.mkdir(exist_ok=True)
    (home / "db").rename(aside / f"db-{len(list(aside.iterdir()))}")
    fresh.rename(home / "db")

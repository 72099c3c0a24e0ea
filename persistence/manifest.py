"""Whether a database still knows of everything that it holds. Reads a few hundred bytes, and opens nothing.

The engine writes down in its MANIFEST which tables there are, and from which log on there is something in no table
yet. A MANIFEST that has lost its end is taken by the engine for an older one: it does not complain, it forgets the
newest tables, and once it may write it deletes them. So this is asked before. A log is removed only after the
MANIFEST has gone on to the next one, whenever the process is killed: if the log that was being written according to
the MANIFEST is gone, then what the MANIFEST said after that is gone too. Tables that nobody knows of prove nothing,
for a kill in the middle of writing one leaves just that.

The format is the engine's own: records in blocks, each an edit of tagged fields, of which the number of the log is
among the first. What cannot be understood is left for the engine to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from greenroom.persistence.errors import StoreDamaged, logged

_BLOCK = 32 * 1024
_HEADER = 7
_WHOLE, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4

_COMPARATOR, _LOG_NUMBER = 1, 2
_NUMBERS = (3, 4, 9, 10, 203)
_IGNORABLE = 1 << 13
"""Tags with this bit carry their length with them."""

_NAME = re.compile(rb"MANIFEST-([0-9]{1,18})\n?")


def check_manifest(path: Path) -> None:
    """Raises `StoreDamaged` if the MANIFEST of this database has lost its end, and says nothing to other damage."""
    try:
        named = _NAME.fullmatch((path / "CURRENT").read_bytes())
        if named is None:
            return
        manifest = path / named[0].decode().strip()
        number, written = int(named[1]), log_number(manifest.read_bytes())
    except OSError:
        return
    if written is not None and not _is_there(path, written, number):
        detail = f"{manifest}: it has lost its end, and with it the newest tables: the log from {written} on is gone."
        raise logged(StoreDamaged(detail))


def _is_there(path: Path, written: int, manifest: int) -> bool:
    """The log that is written when a database is opened is made just before its MANIFEST, and numbered so."""
    if manifest <= 1:
        # There was none yet: it was being made.
        return True
    wanted = range(written, max(written, manifest) + 1)
    return any(int(each.stem) in wanted for each in path.glob("*.log") if each.stem.isdecimal())


def log_number(data: bytes) -> int | None:
    """What the last edit that has one says; None if none has."""
    found: int | None = None
    for record in _records(data):
        found = _log_number_of(record, found)
    return found


def _records(data: bytes) -> Iterator[bytes]:
    """Up to the first that is not whole."""
    place, parts = 0, b""
    while place + _HEADER <= len(data):
        left = _BLOCK - place % _BLOCK
        if left < _HEADER:
            place += left
            continue
        size, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        body = data[place + _HEADER : place + _HEADER + size]
        if len(body) < size or kind not in (_WHOLE, _FIRST, _MIDDLE, _LAST):
            return
        parts = body if kind in (_WHOLE, _FIRST) else parts + body
        if kind in (_WHOLE, _LAST):
            yield parts
        place += _HEADER + size


def _log_number_of(edit: bytes, otherwise: int | None) -> int | None:
    place = 0
    while place < len(edit):
        tag, place = _varint(edit, place)
        if tag == _LOG_NUMBER:
            return _varint(edit, place)[0]
        if tag == _COMPARATOR or tag & _IGNORABLE:
            size, place = _varint(edit, place)
            place += size
        elif tag in _NUMBERS:
            _, place = _varint(edit, place)
        else:
            # From here on it is about tables.
            return otherwise
    return otherwise


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number, and the place after it."""
    value = shift = 0
    while place < len(data):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            break
    return value, place

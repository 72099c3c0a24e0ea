"""A new database before the engine has seen it: the few files that it would begin with, written by us.

The engine holds up the whole process while it opens a database, and to make one it waits for the disk ten times: five
times for these files, and five times for what every opening writes. These are what the engine itself leaves if it is
killed in the middle of making a database, so it goes on from there; and they can be written in another thread, which
waits for the disk without holding up anybody. They appear under their name all at once, or not at all.
"""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from greenroom.persistence.files import sync_files

_UNFINISHED = "db.new"
"""Beside the database. One that a crash left behind is in nobody's way, and goes with the next attempt."""

_MANIFEST = "MANIFEST-000001"
_NO_TABLES = bytes.fromhex("c4c19f5b 0600 01 0200 0302 0400")
"""A record of the engine's own format: checksum, length, and that it is whole; then that there is no log yet, that the
next file is the second, and that nothing has been written. See `manifest`."""


def lay_out(path: Path) -> None:
    """Unless something is there. Returns when it would survive a loss of power, but for its parent's name."""
    if path.exists():
        return
    fresh = path.with_name(_UNFINISHED)
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    files = {fresh / name: data for name, data in _first_files().items()}
    for file, data in files.items():
        file.write_bytes(data)
    sync_files((*files, fresh))
    fresh.rename(path)
    sync_files((path.parent,))


def _first_files() -> dict[str, bytes]:
    return {
        "IDENTITY": str(uuid.uuid4()).encode(),
        _MANIFEST: _NO_TABLES,
        "CURRENT": f"{_MANIFEST}\n".encode(),
    }

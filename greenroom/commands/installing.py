"""`install`: tell an AI client where the server is, in the client's own file, without harm to anything else in it.

The new file is written beside the old one and takes its name in one step; the old one stays beside it as a backup.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from greenroom.commands.clients import CLIENTS, Machine
from greenroom.commands.codes import FAILED
from greenroom.commands.merging import AlreadyThere, CannotMerge, merge
from greenroom.commands.screen import fail
from greenroom.config.cli import Install


def install(command: Install) -> int:
    client = CLIENTS[command.client]
    file = _real_file(command, Machine(sys.platform, Path.home(), os.environ))
    try:
        before = _read(file)
        after = merge(before or b"", client.key, command.name, client.entry(_url(command)), replace=command.force)
        if command.dry_run:
            return _print(file, after)
        if after == before:
            print(f"{client.title} knows the server already: nothing was changed in {file}.")
            return 0
        backup = replace(file, before, after)
    except AlreadyThere as error:
        fail(f"{file} {error}. --force replaces it, and --name gives this one another name. Nothing was changed.")
        return FAILED
    except CannotMerge as error:
        fail(f"{file} {error}. Nothing was changed: mend it, or add the entry by hand (see README.md).")
        return FAILED
    except OSError as error:
        fail(f"{error.filename or file}: {error.strerror or error}. Nothing was changed.")
        return FAILED
    kept = f" What was there before is in {backup}." if backup is not None else ""
    print(f"Added {command.name!r} to {file}.{kept}\n{client.afterwards}")
    return 0


def replace(file: Path, before: bytes | None, after: bytes) -> Path | None:
    """Put the new content in the place of the old one; the backup, if there was anything to keep.

    Raises `CannotMerge` if somebody else has written the file since it was read.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    backup = None if before is None else _back_up(file, before)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as part:
        try:
            part.write(after)
            part.flush()
            os.fsync(part.fileno())
            # A new file is for its owner alone, which is how a temporary one is made.
            if before is not None:
                os.chmod(part.name, file.stat().st_mode & 0o7777)
            if _read(file) != before:
                raise CannotMerge("was changed by somebody else at the same moment: try again")
            Path(part.name).replace(file)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            if backup is not None:
                backup.unlink(missing_ok=True)
            raise
    return backup


def _back_up(file: Path, before: bytes) -> Path:
    """A copy beside it, under a name that nothing has yet."""
    mode = file.stat().st_mode & 0o7777
    number = 0
    while True:
        backup = file.with_name(f"{file.name}.backup{f'-{number}' if number else ''}")
        try:
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(descriptor, "wb") as copy:
            copy.write(before)
        os.chmod(backup, mode)
        return backup


def _real_file(command: Install, machine: Machine) -> Path:
    """Where the file really is: a link to it stays a link."""
    named = command.file or Path(CLIENTS[command.client].file(machine))
    return Path(os.path.realpath(named))


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _url(command: Install) -> str:
    if command.url is not None:
        return command.url
    from greenroom.config.settings import load_settings

    return f"{load_settings().public_url}/mcp"


def _print(file: Path, content: bytes) -> int:
    # The place on stderr, so that stdout is the file and nothing else.
    print(f"This is what {file} would be:", file=sys.stderr)
    sys.stdout.flush()
    sys.stdout.buffer.write(content if content.endswith(b"\n") else content + b"\n")
    sys.stdout.buffer.flush()
    return 0

"""The commands that look after the conversations that are kept, while no server has them open."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from greenroom.commands.codes import FAILED
from greenroom.config.cli import Administration, Doctor, Export, Forget, Import, Purge

if TYPE_CHECKING:
    from greenroom.persistence.administration import Counts
    from greenroom.persistence.doctor import Checkup
    from greenroom.persistence.speedict_store import SpeedictStore

T = TypeVar("T")


def administer(folder: Path, command: Administration) -> int:
    from greenroom.persistence.errors import StoreError

    _show_warnings()
    try:
        match command:
            case Export(output):
                return _export(folder, output)
            case Import(file):
                return _import(folder, file)
            case Purge(user_id):
                return _purge(folder, user_id)
            case Forget(older_than):
                return _forget(folder, older_than)
            case Doctor(repair):
                return _doctor(folder, repair=repair)
    except StoreError as error:
        return _fail(error.detail or error.message)
    except BrokenPipeError:
        # Whoever read our output has had enough. Python would complain when it closes it at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _fail(str(error))


def _export(folder: Path, output: Path | None) -> int:
    from greenroom.persistence.administration import export_all
    from greenroom.persistence.codec import dump_json

    if not folder.is_dir():
        # Not an empty export: that would be taken for a backup.
        return _fail(f"There is no folder {folder}, so there is nothing to export.")
    count = 0
    with _opened(folder) as store, _writing(output) as file:
        for line in _with_progress(export_all(store), "lines"):
            file.write(dump_json(line) + b"\n")
            count += 1
    if output is not None:
        print(f"Exported {_so_many(count, 'line')} to {output}.")
    return 0


def _import(folder: Path, file: Path) -> int:
    from greenroom.persistence.administration import import_step, read_lines, total

    with file.open("rb") as lines, _opened(folder) as store:
        added = total(_with_progress(import_step(store, read_lines(lines)), "lines"))
    print(f"Imported what was new: {_summary(added)}.")
    return 0


def _purge(folder: Path, user_id: str) -> int:
    from greenroom.persistence.administration import purge_user

    known = False
    if folder.is_dir():
        with _opened(folder) as store:
            known = purge_user(store, user_id)
    if not known:
        return _fail(f"Nothing is kept of {user_id!r} in {folder}.")
    print(f"Removed everything that was kept of {user_id!r}.")
    return 0


def _forget(folder: Path, days: float) -> int:
    from greenroom.persistence.administration import Counts, before_days, forget_step, total

    gone = Counts()
    if folder.is_dir():
        before = before_days(round(time.time() * 1000), days)
        with _opened(folder) as store:
            gone = total(_with_progress(forget_step(store, before), "steps"))
    print(f"Forgot what was older than {_so_many(days, 'day')}: {_summary(gone)}.")
    return _fail(f"{_so_many(gone.failed, 'user')} could not be reached; see above.") if gone.failed else 0


def _doctor(folder: Path, *, repair: bool) -> int:
    from greenroom.persistence import doctor
    from greenroom.persistence.names import SESSIONS

    if not folder.is_dir():
        print(f"There is no folder {folder} yet, so nothing is kept.")
        return 0
    found = doctor.examine(folder)
    if any(each.healthy and each.folder.name == SESSIONS for each in found):
        # Only now, and only this one: opening a database that is damaged may change it.
        with _opened(folder):
            pass
    if repair:
        found = doctor.repair(folder)
    for checkup in found:
        print("\n".join(_lines_of(checkup)))
    return _verdict(found, repair=repair)


def _verdict(found: Sequence[Checkup], *, repair: bool) -> int:
    """Whether all is well now, for a script that asks; and a last line for the reader, if anything was not."""
    wrong = [checkup for checkup in found if not checkup.healthy]
    left = [checkup for checkup in wrong if not checkup.repaired]
    if left and repair:
        print(f"Repaired {len(wrong) - len(left)} of {_so_many(len(wrong), 'database')} with problems.")
    elif left:
        print("Stop the server and run `greenroom doctor --repair`: it mends what can be mended.")
    elif wrong:
        print(f"Repaired everything that was wrong, in {_so_many(len(wrong), 'database')}.")
    return FAILED if left else 0


def _lines_of(checkup: Checkup) -> Iterator[str]:
    from greenroom.persistence.names import SESSIONS

    if checkup.folder.name == SESSIONS:
        whose, held = "sessions", _so_many(checkup.handles, "handle")
    else:
        whose = f"user {checkup.user_id!r}" if checkup.user_id is not None else f"folder {checkup.folder.name}"
        held = f"{_so_many(checkup.conversations, 'conversation')}, {_so_many(checkup.turns, 'turn')}"
    mended = ", repaired" if checkup.repaired else ""
    state = "healthy" if checkup.healthy else f"{_so_many(len(checkup.problems), 'problem')}{mended}"
    yield f"{whose}: {held}; {state}"
    found = "repaired" if checkup.repaired else "problem"
    yield from (f"  {found}: {_on_one_line(each)}" for each in checkup.problems)
    if checkup.lost_turns:
        yield f"  note: {_so_many(checkup.lost_turns, 'turn')} cannot be had back"
    yield from (f"  note: {each}" for each in checkup.notes)


# --- what they share ---------------------------------------------------------------------------------------


@contextmanager
def _opened(folder: Path) -> Iterator[SpeedictStore]:
    """The store, all to ourselves: a server that runs has the database of sessions open from its start to its end."""
    from greenroom.persistence.speedict_store import SpeedictStore

    store = SpeedictStore(folder)
    try:
        store.handles.find("")
        yield store
        store.sync()
    finally:
        store.close()


@contextmanager
def _writing(output: Path | None) -> Iterator[IO[bytes]]:
    """Where an export goes. A file gets its name when it is complete, and only its owner may read it."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif output.exists() and not output.is_file():
        with output.open("wb") as file:
            yield file
    else:
        with tempfile.NamedTemporaryFile(dir=output.parent, prefix=f".{output.name}.", delete=False) as part:
            try:
                yield part.file
                part.flush()
                os.fsync(part.fileno())
                Path(part.name).replace(output)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise


def _with_progress(steps: Iterable[T], what: str) -> Iterator[T]:
    """Tells a terminal, and nobody else, how far it is."""
    count, shown = 0, sys.stderr.isatty()
    for count, step in enumerate(steps, start=1):
        yield step
        if shown and count % 1000 == 0:
            print(f"\r{count} {what}", end="", file=sys.stderr, flush=True)
    if shown:
        print(f"\r{count} {what}", file=sys.stderr)


def _show_warnings() -> None:
    """On stderr, as they are. What an error says in the log is left out: it is printed when it arrives here."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(lambda record: record.name != "greenroom.persistence.errors")
    logging.getLogger().addHandler(handler)


def _fail(sentence: str) -> int:
    print(_on_one_line(sentence), file=sys.stderr)
    return FAILED


def _on_one_line(sentence: str) -> str:
    return " ".join(sentence.splitlines())


def _summary(counts: Counts) -> str:
    said = f"{_so_many(counts.conversations, 'conversation')} and {_so_many(counts.turns, 'turn')}"
    return f"{said} of {_so_many(counts.users, 'user')}"


def _so_many(count: float, what: str) -> str:
    return f"{count:g} {what}" if count == 1 else f"{count:g} {what}s"

"""What is shown: colour and a bar on a terminal, plain lines everywhere else.

A terminal that wants no colour (NO_COLOR, TERM=dumb) is given the plain lines too. Text that comes from a server is
stripped of control characters: they could do anything to a terminal.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Screen(Protocol):
    def line(self, text: str, style: str = "") -> None: ...

    def progress(self, done: float, total: float | None, message: str | None) -> None: ...

    def settle(self) -> None:
        """Whatever was shown only for the time being goes."""


def screen_for(stream: TextIO) -> Screen:
    return _Terminal(stream) if is_fancy(stream) else _Plain(stream)


def is_fancy(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    # Windows line ends are no reason to show anything odd.
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def counted(done: float, total: float | None, message: str | None) -> str:
    """One line of progress, as a pipe is told it."""
    share = f"[{done:g}/{total:g}]" if total is not None else "..."
    return f"{share} {message}".strip() if message else f"[{done:g}]" if total is None else share


class _Plain:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def line(self, text: str, style: str = "") -> None:
        # What the stream's encoding cannot say must not end the program.
        encoding = self._stream.encoding or "utf-8"
        sayable = printable(text).encode(encoding, "replace").decode(encoding)
        print(sayable, file=self._stream, flush=True)

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        self.line(counted(done, total, message))

    def settle(self) -> None:
        pass


class _Terminal:
    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console

        self._console: Console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def line(self, text: str, style: str = "") -> None:
        self._console.print(printable(text), style=style or None)

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        if total is None:
            # A step of something whose length nobody knows is worth a line of its own.
            self.line(f"  {message or counted(done, total, message)}", "dim")
            return
        if self._bar is None:
            self._bar, self._task = self._new_bar()
        assert self._task is not None
        self._bar.update(self._task, completed=done, total=total, description=printable(message or ""), refresh=True)

    def _new_bar(self) -> tuple[Progress, TaskID]:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False))
        bar = Progress(*columns, console=self._console, transient=True)
        bar.start()
        return bar, bar.add_task("", total=None)

    def settle(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None


def keep_libraries_quiet() -> None:
    """What a library logs is no part of a conversation; without a handler Python prints it to stderr."""
    logging.getLogger().addHandler(logging.NullHandler())


def fail(sentence: str) -> None:
    """What went wrong, on stderr."""
    screen_for(sys.stderr).line(sentence, "red")

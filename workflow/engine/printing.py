"""What a command prints goes to the log, not to our standard output.

Whose output it is, is known by a context variable, so that commands in other threads and the server itself are not
concerned. A process that a command starts, or a thread of its own, writes where it always did.
"""

from __future__ import annotations

import contextvars
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

log = logging.getLogger("greenroom.command")

_MAX_LINES = 200
_MAX_WIDTH = 2000
"""A command that prints without end must not fill the log."""


class _Sink:
    """The lines of one call."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._pending = ""
        self._lines = 0

    def write(self, text: str) -> None:
        *lines, self._pending = (self._pending + text).split("\n")
        for line in lines:
            self._log(line)
        self._pending = self._pending[: _MAX_WIDTH + 1]

    def close(self) -> None:
        if self._pending:
            self._log(self._pending)
        if self._lines > _MAX_LINES:
            log.warning("%s printed %d more lines, which are not shown", self._command, self._lines - _MAX_LINES)

    def _log(self, line: str) -> None:
        self._lines += 1
        if self._lines > _MAX_LINES:
            return
        shown = line if len(line) <= _MAX_WIDTH else f"{line[:_MAX_WIDTH]}..."
        # A log that goes to standard output must not come back here.
        token = _sink.set(None)
        try:
            log.info("%s printed: %s", self._command, shown)
        finally:
            _sink.reset(token)


_sink: contextvars.ContextVar[_Sink | None] = contextvars.ContextVar("_sink", default=None)


class _Switch:
    """Stands in for `sys.stdout` and passes on whatever is not a command's."""

    def __init__(self, real: TextIO) -> None:
        self._real = real

    def write(self, text: str) -> int:
        sink = _sink.get()
        if sink is None:
            return self._real.write(text)
        sink.write(str(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@contextmanager
def printed_by(command: str) -> Iterator[None]:
    # Looked at for every call: whoever replaces sys.stdout meanwhile must find their own replacement underneath.
    if not isinstance(cast(object, sys.stdout), _Switch):
        sys.stdout = cast(TextIO, _Switch(sys.stdout))
    sink = _Sink(command)
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)
        sink.close()

"""Structured logs: a JSON object per line, or plain text for a person at a terminal."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, TextIO

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def extras(record: logging.LogRecord) -> dict[str, Any]:
    """What the caller passed as `extra`."""
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def _when(record: logging.LogRecord) -> str:
    return _stamp(record.created)


def _stamp(moment: float) -> str:
    return f"{_second(int(moment))}.{int(moment % 1 * 1000):03d}Z"


@lru_cache(maxsize=2)
def _second(moment: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _when(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **extras(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        try:
            return json.dumps(line, default=str, allow_nan=False)
        except ValueError:
            return json.dumps({key: str(value) for key, value in line.items()})


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        more = " ".join(f"{key}={value}" for key, value in extras(record).items())
        line = f"{_when(record)} {record.levelname.lower():<8}{record.name}: {record.getMessage()} {more}".rstrip()
        # One record, one line: what a client sent must not be able to begin another.
        line = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class LineHandler(logging.StreamHandler[TextIO]):
    """Writes to one stream. For the line that every request leaves there is a way that does not go through `logging`,
    which takes several times as long for the same bytes."""

    @classmethod
    def sole(cls, logger: logging.Logger) -> LineHandler | None:
        """The one handler that a record of this logger would reach, if it is one of these and would let it pass."""
        found: logging.Handler | None = None
        node: logging.Logger | None = logger
        while node is not None:
            for handler in node.handlers:
                if found is not None or node.filters:
                    return None
                found = handler
            node = node.parent if node.propagate else None
        if type(found) is not cls or type(found.formatter) is not JsonFormatter or found.filters or logger.filters:
            return None
        return found if found.level <= logging.INFO else None

    def write_info(self, beginning: str, end: str) -> None:
        """A line that `JsonFormatter` would have made, but for its fields, which come as they are to be written."""
        line = f'{{"time": "{_stamp(time.time())}", "level": "info", {beginning}, {end}}}\n'
        try:
            with self.lock or nullcontext():
                self.stream.write(line)
                self.flush()
        except Exception:
            self.handleError(logging.makeLogRecord({"msg": "a line could not be written", "levelno": logging.INFO}))


def configure_logging(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send everything to one handler on stderr. `form` is "json", "text" or "auto": text on a terminal."""
    out = stream or sys.stderr
    as_text = form == "text" or (form == "auto" and out.isatty())
    handler = LineHandler(out)
    handler.setFormatter(TextFormatter() if as_text else JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())

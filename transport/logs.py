"""Structured logs: a JSON object per line, or plain text for a person at a terminal."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any, TextIO

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def extras(record: logging.LogRecord) -> dict[str, Any]:
    """What the caller passed as `extra`."""
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def _when(record: logging.LogRecord) -> str:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{stamp}.{int(record.msecs):03d}Z"


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


def configure_logging(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send everything to one handler on stderr. `form` is "json", "text" or "auto": text on a terminal."""
    out = stream or sys.stderr
    as_text = form == "text" or (form == "auto" and out.isatty())
    handler = logging.StreamHandler(out)
    handler.setFormatter(TextFormatter() if as_text else JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())

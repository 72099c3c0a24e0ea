"""Structured logs, for machines and for a person at a terminal."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from greenroom.transport.logs import JsonFormatter, TextFormatter, configure_logging, extras


def record(message: str = "hello %s", *args: object, **more: Any) -> logging.LogRecord:
    made = logging.LogRecord("greenroom.test", logging.WARNING, "file.py", 7, message, args, None)
    made.created, made.msecs = 1700000000.25, 250.0
    vars(made).update(more)
    return made


def failed() -> logging.LogRecord:
    made = record("it broke")
    try:
        raise ValueError("swordfish")
    except ValueError:
        made.exc_info = sys.exc_info()
    return made


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, put back as it was afterwards."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_json_record_is_one_object_on_one_line() -> None:
    line = JsonFormatter().format(record("hello %s", "w\norld", session="abc", count=3))
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "warning",
        "logger": "greenroom.test",
        "message": "hello w\norld",
        "session": "abc",
        "count": 3,
    }


def test_a_json_record_has_the_trace_of_its_exception() -> None:
    line = JsonFormatter().format(failed())
    assert len(line.splitlines()) == 1
    told = json.loads(line)
    assert told["message"] == "it broke"
    assert "Traceback" in told["exception"]
    assert "ValueError: swordfish" in told["exception"]


def test_a_json_record_spells_out_what_json_does_not_have() -> None:
    class Thing:
        def __str__(self) -> str:
            return "a thing"

    assert json.loads(JsonFormatter().format(record("x", thing=Thing(), raw=b"a")))["thing"] == "a thing"


def test_a_json_record_is_json_whatever_its_extras() -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    json.loads(JsonFormatter().format(record("x", ratio=float("nan"))), parse_constant=refuse)


def test_a_text_record_is_a_line_to_read() -> None:
    line = TextFormatter().format(record("hello %s", "world", session="abc", count=3))
    assert line == "2023-11-14T22:13:20.250Z warning greenroom.test: hello world session=abc count=3"


def test_a_text_record_without_extras_has_no_trailing_blank() -> None:
    assert TextFormatter().format(record("hello")).endswith("greenroom.test: hello")


def test_a_text_record_has_the_trace_of_its_exception_on_the_lines_below() -> None:
    first, *rest = TextFormatter().format(failed()).splitlines()
    assert first.endswith("it broke")
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "ValueError: swordfish"


def test_a_text_record_is_one_line_whatever_its_extras_hold() -> None:
    line = TextFormatter().format(record("request", path="/x\n2023-11-14T22:13:20.250Z info    root: all is well"))
    assert len(line.splitlines()) == 1


def test_only_what_was_passed_as_extra_is_an_extra() -> None:
    assert extras(record("x")) == {}
    made = record("x", session="abc", taskName="t", asctime="now")
    made.message = "as another formatter left it"
    assert extras(made) == {"session": "abc"}


@pytest.mark.parametrize(
    ("form", "stream", "is_json"),
    [
        ("json", io.StringIO, True),
        ("json", Terminal, True),
        ("text", io.StringIO, False),
        ("text", Terminal, False),
        ("auto", io.StringIO, True),
        ("auto", Terminal, False),
    ],
)
def test_the_form_is_as_told_and_by_itself_text_on_a_terminal(
    root: logging.Logger, form: str, stream: type[io.StringIO], is_json: bool
) -> None:
    out = stream()
    configure_logging("info", form, out)
    logging.getLogger("greenroom.somewhere").info("hello", extra={"a": 1})
    assert out.getvalue().startswith("{") == is_json
    assert len(root.handlers) == 1


def test_what_is_below_the_level_is_not_written(root: logging.Logger) -> None:
    out = io.StringIO()
    configure_logging("warning", "text", out)
    logging.getLogger("greenroom").info("quiet")
    logging.getLogger("greenroom").warning("loud")
    assert re.findall("quiet|loud", out.getvalue()) == ["loud"]


def test_configuring_twice_does_not_write_twice(root: logging.Logger) -> None:
    out = io.StringIO()
    configure_logging("info", "json", out)
    configure_logging("info", "json", out)
    logging.getLogger("greenroom").info("once")
    assert len(out.getvalue().splitlines()) == 1

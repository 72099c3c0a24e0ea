"""The line that a request leaves in the log is the same whether it went through `logging` or past it."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.transport.logs import JsonFormatter, LineHandler, configure_logging
from greenroom.transport.requestlog import RequestRecord, log

_TIME = re.compile(r'"time": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"')
_DURATION = re.compile(r'"duration_ms": [0-9.e-]+')


@contextmanager
def logging_to(stream: io.StringIO) -> Iterator[logging.Handler]:
    """As `greenroom serve` logs: one handler, and none of those that pytest puts there for every test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logging("info", "json", stream)
    try:
        yield root.handlers[0]
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def line(record: RequestRecord, *, long_way: bool = False) -> str:
    stream = io.StringIO()
    with logging_to(stream) as handler:
        if long_way:
            handler.addFilter(_pass)
        assert (LineHandler.sole(log) is None) == long_way
        record.write()
    return _DURATION.sub('"duration_ms": *', _TIME.sub('"time": *', stream.getvalue()))


def _pass(record: logging.LogRecord) -> bool:
    return True


WORDS = st.one_of(st.sampled_from(["POST", "/mcp", "tools/call", "recall"]), st.text(max_size=8))


@settings(max_examples=300, deadline=None)
@given(
    method=WORDS,
    path=WORDS,
    rpc_method=st.one_of(st.none(), WORDS),
    tool=st.one_of(st.none(), WORDS),
    status=st.one_of(st.none(), st.integers(100, 599)),
    client_gone=st.booleans(),
)
def test_both_ways_write_the_same_line(**fields: Any) -> None:
    async def compare() -> None:
        record = RequestRecord(request_id="r-1", started=trio.current_time(), **fields)
        short, long = line(record), line(record, long_way=True)
        assert short == long
        assert short.count("\n") == 1

    trio.run(compare)


async def test_a_request_is_written_with_everything_that_is_known_of_it() -> None:
    record = RequestRecord("POST", "/mcp", "r-1", trio.current_time(), 200, "tools/call", "recall")
    assert line(record) == (
        '{"time": *, "level": "info", "logger": "greenroom.request", "message": "request", "method": "POST", '
        '"path": "/mcp", "rpc_method": "tools/call", "tool": "recall", "status": 200, "duration_ms": *, '
        '"request_id": "r-1"}\n'
    )


async def test_a_level_above_it_silences_it() -> None:
    record = RequestRecord("GET", "/healthz", "r-1", trio.current_time(), 200)
    log.setLevel("WARNING")
    try:
        assert line(record) == ""
    finally:
        log.setLevel(logging.NOTSET)


async def test_another_handler_gets_it_too() -> None:
    first, second = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(second)
    handler.setFormatter(JsonFormatter())
    with logging_to(first):
        log.addHandler(handler)
        try:
            RequestRecord("GET", "/healthz", "r-1", trio.current_time(), 200).write()
        finally:
            log.removeHandler(handler)
    assert first.getvalue() == second.getvalue()
    assert '"path": "/healthz"' in first.getvalue()


async def test_a_stream_that_cannot_be_written_to_is_no_incident_of_the_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    stream = io.StringIO()
    with logging_to(stream):
        stream.close()
        RequestRecord("GET", "/healthz", "r-1", trio.current_time(), 200).write()

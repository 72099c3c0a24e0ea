"""Server-sent events, as bytes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.transport import sse

LINE_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(JSON)
def test_any_json_comes_out_in_ascii_on_one_line_and_means_the_same(value: Any) -> None:
    data = sse.compact(value)
    assert data.isascii()
    assert len(data.decode("ascii").splitlines()) == 1
    assert json.loads(data) == value


@pytest.mark.parametrize("character", LINE_BREAKS)
def test_what_some_client_takes_for_a_line_break_stays_inside_its_line(character: str) -> None:
    frame = sse.event(sse.compact({"text": f"a{character}b"}), "s.1")
    lines = frame.decode().splitlines()
    assert len(lines) == 4
    assert json.loads(lines[2].removeprefix("data: ")) == {"text": f"a{character}b"}


def test_json_has_no_spaces_to_waste() -> None:
    assert sse.compact({"a": [1, 2], "b": None}) == b'{"a":[1,2],"b":null}'


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        sse.compact({"deep": [number]})


def test_an_event_carries_its_id_its_kind_and_its_data() -> None:
    assert sse.event(b"{}", "abc.7") == b"id: abc.7\nevent: message\ndata: {}\n\n"


def test_an_event_that_nobody_may_come_back_for_has_no_id() -> None:
    assert sse.event(b"{}") == b"event: message\ndata: {}\n\n"


def test_the_priming_event_gives_an_id_and_a_delay_and_no_data() -> None:
    assert sse.priming("abc.0", 500) == b"id: abc.0\nretry: 500\ndata: \n\n"


def test_the_keep_alive_is_a_comment_that_no_client_sees() -> None:
    assert sse.KEEP_ALIVE.startswith(b":")
    assert sse.KEEP_ALIVE.endswith(b"\n\n")


def test_a_stream_is_utf_8_and_neither_cached_nor_buffered() -> None:
    headers = dict(sse.HEADERS)
    assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert headers[b"x-accel-buffering"] == b"no"
    assert b"no-cache" in headers[b"cache-control"]
    assert b"no-transform" in headers[b"cache-control"]

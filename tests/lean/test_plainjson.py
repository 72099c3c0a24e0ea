"""Where the faster library speaks, it says what the standard one would have said."""

from __future__ import annotations

import enum
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.transport import plainjson, sse
from greenroom.transport.mcp import jsonrpc
from tests.lean.requests import JSON


class Number(int):
    pass


class Mood(enum.Enum):
    CALM = "calm"


def standard(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


NOT_PLAIN: list[Any] = [
    (1, 2),
    {1: 2},
    {None: 2},
    {"a": {1.5: 2}},
    float("nan"),
    float("inf"),
    1e-5,
    1e15,
    [1e300],
    Mood.CALM,
    Number(7),
    {"a": {1, 2}},
    b"bytes",
    object(),
]


@settings(max_examples=300, deadline=None)
@given(JSON)
def test_what_is_plain_is_written_byte_for_byte_as_the_standard_library_does(value: Any) -> None:
    if plainjson.is_plain(value) and (data := plainjson.write(value)) is not None:
        assert data == standard(value)
    assert sse.compact(value) == standard(value)


@settings(max_examples=500, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_alike(number: float) -> None:
    if plainjson.is_plain(number):
        assert plainjson.write(number) == standard(number)


@pytest.mark.parametrize("code", range(0x80))
def test_every_character_of_ascii_is_written_alike_or_left_to_the_other(code: int) -> None:
    data = plainjson.write(chr(code))
    assert data == standard(chr(code)) or (code == 0x7F and data is None)


@pytest.mark.parametrize("value", NOT_PLAIN, ids=repr)
def test_what_is_not_plain_is_recognised_on_its_own_and_inside(value: Any) -> None:
    assert not plainjson.is_plain(value)
    assert not plainjson.is_plain([value])
    assert not plainjson.is_plain({"a": [{"b": value}]})


def test_plain_values_are_plain_down_to_a_depth() -> None:
    assert plainjson.is_plain({"a": [1, "b", None, True, 0.5, -0.0, {"c": []}]})
    deep: Any = 1
    for _ in range(plainjson.MAX_DEPTH):
        deep = [deep]
    assert plainjson.is_plain(deep)
    assert not plainjson.is_plain([[deep]])


@pytest.mark.parametrize("value", ["é", "\u2028", "\ud800", 10**30], ids=ascii)
def test_what_the_two_write_differently_is_not_written(value: Any) -> None:
    assert plainjson.write(value) is None


@settings(max_examples=300, deadline=None)
@given(JSON, st.booleans())
def test_what_is_read_and_plain_was_read_as_the_standard_library_reads_it(value: Any, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    read = plainjson.read(body)
    if read is not None and plainjson.is_plain(read):
        assert repr(read) == repr(jsonrpc.decode(body))


@pytest.mark.parametrize(
    "body", [b"", b"NaN", b"[1e400]", b'"\\ud800"', b"\xef\xbb\xbf1", b'"\xff"', b"[" * 300 + b"]" * 300, b"{", b"01"]
)
def test_what_only_the_standard_library_can_judge_is_left_to_it(body: bytes) -> None:
    assert plainjson.read(body) is None


@pytest.mark.parametrize(
    "body", [b"18446744073709551616", b"-9223372036854775809", b"[123456789012345678901234567890]"]
)
def test_an_integer_that_does_not_fit_is_not_taken_for_a_plain_number(body: bytes) -> None:
    assert not plainjson.is_plain(plainjson.read(body))

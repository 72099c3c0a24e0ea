"""Lines of JSON survive being cut anywhere, and none grows without end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.workflow.llm.framing import FrameBroken, FrameTooLarge, Lines, encode

MESSAGES = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers(), max_size=3), max_size=5)


@given(MESSAGES, st.integers(1, 40))
def test_messages_arrive_whole_however_the_bytes_are_cut(messages: list[dict[str, str | int]], size: int) -> None:
    data = b"".join(encode(message) for message in messages)
    lines = Lines()
    arrived: list[dict[str, str | int]] = []
    for start in range(0, len(data), size):
        arrived += lines.feed(data[start : start + size])
    assert arrived == messages


def test_a_line_break_in_a_text_does_not_end_the_line() -> None:
    assert encode({"text": "a\nb\u2028c\u0085d"}).count(b"\n") == 1


def test_a_message_that_is_too_large_is_not_sent() -> None:
    assert encode({"a": "x"}, limit=10) == b'{"a":"x"}\n'
    with pytest.raises(FrameTooLarge):
        encode({"a": "xx"}, limit=10)


def test_a_line_that_grows_too_long_is_not_waited_for() -> None:
    lines = Lines(limit=10)
    assert list(lines.feed(b'{"a":"x"}\n{"a":')) == [{"a": "x"}]
    with pytest.raises(FrameTooLarge):
        list(lines.feed(b'"xxxxxxx'))


@pytest.mark.parametrize("line", [b"nonsense\n", b"[1]\n", b"\xff\n"])
def test_a_line_that_is_not_an_object_is_an_error(line: bytes) -> None:
    with pytest.raises(FrameBroken):
        list(Lines().feed(line))

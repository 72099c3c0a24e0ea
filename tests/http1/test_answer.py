"""From what an application says to bytes, without a socket."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.transport.http1.answer import Answer, BadAnswer, bare

COMMON = b"date: today\r\n"


def answer(status: int = 200, *headers: tuple[bytes, bytes], **kind: Any) -> Answer:
    kind = {"method": "GET", "version": "1.1", "close": False, **kind}
    return Answer(status, headers, common=COMMON, **kind)


def test_an_answer_in_one_piece_leaves_in_one_piece_with_its_length() -> None:
    assert answer().unsent
    begun = answer(200, (b"Content-Type", b"text/plain"))
    assert begun.piece(b"hello", False) == (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 5\r\ndate: today\r\n\r\nhello"
    )
    assert begun.complete
    assert not begun.unsent
    assert not begun.close


def test_an_answer_in_pieces_is_chunked() -> None:
    begun = answer()
    assert begun.piece(b"", True) == b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ndate: today\r\n\r\n"
    assert begun.piece(b"", True) == b""
    assert begun.piece(b"0123456789abcdef", True) == b"10\r\n0123456789abcdef\r\n"
    assert not begun.complete
    assert begun.piece(b"x", False) == b"1\r\nx\r\n0\r\n\r\n"
    assert begun.complete


def test_the_last_piece_may_be_empty() -> None:
    begun = answer()
    begun.piece(b"x", True)
    assert begun.piece(b"", False) == b"0\r\n\r\n"


def test_an_announced_length_is_kept_to() -> None:
    begun = answer(200, (b"content-length", b"4"))
    assert begun.piece(b"ab", True).endswith(b"content-length: 4\r\ndate: today\r\n\r\nab")
    assert begun.piece(b"cd", False) == b"cd"


@pytest.mark.parametrize(
    ("before", "body", "more"),
    [(b"", b"abcde", False), (b"", b"abc", False), (b"ab", b"c", False), (b"abcd", b"e", True)],
)
def test_another_length_than_the_announced_one_is_an_error(before: bytes, body: bytes, more: bool) -> None:
    wrong = answer(200, (b"content-length", b"4"))
    if before:
        wrong.piece(before, True)
    with pytest.raises(BadAnswer, match="not as long"):
        wrong.piece(body, more)
    assert not wrong.complete


def test_an_older_client_gets_its_stream_until_the_connection_closes() -> None:
    begun = answer(version="1.0")
    assert begun.piece(b"a", True) == b"HTTP/1.1 200 OK\r\nconnection: close\r\ndate: today\r\n\r\na"
    assert begun.piece(b"b", False) == b"b"
    assert begun.close


@pytest.mark.parametrize(
    ("status", "method", "framing"),
    [(200, "HEAD", b"content-length: 5\r\n"), (304, "GET", b"content-length: 5\r\n"), (204, "GET", b"")],
)
def test_some_answers_have_no_body_whatever_is_said(status: int, method: str, framing: bytes) -> None:
    begun = answer(status, (b"content-length", b"5"), method=method)
    sent = begun.piece(b"hello", False)
    assert sent.endswith(b"\r\n" + framing + b"date: today\r\n\r\n")
    assert begun.complete


def test_a_stream_that_was_asked_for_with_head_says_nothing_of_its_framing() -> None:
    begun = answer(method="HEAD")
    assert begun.piece(b"a", True) == b"HTTP/1.1 200 OK\r\ndate: today\r\n\r\n"
    assert begun.piece(b"b", False) == b""


def test_the_last_answer_says_so_once() -> None:
    for begun in (
        answer(close=True),
        answer(200, (b"Connection", b"keep-alive, Close")),
        answer(200, (b"Connection", b"close"), close=True),
    ):
        assert begun.piece(b"", False).lower().count(b"connection: close\r\n") == 1
        assert begun.close


def test_how_an_answer_is_framed_is_not_the_applications_to_say() -> None:
    begun = answer(200, (b"Transfer-Encoding", b"gzip"), (b"connection", b"upgrade"))
    sent = begun.piece(b"x", False).lower()
    assert b"gzip" not in sent
    assert b"upgrade" not in sent


@pytest.mark.parametrize(
    "field",
    [
        (b"x", b"a\r\nset-cookie: b"),
        (b"x", b"a\nb"),
        (b"x", b"a\rb"),
        (b"x", b"a\0b"),
        (b"x\r\ny", b"a"),
        (b"x y", b"a"),
        (b"x:", b"a"),
        (b"", b"a"),
        (b"content-length", b"-1"),
        (b"content-length", b"five"),
    ],
)
def test_a_header_cannot_smuggle_in_another(field: tuple[bytes, bytes]) -> None:
    with pytest.raises(BadAnswer):
        answer(200, field)


def test_two_lengths_are_an_error_and_odd_statuses_too() -> None:
    with pytest.raises(BadAnswer):
        answer(200, (b"content-length", b"1"), (b"Content-Length", b"2"))
    for status in (0, 100, 199, 1000):
        with pytest.raises(BadAnswer):
            answer(status)
    assert answer(299).piece(b"", False).startswith(b"HTTP/1.1 299 \r\n")


def test_the_servers_own_answers_end_the_connection() -> None:
    assert bare(408, COMMON) == (
        b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\ndate: today\r\n\r\n"
    )

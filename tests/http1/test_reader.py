"""What is read and what is refused, without a socket: the grammar, the limits, and how bytes may be cut."""

from __future__ import annotations

import pytest

from greenroom.transport.http1.head import Head, Refusal
from greenroom.transport.http1.limits import Limits
from greenroom.transport.http1.reader import Reader
from tests.http1.reading import read_all

SMALL = Limits(line=100, head=400, fields=5, chunk_line=20, chunk_extras=30, trailers=60)


def head(*lines: bytes) -> bytes:
    return b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def one(data: bytes, limits: Limits = SMALL) -> Head | Refusal | None:
    reader = Reader(limits)
    reader.feed(data)
    return reader.next_head()


def status(data: bytes, limits: Limits = SMALL) -> int | None:
    found = one(data, limits)
    return found.status if isinstance(found, Refusal) else None


GET = b"GET / HTTP/1.1\r\nHost: a\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\n"


def test_a_head_is_read_as_it_stands() -> None:
    data = head(b"POST /a%20b?c=d HTTP/1.1", b"Host: x:80", b"X-One:  1 \t", b"Empty:", b"Content-Length: 5") + b"hello"
    reader = Reader(SMALL)
    reader.feed(data)
    found = reader.next_head()
    assert isinstance(found, Head)
    assert (found.method, found.target, found.version, found.length) == ("POST", b"/a%20b?c=d", "1.1", 5)
    assert found.headers == [(b"host", b"x:80"), (b"x-one", b"1"), (b"empty", b""), (b"content-length", b"5")]
    assert (found.keep_alive, found.expects_continue, found.upgrade) == (True, False, b"")
    assert reader.next_body() == b"hello"
    assert reader.done


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"GET / HTTP/1.1", None),
        (b"GET http://a/b?c HTTP/1.1", None),
        (b"OPTIONS * HTTP/1.1", None),
        (b"M-SEARCH / HTTP/1.1", None),
        (b"GET  / HTTP/1.1", 400),
        (b"GET /  HTTP/1.1", 400),
        (b"GET\t/ HTTP/1.1", 400),
        (b" GET / HTTP/1.1", 400),
        (b"GET / HTTP/1.1 ", 400),
        (b"GET / http/1.1", 400),
        (b"GET / HTTP/11", 400),
        (b"GET / HTTP/1.10", 400),
        (b"GET / ICE/1.0", 400),
        (b"GET /", 400),
        (b"GET", 400),
        (b"", 400),
        (b"G(T / HTTP/1.1", 400),
        (b"GET /\x00 HTTP/1.1", 400),
        (b"GET /\xc3\xa9 HTTP/1.1", 400),
        (b"GET /a#b HTTP/1.1", 400),
        (b"GET a HTTP/1.1", 400),
        (b"GET * HTTP/1.1", 400),
        (b"GET ftp://a/ HTTP/1.1", 400),
        (b"CONNECT a:443 HTTP/1.1", 501),
        (b"get / HTTP/1.1", 501),
        (b"GET / HTTP/0.9", 505),
        (b"GET / HTTP/1.2", 505),
        (b"GET / HTTP/2.0", 505),
        (b"GET / HTTP/3.0", 505),
        (b"\x16\x03\x01\x02", 400),
    ],
)
def test_a_request_line_is_exactly_that(line: bytes, expected: int | None) -> None:
    assert status(head(line, b"Host: a")) == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (b"X: \xff caf\xe9 \t tabs", None),
        (b"X : 1", 400),
        (b" X: 1", 400),
        (b"\tfolded", 400),
        (b"X", 400),
        (b": 1", 400),
        (b"X\x00: 1", 400),
        (b"X: \x00", 400),
        (b"X: \x01", 400),
        (b"X: a\x7f", 400),
        (b"X: a\x0bb", 400),
        (b"X: a\rb", 400),
        (b"X: a\nY: b", 400),
        (b"X: a\r\n\tb", 400),
        (b"X: a\r\n b", 400),
        (b"X\r: b", 400),
        (b"X\xe9: b", 400),
        (b"X[]: b", 400),
        (b'"X": b', 400),
    ],
)
def test_a_header_is_a_name_a_colon_and_a_value_on_one_line(field: bytes, expected: int | None) -> None:
    assert status(head(b"GET / HTTP/1.1", b"Host: a", field)) == expected
    assert status(head(b"GET / HTTP/1.1", field, b"Host: a")) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([b"Content-Length: 0"], None),
        ([b"Content-Length: 007"], None),
        ([b"Content-Length: 5", b"Content-Length: 5"], 400),
        ([b"Content-Length: 5", b"content-length: 6"], 400),
        ([b"Content-Length: 5, 5"], 400),
        ([b"Content-Length: +5"], 400),
        ([b"Content-Length: -5"], 400),
        ([b"Content-Length: 5 5"], 400),
        ([b"Content-Length: 0x5"], 400),
        ([b"Content-Length: 5_0"], 400),
        ([b"Content-Length: \xb2"], 400),
        ([b"Content-Length:"], 400),
        ([b"Content-Length: 9999999999999999999"], 400),
        ([b"Transfer-Encoding: chunked"], None),
        ([b"Transfer-Encoding: Chunked"], None),
        ([b"Transfer-Encoding: chunked", b"Content-Length: 5"], 400),
        ([b"Content-Length: 5", b"Transfer-Encoding: chunked"], 400),
        ([b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"], 501),
        ([b"Transfer-Encoding: chunked, identity"], 501),
        ([b"Transfer-Encoding: identity, chunked"], 501),
        ([b"Transfer-Encoding: chunked, chunked"], 501),
        ([b"Transfer-Encoding: identity"], 501),
        ([b"Transfer-Encoding: gzip"], 501),
        ([b"Transfer-Encoding: xchunked"], 501),
        ([b"Transfer-Encoding: \x0bchunked"], 400),
        ([b"Transfer-Encoding:"], 501),
    ],
)
def test_there_is_one_way_to_say_how_long_a_body_is(fields: list[bytes], expected: int | None) -> None:
    assert status(head(b"POST / HTTP/1.1", b"Host: a", *fields)) == expected


def test_chunks_belong_to_http_1_1() -> None:
    assert status(head(b"POST / HTTP/1.0", b"Host: a", b"Transfer-Encoding: chunked")) == 400


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([], 400),
        ([b"Host: a", b"Host: a"], 400),
        ([b"Host: a b"], 400),
        ([b"Host: a/b"], 400),
        ([b"Host: a@b"], 400),
        ([b"Host: a:b"], 400),
        ([b"Host: [::1"], 400),
        ([b"Host:"], None),
        ([b"Host: a.example:8000"], None),
        ([b"Host: [::1]:8000"], None),
    ],
)
def test_a_request_names_one_sound_host(fields: list[bytes], expected: int | None) -> None:
    assert status(head(b"GET / HTTP/1.1", *fields)) == expected


def test_an_older_client_may_name_none_and_never_keeps_the_connection() -> None:
    found = one(head(b"GET / HTTP/1.0", b"Connection: keep-alive"))
    assert isinstance(found, Head)
    assert (found.version, found.keep_alive) == ("1.0", False)


@pytest.mark.parametrize(
    ("fields", "keep"),
    [
        ([], True),
        ([b"Connection: close"], False),
        ([b"Connection: keep-alive, Close"], False),
        ([b"Connection: keep-alive", b"Connection: close"], False),
        ([b"Connection: closed"], True),
    ],
)
def test_a_client_may_say_that_this_is_its_last_request(fields: list[bytes], keep: bool) -> None:
    found = one(head(b"GET / HTTP/1.1", b"Host: a", *fields))
    assert isinstance(found, Head)
    assert found.keep_alive is keep


@pytest.mark.parametrize(
    ("data", "upgrade"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"h2"),
        (head(b"GET / HTTP/1.1", b"Host: a", b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c"), b"h2c"),
        (head(b"POST / HTTP/1.1", b"Host: a", b"Upgrade: h2c", b"Content-Length: 1"), b""),
        (head(b"GET / HTTP/1.1", b"Host: a", b"Connection: upgrade", b"Upgrade: WebSocket"), b"websocket"),
        (head(b"GET / HTTP/1.1", b"Host: a", b"Upgrade: websocket"), b""),
        (head(b"GET / HTTP/1.1", b"Host: a", b"Connection: upgrade", b"Upgrade: TLS/1.0"), b""),
    ],
)
def test_what_is_not_plain_http_1_1_is_left_to_hypercorn_whole(data: bytes, upgrade: bytes) -> None:
    reader = Reader(SMALL)
    reader.feed(GET + b"\r\n" + data)
    assert isinstance(reader.next_head(), Head)
    assert reader.next_body() == b""
    found = reader.next_head()
    assert isinstance(found, Head)
    assert found.upgrade == upgrade
    assert reader.unread() == data


# --- limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"GET /" + b"a" * 84 + b" HTTP/1.1\r\nHost: a\r\n\r\n", None),
        (b"GET /" + b"a" * 85 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        (b"GET /" + b"a" * 95, 414),
        (b"GET /" + b"a" * 90, None),
        (GET + b"X: " + b"a" * 368 + b"\r\n\r\n", None),
        (GET + b"X: " + b"a" * 369 + b"\r\n\r\n", 431),
        (GET + b"X: " + b"a" * 390, 431),
        (GET + b"X:\r\n" * 4 + b"\r\n", None),
        (GET + b"X:\r\n" * 5 + b"\r\n", 431),
    ],
)
def test_a_head_has_its_limits(data: bytes, expected: int | None) -> None:
    assert status(data) == expected


# --- chunks ------------------------------------------------------------------------------------------------

CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"0\r\n\r\n", b""),
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"5\r\nhello\r\n9;x=y\r\n, anybody\r\n0\r\nX-Sum: 1\r\n\r\n", b"hello, anybody"),
        (b"0\r\nA: 1\r\nB: 2\r\n\r\n", b""),
        (b"\r\n", 400),
        (b"g\r\n", 400),
        (b"-1\r\n", 400),
        (b"+1\r\n", 400),
        (b"0x1\r\nx", 400),
        (b"1_0\r\n", 400),
        (b" 1\r\nx", 400),
        (b"1 \r\nx", 400),
        (b"1\nx\r\n", 400),
        (b"1\rx\r\n", 400),
        (b"1;a\nb\r\nx\r\n", 400),
        (b"1;a\x00\r\nx\r\n", 400),
        (b"1234567890abcdef\r\n", 400),
        (b"1;" + b"a" * 30, 400),
        (b"1;" + b"a" * 19 + b"\r\n", 400),
        (b"1;abcdefghijkl\r\nx\r\n" * 3, 400),
        (b"5\r\nhello!\r\n", 400),
        (b"5\r\nhello\n0\r\n\r\n", 400),
        (b"5\r\nhello0\r\n\r\n", 400),
        (b"0\r\nbad trailer\r\n\r\n", 400),
        (b"0\r\n folded\r\n\r\n", 400),
        (b"0\r\nX: 1\nY: 2\r\n\r\n", 400),
        (b"0\r\nContent-Length: 1\r\n\r\n", 400),
        (b"0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"0\r\nHost: b\r\n\r\n", 400),
        (b"0\r\nX: " + b"1" * 60, 431),
        (b"0\r\nX: 1\n\n", 400),
        (b"0\r\n\n", 400),
    ],
)
def test_chunks_are_read_to_the_letter(body: bytes, expected: bytes | int) -> None:
    seen = read_all([CHUNKED + body], SMALL)
    if isinstance(expected, bytes):
        assert [each.body for each in seen.requests] == [expected]
        assert seen.requests[0].complete
        assert seen.refused is None
    else:
        assert not seen.requests[0].complete
        assert seen.refused == expected


def test_what_follows_a_body_is_the_next_request() -> None:
    data = CHUNKED + b"1\r\nx\r\n0\r\n\r\n" + POST + b"Content-Length: 2\r\n\r\nyz" + GET + b"\r\n"
    seen = read_all([data], SMALL)
    assert [each.body for each in seen.requests] == [b"x", b"yz", b""]
    assert all(each.complete for each in seen.requests)


# --- how bytes are cut -------------------------------------------------------------------------------------

STREAMS = [
    CHUNKED + b"5;a=b\r\nhello\r\n3\r\nyou\r\n0\r\nX: 1\r\n\r\n" + GET + b"\r\n",
    POST + b"Content-Length: 5\r\n\r\nhello" + GET + b"Connection: close\r\n\r\n",
    CHUNKED + b"5\r\nhelloo\r\n0\r\n\r\n",
    CHUNKED + b"0\r\nX: 1\nY: 2\r\n\r\n",
    CHUNKED + b"0\r\nX: " + b"1" * 70 + b"\n\r\n\r\n",
    CHUNKED + b"1;" + b"a" * 40 + b"\n\r\n",
    b"GET / HTTP/1.1\nHost: a\n\n",
    b"get / HTTP/9.9\r\nX: a\nb\r\n\r\n",
    b"GET /" + b"a" * 200 + b" HTTP/1.1\r\nX: a\nb\r\n\r\n",
    b"GET /\n" + b"a" * 200 + b" HTTP/1.1\r\nHost: b\r\n\r\n",
    GET + b"X: a\n" + b"b" * 500 + b"\r\n\r\n",
    GET + b"X: " + b"b" * 500 + b"\n\r\n\r\n",
    GET + b"X: a\r\rb\r\n\r\n",
    b"\r\n" + GET + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


@pytest.mark.parametrize("data", STREAMS)
def test_how_bytes_are_cut_changes_nothing(data: bytes) -> None:
    whole = read_all([data], SMALL)
    assert read_all([data[at : at + 1] for at in range(len(data))], SMALL) == whole
    for at in range(1, len(data)):
        assert read_all([data[:at], data[at:]], SMALL) == whole


def test_an_idle_reader_keeps_no_bytes() -> None:
    reader = Reader(SMALL)
    reader.feed(GET + b"\r\n")
    assert isinstance(reader.next_head(), Head)
    reader.forget()
    assert reader.waiting == 0
    assert reader.unread() == b""

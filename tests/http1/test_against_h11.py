"""Our reader beside h11: a short run of the fuzzer, and the proof that the fuzzer would see what it looks for."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from greenroom.transport.http1 import chunks, head
from tests.http1 import fuzz, streams
from tests.http1.reading import read_all

SMUGGLED = b"GET /admin HTTP/1.1\r\nHost: a\r\n\r\n"


def test_a_short_run_finds_no_disagreement_that_lets_more_through() -> None:
    seen = fuzz.fuzz(600)
    assert seen.total() >= 600
    assert seen["read alike, to the end"] > 50
    assert seen["refused by both"] > 50


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 33\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 33, 0\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nX: y\rContent-Length: 33\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nX: y\nContent-Length: 33\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;\n\r\nx\r\n0\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n" + SMUGGLED,
        b"POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        + SMUGGLED,
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + SMUGGLED,
    ],
)
def test_the_known_ways_to_smuggle_a_request_lead_nowhere(data: bytes) -> None:
    fuzz.verdict([data])
    seen = read_all([data], fuzz.LIMITS)
    assert seen.refused in (400, 501)
    assert all(b"/admin" not in each.target for each in seen.requests)


# --- the fuzzer itself: each of these leniencies has been somebody's hole -----------------------------------


def disagrees(seed: int) -> bool:
    try:
        fuzz.verdict(streams.seeded(seed))
    except AssertionError:
        return True
    return False


def lenient_fields(monkeypatch: pytest.MonkeyPatch, pattern: bytes) -> None:
    monkeypatch.setattr(head, "FIELD", re.compile(pattern, re.MULTILINE))


def space_before_colon(monkeypatch: pytest.MonkeyPatch) -> None:
    lenient_fields(monkeypatch, rb"^([!-9;-~]+)[ \t]*:([^\x00-\x08\x0a-\x1f\x7f]*)\r\n")


def vertical_tab_is_space(monkeypatch: pytest.MonkeyPatch) -> None:
    lenient_fields(monkeypatch, rb"^(" + head.TOKEN + rb"):([^\x00-\x08\x0a\x0d\x7f]*)\r\n")


def signed_chunk_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_SIZE", re.compile(rb"[+ ]?([0-9A-Fa-f]{1,15})((?:;[^\x00-\x08\x0a-\x1f\x7f]*)?)"))


def line_feed_in_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_SIZE", re.compile(rb"([0-9A-Fa-f]{1,15})((?:;[^\x00]*)?)"))


def no_end_of_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = chunks.Chunks._data_end

    def forgiving(self: chunks.Chunks, data: bytes, at: int) -> int | head.Refusal | None:
        found = genuine(self, data, at)
        if isinstance(found, head.Refusal):
            self._next = chunks._Next.SIZE
            return at
        return found

    monkeypatch.setattr(chunks.Chunks, "_data_end", forgiving)


def any_trailer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_NOT_IN_TRAILERS", frozenset())


def any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head, "_SPECIAL", head._SPECIAL - {b"content-length"})


def any_coding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head, "_SPECIAL", head._SPECIAL - {b"transfer-encoding"})


def spaces_in_request_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = rb"(" + head.TOKEN + rb")[ \t]+([\x21-\x7e]+)[ \t]+HTTP/([0-9]\.[0-9])[ \t]*\r\n"
    monkeypatch.setattr(head, "_REQUEST_LINE", re.compile(pattern))


@pytest.mark.parametrize(
    "mistake",
    [
        space_before_colon,
        vertical_tab_is_space,
        signed_chunk_size,
        line_feed_in_extension,
        no_end_of_chunk,
        any_trailer,
        any_length,
        any_coding,
        spaces_in_request_line,
    ],
)
def test_the_fuzzer_would_see_a_reader_that_is_too_lenient(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = range(4000)
    mistake(monkeypatch)
    assert any(disagrees(seed) for seed in seeds)

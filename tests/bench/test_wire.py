"""The load client's HTTP: what it reads, however it arrives, and what it writes."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import wire
from bench.wire import Malformed, Reader, Response, Template

PLAIN = b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\nMcp-Session-Id: abc\r\n\r\n{"id":1}'
CHUNKED = (
    b"HTTP/1.1 200 \r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'10;x=y\r\ndata: {"id":1}\n\n\r\n'
    # This chunk ends as the last one does.
    b"7\r\n: 0\r\n\r\n\r\n"
    b'f\r\ndata:{"id":2}\n\n\r\n'
    b"0\r\n\r\n"
)


def read(*pieces: bytes) -> Response | None:
    reader = Reader()
    response = None
    for piece in pieces:
        assert response is None
        response = reader.feed(piece)
    return response


@given(st.sampled_from([PLAIN, CHUNKED]), st.sets(st.integers(min_value=1, max_value=150)))
def test_a_response_reads_the_same_in_whatever_pieces_it_comes(data: bytes, cuts: set[int]) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    pieces = [data[low:high] for low, high in itertools.pairwise(edges)]
    assert read(*pieces) == read(data) is not None


def test_a_body_with_a_length_is_its_message() -> None:
    response = read(PLAIN)
    assert response is not None
    assert (response.status, response.messages) == (200, [{"id": 1}])
    assert response.header(b"mcp-session-id") == "abc"
    assert response.header(b"mcp-session") is None


def test_a_stream_of_events_is_its_messages_without_comments() -> None:
    response = read(CHUNKED)
    assert response is not None
    assert response.messages == [{"id": 1}, {"id": 2}]


def test_an_event_without_data_is_no_message() -> None:
    assert Response(200, b"", b"id: x.0\nretry: 500\ndata: \n\n: keep-alive\n\n").messages == []


def test_an_answer_without_a_body_ends_with_its_head() -> None:
    response = read(b"HTTP/1.1 202 Accepted\r\nDate: today\r\n\r\n")
    assert response is not None
    assert (response.status, response.body) == (202, b"")


def test_the_next_response_starts_afresh() -> None:
    reader = Reader()
    assert reader.feed(CHUNKED) == read(CHUNKED)
    assert reader.feed(PLAIN) == read(PLAIN)


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nDate: today\r\n\r\n",
        PLAIN + b"HTTP/1.1",
    ],
)
def test_what_cannot_be_read_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        read(data)


def test_a_request_is_filled_in_with_its_number_and_knows_its_length() -> None:
    template = Template.of("127.0.0.1:1", wire.legacy_headers("s"), "tools/call", {"name": "recall", "arguments": {}})
    head, _, body = template.fill(123456789).partition(b"\r\n\r\n")
    assert json.loads(body)["id"] == 123456789
    assert f"Content-Length: {len(body)}".encode() in head
    assert b"Mcp-Session-Id: s" in head


def test_a_session_is_ended_by_a_request_without_a_body() -> None:
    assert wire.farewell("127.0.0.1:1", "s").startswith(b"DELETE /mcp HTTP/1.1\r\n")
    assert wire.farewell("127.0.0.1:1", "s").endswith(b"\r\n\r\n")

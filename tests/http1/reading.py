"""The same bytes through our reader and through h11, told in the same words."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import h11

from greenroom.transport.http1.head import Refusal
from greenroom.transport.http1.limits import Limits
from greenroom.transport.http1.reader import Reader


@attrs.define
class Request:
    method: str
    target: bytes
    version: str
    headers: list[tuple[bytes, bytes]]
    keep_alive: bool
    body: bytes = b""
    complete: bool = False


@attrs.define
class Read:
    requests: list[Request] = attrs.Factory(list)
    refused: int | None = None
    reason: str = attrs.field(default="", eq=False)
    upgrade: bytes = b""


def read_all(pieces: Iterable[bytes], limits: Limits) -> Read:
    """What our reader makes of them."""
    seen = Read()
    reader = Reader(limits)
    for piece in pieces:
        reader.feed(piece)
        while _go_on(reader, seen):
            pass
        if seen.refused or seen.upgrade:
            break
    return seen


def _go_on(reader: Reader, seen: Read) -> bool:
    """One step. Whether there may be another without more bytes."""
    last = seen.requests[-1] if seen.requests else None
    if last is not None and not last.complete:
        piece = reader.next_body()
        if isinstance(piece, Refusal):
            seen.refused, seen.reason = piece.status, piece.reason
        elif piece is not None:
            last.body += piece
            last.complete = reader.done
        return isinstance(piece, bytes)
    if last is not None and not last.keep_alive:
        return False
    head = reader.next_head()
    if isinstance(head, Refusal):
        seen.refused, seen.reason = head.status, head.reason
    elif head is not None and head.upgrade:
        seen.upgrade = head.upgrade
    elif head is not None:
        seen.requests.append(Request(head.method, head.target, head.version, head.headers, head.keep_alive))
        return True
    return False


def read_by_h11(pieces: Iterable[bytes], limits: Limits) -> Read:
    """What h11 makes of them, answering every request so that the next can be read."""
    seen = Read()
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head)
    for piece in pieces:
        connection.receive_data(piece)
        try:
            while _go_on_with(connection, seen):
                pass
        except h11.RemoteProtocolError as error:
            seen.refused = error.error_status_hint
        if seen.refused:
            break
    return seen


def _go_on_with(connection: h11.Connection, seen: Read) -> bool:
    if seen.requests and seen.requests[-1].complete and not seen.requests[-1].keep_alive:
        return False
    event = connection.next_event()
    if isinstance(event, h11.Request):
        closing = any(name == b"connection" and b"close" in _tokens(value) for name, value in event.headers)
        version = event.http_version.decode()
        seen.requests.append(
            Request(event.method.decode(), event.target, version, list(event.headers), version >= "1.1" and not closing)
        )
    elif isinstance(event, h11.Data):
        seen.requests[-1].body += bytes(event.data)
    elif isinstance(event, h11.EndOfMessage):
        seen.requests[-1].complete = True
        if not seen.requests[-1].keep_alive:
            return False
        connection.send(h11.Response(status_code=404, headers=[("content-length", "0")]))
        connection.send(h11.EndOfMessage())
        connection.start_next_cycle()
    return event is not h11.NEED_DATA and event is not h11.PAUSED


def _tokens(value: bytes) -> list[bytes]:
    return [token.strip() for token in value.lower().split(b",")]

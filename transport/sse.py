"""Server-sent events, as bytes. Pure.

Data is JSON in ASCII, so that no character in it can be taken for a line break: some clients split lines at
U+0085 and U+2028.
"""

from __future__ import annotations

import json
from typing import Any

from greenroom.transport import plainjson

CONTENT_TYPE = b"text/event-stream; charset=utf-8"

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-type", CONTENT_TYPE),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
"""For every stream: nginx must not buffer it, nobody may cache or recompress it."""

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)

KEEP_ALIVE = b": keep-alive\n\n"


def compact(value: Any) -> bytes:
    """JSON, ASCII only, no spaces. Refuses NaN and infinities, which are not JSON."""
    if plainjson.is_plain(value) and (data := plainjson.write(value)) is not None:
        return data
    return _ENCODER.encode(value).encode("ascii")


def event(data: bytes, event_id: str | None = None) -> bytes:
    head = b"id: " + event_id.encode("ascii") + b"\n" if event_id is not None else b""
    return head + b"event: message\ndata: " + data + b"\n\n"


def priming(event_id: str, retry_ms: int) -> bytes:
    """An event without data that only gives the client an id to come back with, and says how soon."""
    return f"id: {event_id}\nretry: {retry_ms}\ndata: \n\n".encode("ascii")

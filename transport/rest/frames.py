"""A stream's events as bytes: newline-delimited JSON or server-sent events. Pure.

NDJSON has an event per line, `{"type": …, "data": …}`; SSE has the type as the event's name and the data as its data.
Silence is broken by an empty line in the one and by a comment in the other; a reader skips both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from greenroom.transport import sse
from greenroom.transport.rest.accepting import Form

KEEP_ALIVE: Mapping[Form, bytes] = {Form.NDJSON: b"\n", Form.SSE: sse.KEEP_ALIVE}

_CONTENT_TYPES = {Form.NDJSON: b"application/x-ndjson; charset=utf-8", Form.SSE: sse.CONTENT_TYPE}


def headers(form: Form) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", _CONTENT_TYPES[form]),
        (b"cache-control", b"no-store, no-transform"),
        (b"x-accel-buffering", b"no"),
    ]


def frame(form: Form, kind: str, data: Any) -> bytes:
    if form is Form.NDJSON:
        return sse.compact({"type": kind, "data": data}) + b"\n"
    return b"event: " + kind.encode("ascii") + b"\ndata: " + sse.compact(data) + b"\n\n"

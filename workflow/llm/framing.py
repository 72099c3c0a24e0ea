"""One JSON object per line: what the server and its language model process say to each other.

Bytes in, values out; no I/O. Both sides import this module and nothing else of ours is shared, so it stays as
small as it is. A line is ASCII, because `json.dumps` escapes the rest: a line break inside a text cannot end it.

From the server: `{"call": 7, "arguments": {…}}`, `{"cancel": 7}`, `{"ping": 1}`. From the child: `{"ready": "…"}` or
`{"unready": "…"}` first; then `{"id": 7, "delta": "…"}`, `{"id": 7, "answer": {…}}`, `{"id": 7, "error": {…}}` and
`{"pong": 1}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

FRAME_LIMIT = 16 * 1024 * 1024
"""A conversation of a million tokens is about 4 MB; the rest is room for a picture or two."""


class FrameTooLarge(Exception):
    """A message that is longer than either side is willing to hold in memory."""


class FrameBroken(Exception):
    """A line that is not a JSON object."""


def encode(message: Mapping[str, Any], limit: int = FRAME_LIMIT) -> bytes:
    frame = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    if len(frame) > limit:
        raise FrameTooLarge(f"a frame of {len(frame)} bytes, where {limit} are allowed")
    return frame


class Lines:
    """Turns chunks of bytes into messages."""

    def __init__(self, limit: int = FRAME_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """The messages that this chunk completes. Exhaust it before feeding the next one."""
        searched = len(self._buffer)
        self._buffer += chunk
        start = 0
        while (end := self._buffer.find(b"\n", max(start, searched))) >= 0:
            self._check(end - start)
            yield _decode(bytes(self._buffer[start:end]))
            start = end + 1
        del self._buffer[:start]
        self._check(len(self._buffer))

    def _check(self, length: int) -> None:
        if length >= self._limit:
            raise FrameTooLarge(f"a frame of at least {length} bytes, where {self._limit} are allowed")


def _decode(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise FrameBroken("a line that is not JSON") from error
    if not isinstance(message, dict):
        raise FrameBroken("a line that is not a JSON object")
    return message

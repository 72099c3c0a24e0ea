"""Bytes in, requests out: what a connection has received and not yet handed on. Pure.

A caller asks for the next head, then for its body until `done`, and so on; each answers None when it needs more bytes.
How the bytes were cut into pieces on their way never matters: each refusal follows from the bytes up to a place that
does not depend on it.
"""

from __future__ import annotations

from typing import Final

from greenroom.transport.http1.chunks import Chunks
from greenroom.transport.http1.head import Head, Refusal, parse_head
from greenroom.transport.http1.limits import Limits

_HTTP2_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\n"
_HTTP2: Final = Head("PRI", b"*", "2.0", [], 0, False, False, b"", b"h2")
_LINE_TOO_LONG: Final = Refusal(414, "the request line is too long")


class Reader:
    __slots__ = ("_at", "_chunks", "_data", "_left", "_limits", "_scanned", "_start")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._data = b""
        self._at = 0
        self._start = 0
        self._scanned = 0
        self._left = 0
        self._chunks: Chunks | None = None

    def feed(self, data: bytes) -> None:
        if self._at == len(self._data):
            self._data = data
        else:
            self._data = self._data[self._at :] + data
        self._at = 0

    @property
    def waiting(self) -> int:
        """Bytes that have come and were not asked for yet."""
        return len(self._data) - self._at

    @property
    def done(self) -> bool:
        """Whether the body has been read to its end."""
        return not self._left and (self._chunks is None or self._chunks.done)

    @property
    def left(self) -> int | None:
        """How much of the body is still to be asked for, if it was announced."""
        return self._left if self._chunks is None else None

    def forget(self) -> None:
        """Let go of the memory that an idle connection does not need."""
        if self._at == len(self._data):
            self._data, self._at = b"", 0

    def unread(self) -> bytes:
        """Everything from the beginning of the last head on, for another to read. Only right after that head."""
        return self._data[self._start :]

    # --- heads ---------------------------------------------------------------------------------------------

    def next_head(self) -> Head | Refusal | None:
        data, at = self._data, self._at
        if at == len(data):
            return None
        end = data.find(b"\r\n\r\n", at + self._scanned, at + self._limits.head)
        if end < 0:
            self._scanned = max(0, len(data) - at - 3)
            return self._unfinished(data, at)
        self._scanned = 0
        end += 4
        head = parse_head(data, at, end, self._limits)
        if isinstance(head, Refusal):
            if data.startswith(_HTTP2_PREFACE, at):
                self._start = at
                return _HTTP2
            # What is seen first while bytes drip in must come first when they come at once, too.
            return self._offence(data, at, end) or head
        if end - at > self._limits.line and data.find(b"\n", at, at + self._limits.line) < 0:
            return _LINE_TOO_LONG
        self._start, self._at = at, end
        self._left = head.length
        if head.length < 0:
            self._left, self._chunks = 0, Chunks(self._limits)
        else:
            self._chunks = None
        return head

    def _unfinished(self, data: bytes, at: int) -> Refusal | None:
        offence = self._offence(data, at, len(data))
        if offence is None and len(data) - at >= self._limits.head:
            return Refusal(431, "the headers are too long")
        return offence

    def _offence(self, data: bytes, at: int, end: int) -> Refusal | None:
        """What can be said of a head before it is complete, the earliest place first."""
        if data[at] <= 0x20 or data[at] >= 0x7F:
            return Refusal(400, "not a request line")
        if end - at >= self._limits.line and data.find(b"\n", at, at + self._limits.line) < 0:
            return _LINE_TOO_LONG
        end = min(end, at + self._limits.head)
        if data.count(b"\n", at, end) != data.count(b"\r\n", at, end):
            return Refusal(400, "a line feed without a carriage return")
        return None

    # --- bodies --------------------------------------------------------------------------------------------

    def next_body(self) -> bytes | Refusal | None:
        """What has come of the body; nothing at its end, which `done` tells."""
        if self._chunks is not None:
            return self._next_chunks(self._chunks)
        data, at = self._data, self._at
        if not self._left:
            return b""
        piece = data[at : at + self._left]
        if not piece:
            return None
        self._at = at + len(piece)
        self._left -= len(piece)
        return piece

    def _next_chunks(self, chunks: Chunks) -> bytes | Refusal | None:
        pieces, self._at, refusal = chunks.read(self._data, self._at)
        if pieces:
            # A refusal is found again, at the same place, by whoever asks for more.
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if refusal is not None:
            return refusal
        return b"" if chunks.done else None

"""A body in chunks, from the buffer of a connection. Pure.

Every chunk is announced by a line with its size and ends with CR LF; after one of size 0 come trailers, which are
checked and thrown away, since ASGI has no place for them.
"""

from __future__ import annotations

import enum
import re
from typing import Final

from greenroom.transport.http1.head import FIELD, Refusal
from greenroom.transport.http1.limits import Limits

_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})((?:;[^\x00-\x08\x0a-\x1f\x7f]*)?)")
_NOT_IN_TRAILERS: Final = frozenset({b"content-length", b"transfer-encoding", b"host"})
"""Who reads trailers as headers would read the request in another way than we did."""


class _Next(enum.Enum):
    SIZE = enum.auto()
    DATA = enum.auto()
    DATA_END = enum.auto()
    TRAILERS = enum.auto()
    NOTHING = enum.auto()


class Chunks:
    """Takes what it can from a buffer: the pieces of the body, and how far it has read."""

    __slots__ = ("_extras", "_left", "_limits", "_next")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._next = _Next.SIZE
        self._left = 0
        self._extras = 0

    @property
    def done(self) -> bool:
        return self._next is _Next.NOTHING

    def read(self, data: bytes, at: int) -> tuple[list[bytes], int, Refusal | None]:
        """All the body there is in `data[at:]`, where the rest begins, and what is wrong with it, if something is."""
        pieces: list[bytes] = []
        step: int | Refusal | None
        while True:
            match self._next:
                case _Next.SIZE:
                    step = self._size(data, at)
                case _Next.DATA:
                    piece = data[at : at + self._left]
                    step = at + len(piece) if piece else None
                    self._left -= len(piece)
                    if piece:
                        pieces.append(piece)
                    if not self._left:
                        self._next = _Next.DATA_END
                case _Next.DATA_END:
                    step = self._data_end(data, at)
                case _Next.TRAILERS:
                    step = self._trailers(data, at)
                case _Next.NOTHING:
                    step = None
            if not isinstance(step, int):
                return pieces, at, step
            at = step

    def _size(self, data: bytes, at: int) -> int | Refusal | None:
        end = data.find(b"\r\n", at, at + self._limits.chunk_line + 2)
        if end < 0:
            too_long = len(data) - at >= self._limits.chunk_line + 2
            return Refusal(400, "a chunk's first line is too long") if too_long else None
        match = _SIZE.fullmatch(data, at, end)
        if match is None:
            return Refusal(400, "not the size of a chunk")
        self._extras += len(match[2])
        if self._extras > self._limits.chunk_extras:
            return Refusal(400, "too many chunk extensions")
        self._left = int(match[1], 16)
        self._next = _Next.DATA if self._left else _Next.TRAILERS
        return end + 2

    def _data_end(self, data: bytes, at: int) -> int | Refusal | None:
        found = data[at : at + 2]
        if found == b"\r\n":
            self._next = _Next.SIZE
            return at + 2
        return None if found in (b"", b"\r") else Refusal(400, "a chunk is longer than its size")

    def _trailers(self, data: bytes, at: int) -> int | Refusal | None:
        if data.startswith(b"\r\n", at):
            self._next = _Next.NOTHING
            return at + 2
        limit = at + self._limits.trailers
        end = data.find(b"\r\n\r\n", at, limit)
        if end < 0:
            if data.count(b"\n", at, limit) != data.count(b"\r\n", at, limit):
                return Refusal(400, "a line feed without a carriage return")
            return Refusal(431, "the trailers are too long") if len(data) >= limit else None
        found = FIELD.findall(data, at, end + 2)
        if len(found) != data.count(b"\n", at, end + 2):
            return Refusal(400, "not a trailer line")
        if not _NOT_IN_TRAILERS.isdisjoint(name.lower() for name, _ in found):
            return Refusal(400, "a trailer that says how to read the request")
        self._next = _Next.NOTHING
        return end + 4

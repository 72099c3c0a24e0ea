"""An answer, from what an application says to bytes. Pure.

Its head is held back until the first piece of its body, so that an answer in one piece leaves in one piece, with its
length. What an application says wrongly (a line break in a header, more bytes than it announced) is an error of its
own, raised where it says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from greenroom.transport.http1.head import TOKEN, tokens

_LINES: Final = {status.value: b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode()) for status in HTTPStatus}
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding", b"connection"})
_NAME: Final = re.compile(TOKEN)
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
_CHUNKED: Final = -1
_UNTIL_CLOSE: Final = -2

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_sound_names: set[bytes] = set()
_MANY_NAMES: Final = 256


class BadAnswer(Exception):
    """The application answers in a way that cannot be put on the wire."""


class Answer:
    __slots__ = ("_common", "_left", "_length", "_lines", "_silent", "_version", "close", "complete", "status")

    def __init__(
        self,
        status: int,
        headers: Iterable[tuple[bytes, bytes]],
        *,
        method: str,
        version: str,
        close: bool,
        common: bytes,
    ) -> None:
        if not 200 <= status <= 999:
            raise BadAnswer(f"{status} is not the status of an answer")
        self.status = status
        self.close = close
        self.complete = False
        self._common = common
        self._version = version
        self._silent = method == "HEAD" or status == 204 or status == 304
        self._length: int | None = None
        self._left = 0
        self._lines: bytes | None = self._written(status, headers)

    @property
    def unsent(self) -> bool:
        return self._lines is not None

    def _written(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        parts = [_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status]
        for name, value in headers:
            if name.lower() in _FRAMING:
                self._note(name.lower(), value)
                continue
            if name not in _sound_names:
                _check_name(name)
            parts += (name, b": ", value, b"\r\n")
        lines = b"".join(parts)
        count = len(parts) // 4 + 1
        if lines.count(b"\n") != count or lines.count(b"\r") != count or b"\0" in lines:
            raise BadAnswer("a header has a line break in it")
        return lines

    def _note(self, name: bytes, value: bytes) -> None:
        """How the answer is framed is decided here; an application can only say how long it is, and that it is last."""
        if name == b"content-length":
            if _LENGTH.fullmatch(value) is None or self._length not in (None, int(value)):
                raise BadAnswer("not a single plain Content-Length")
            self._length = int(value)
        elif name == b"connection" and b"close" in tokens(value):
            self.close = True

    def piece(self, body: bytes, more: bool) -> bytes:
        """What goes on the wire for the next piece of the body."""
        if self._lines is not None:
            return self._first(self._lines, body, more)
        framed = self._framed(body, more)
        self.complete = not more
        return framed

    def _first(self, lines: bytes, body: bytes, more: bool) -> bytes:
        framing = self._framing(body, more)
        framed = self._framed(body, more)
        self._lines = None
        self.complete = not more
        ending = b"connection: close\r\n" if self.close else b""
        return b"%b%b%b%b\r\n%b" % (lines, framing, ending, self._common, framed)

    def _framing(self, body: bytes, more: bool) -> bytes:
        """Choose how the end of the body is told, and tell so."""
        if self._length is None and not more and not self._silent:
            self._length = len(body)
        if self._length is not None:
            self._left = self._length
            return b"content-length: %d\r\n" % self._length if self.status != 204 else b""
        if self._silent:
            return b""
        if self._version == "1.1":
            self._left = _CHUNKED
            return b"transfer-encoding: chunked\r\n"
        self._left = _UNTIL_CLOSE
        self.close = True
        return b""

    def _framed(self, body: bytes, more: bool) -> bytes:
        if self._silent:
            return b""
        if self._left == _CHUNKED:
            if not body:
                return b"" if more else b"0\r\n\r\n"
            return b"%x\r\n%b\r\n%b" % (len(body), body, b"" if more else b"0\r\n\r\n")
        if self._left == _UNTIL_CLOSE:
            return body
        self._left -= len(body)
        if self._left < 0 or (self._left and not more):
            raise BadAnswer("the body is not as long as its Content-Length says")
        return body


def _check_name(name: bytes) -> None:
    if _NAME.fullmatch(name) is None:
        raise BadAnswer(f"{name!r} is not the name of a header")
    # A memory of the few names that an application uses, not of whatever a client can make it say.
    if len(_sound_names) < _MANY_NAMES:
        _sound_names.add(name)


def bare(status: int, common: bytes) -> bytes:
    """An answer of the server's own, after which the connection ends."""
    line = _LINES.get(status) or b"HTTP/1.1 %d \r\n" % status
    return b"%bcontent-length: 0\r\nconnection: close\r\n%b\r\n" % (line, common)

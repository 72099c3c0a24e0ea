"""A socket and its deadlines, without a timer of its own: whoever minds the clock looks at the two deadlines.

A read or a write that waits is woken by `wake`, and finds the link cut, or itself no longer wanted. That is how every
wait here ends without a cancel scope, and why a shield around `write` is bounded too: cutting ends it.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from math import inf
from typing import Final

import trio
from trio.lowlevel import checkpoint, notify_closing, wait_readable, wait_writable

from greenroom.transport.http1.limits import Limits

_READ_SIZE: Final = 64 * 1024
_RESET: Final = struct.pack("ii", 1, 0)
_AT_A_STRETCH: Final = 16
"""Writes that may succeed one after the other before the other tasks get their turn."""


class Link:
    __slots__ = ("_limits", "_lock", "_parked", "_sock", "_stretch", "eof", "gone", "read_deadline", "write_deadline")

    def __init__(self, sock: socket.socket, limits: Limits) -> None:
        self._sock = sock
        self._limits = limits
        self._lock: trio.Lock | None = None
        self._parked: trio.Event | None = None
        self._stretch = 0
        self.eof = False
        """The client will send nothing more; it may still read."""
        self.gone = False
        self.read_deadline = inf
        self.write_deadline = inf

    @property
    def left(self) -> bool:
        """Whether the client has hung up, as far as can be told."""
        return self.eof or self.gone

    async def read(self) -> bytes:
        """Wait for bytes. None came if the client has left, or if somebody called `wake`."""
        sock = self._sock
        while not self.gone:
            try:
                await wait_readable(sock)
                data = sock.recv(_READ_SIZE)
            except BlockingIOError:
                continue
            except trio.ClosedResourceError:
                return b""
            except OSError:
                self.cut()
                return b""
            self.eof = not data
            return data
        return b""

    async def park(self) -> None:
        """Wait without reading until `wake`."""
        if self._parked is None:
            self._parked = trio.Event()
        await self._parked.wait()

    async def write(self, data: bytes) -> None:
        """Send everything. To a client that has left nothing is sent, which is no error.

        Being cancelled in the middle cuts the link, since what would follow could not be understood any more; it
        leaves nothing else in disorder.
        """
        sent = 0
        if not self.gone and (self._lock is None or not self._lock.locked()):
            try:
                sent = self._sock.send(data)
            except BlockingIOError:
                pass
            except OSError:
                self.cut()
        self._stretch += 1
        if sent < len(data) and not self.gone:
            await self._write_rest(memoryview(data)[sent:])
        elif self.gone or self._stretch >= _AT_A_STRETCH:
            self._stretch = 0
            await checkpoint()

    async def _write_rest(self, rest: memoryview) -> None:
        if self._lock is None:
            self._lock = trio.Lock()
        whole = False
        try:
            async with self._lock:
                while rest and not self.gone:
                    self.write_deadline = trio.current_time() + self._limits.send_seconds
                    rest = rest[await self._write_some(rest) :]
                whole = True
        finally:
            self.write_deadline = inf
            if not whole:
                self.cut()

    async def _write_some(self, rest: memoryview) -> int:
        try:
            await wait_writable(self._sock)
            return self._sock.send(rest)
        except (BlockingIOError, trio.ClosedResourceError):
            # Woken: the link is cut, or it was a reader who was meant.
            return 0
        except OSError:
            self.cut()
            return 0

    def write_at_once(self, data: bytes) -> None:
        """Last words, as far as the kernel takes them."""
        if not self.gone:
            with suppress(OSError):
                self._sock.send(data)

    def end_writing(self) -> None:
        if not self.gone:
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)

    def wake(self) -> None:
        """End the reads that wait, and `park`."""
        if self._parked is not None:
            self._parked.set()
            self._parked = None
        if not self.gone:
            notify_closing(self._sock)

    def reset(self) -> None:
        """Cut, and let the kernel throw away what the client has not taken."""
        if not self.gone:
            with suppress(OSError):
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.cut()

    def cut(self) -> None:
        """Close, now, whoever waits for what."""
        if not self.gone:
            self.wake()
            self.gone = True
            self._sock.close()

    def release(self) -> socket.socket:
        """Give the socket away."""
        self.gone = True
        given = self._sock
        return socket.socket(given.family, given.type, given.proto, fileno=given.detach())

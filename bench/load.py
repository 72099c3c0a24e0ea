"""The load client: a number of kept-alive connections in a closed loop, on one thread, by epoll alone.

What is said on a connection is a script: a generator that yields request bytes and is sent responses, and raises
`Wrong` at a response that is not what it should be. One run of a script is one unit of what is measured. Several
times cheaper per request than any client library, so that one core of it keeps a server's core busy.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Generator, Sequence

import attrs

from bench.wire import Malformed, Reader, Response

Script = Generator[bytes, Response, None]
Scripts = Callable[[int], Script]
"""The script for the next unit on the connection of that number."""

STALL_SECONDS = 30.0
MAX_KEPT_FAULTS = 20


class Wrong(Exception):
    """A response that a correct server would not have given."""


@attrs.define
class Tally:
    """What happened in one round."""

    latencies: list[float] = attrs.Factory(list)
    faults: list[str] = attrs.Factory(list)
    wrong: int = 0
    seconds: float = 0.0

    def note(self, fault: str) -> None:
        self.wrong += 1
        if len(self.faults) < MAX_KEPT_FAULTS:
            self.faults.append(fault)


class Line:
    """One connection."""

    def __init__(self, address: tuple[str, int], number: int) -> None:
        self._address = address
        self.number = number
        self.reader = Reader()
        self.script: Script | None = None
        self.began = 0.0
        self.socket = self._connect()

    def _connect(self) -> socket.socket:
        connected = socket.create_connection(self._address, timeout=STALL_SECONDS)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The kernel keeps the deadline: a timeout of Python's would cost a system call more for every read.
        connected.settimeout(None)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", int(STALL_SECONDS), 0))
        return connected

    def renew(self) -> None:
        self.socket.close()
        self.reader = Reader()
        self.script = None
        self.socket = self._connect()

    @property
    def hung_up(self) -> bool:
        """Whether the server has closed the connection while it was idle, as it may."""
        try:
            return not self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def ask(self, data: bytes) -> Response:
        """One request, waited for: for what is set up before a measurement."""
        self.socket.sendall(data)
        while (response := self.reader.feed(self._some())) is None:
            pass
        return response

    def _some(self) -> bytes:
        data = self.socket.recv(65536)
        if not data:
            raise Malformed("the server closed the connection in the middle of a response")
        return data

    def begin(self, scripts: Scripts) -> None:
        self.began = time.perf_counter()
        self.script = scripts(self.number)
        # Requests are a few hundred bytes and there is one at a time, so they always fit the socket's buffer.
        self.socket.sendall(next(self.script))

    def go_on(self) -> bool:
        """Read what has come; whether that was the end of the script."""
        response = self.reader.feed(self._some())
        if response is None:
            return False
        assert self.script is not None
        try:
            self.socket.sendall(self.script.send(response))
        except StopIteration:
            self.script = None
            return True
        return False


class Client:
    """All connections to one server, kept open from round to round."""

    def __init__(self, address: tuple[str, int], connections: int) -> None:
        self.lines: Sequence[Line] = [Line(address, number) for number in range(connections)]
        self._poll = select.epoll()
        self._by_descriptor: dict[int, Line] = {}
        for line in self.lines:
            self._watch(line)

    def close(self) -> None:
        self._poll.close()
        for line in self.lines:
            line.socket.close()

    def mend(self) -> None:
        """Connect again wherever the server hung up between two rounds."""
        for line in self.lines:
            if line.hung_up:
                self._renew(line)

    def play(self, scripts: Scripts, seconds: float, most: float = float("inf")) -> Tally:
        """Script after script on every connection, for so long or so many; what is under way then is finished."""
        tally = Tally()
        started = time.perf_counter()
        until = started + seconds
        for line in self.lines:
            self._begin(line, scripts)
        begun = busy = len(self.lines)
        while busy:
            ready = self._poll.poll(STALL_SECONDS)
            if not ready:
                self._give_up(tally)
                break
            for descriptor, _ in ready:
                line = self._by_descriptor[descriptor]
                if self._step(line, tally):
                    now = time.perf_counter()
                    if now < until and begun < most:
                        begun += 1
                        self._begin(line, scripts)
                    else:
                        busy -= 1
        tally.seconds = time.perf_counter() - started
        return tally

    def _begin(self, line: Line, scripts: Scripts) -> None:
        try:
            line.begin(scripts)
        except OSError:
            # The server may hang up after any response. If there is none to connect to, that is not for here to mend.
            self._renew(line)
            line.begin(scripts)

    def _step(self, line: Line, tally: Tally) -> bool:
        """Whether the line has done with its script, for better or worse."""
        try:
            if not line.go_on():
                return False
            tally.latencies.append(time.perf_counter() - line.began)
        except Wrong as fault:
            tally.note(str(fault))
            line.script = None
        except (Malformed, OSError, ValueError) as fault:
            tally.note(f"{type(fault).__name__}: {fault}")
            self._renew(line)
        return True

    def _give_up(self, tally: Tally) -> None:
        for line in self.lines:
            if line.script is not None:
                tally.note(f"nothing came for {STALL_SECONDS:g} s")
                self._renew(line)

    def _renew(self, line: Line) -> None:
        del self._by_descriptor[line.socket.fileno()]
        line.renew()
        self._watch(line)

    def _watch(self, line: Line) -> None:
        self._by_descriptor[line.socket.fileno()] = line
        self._poll.register(line.socket.fileno(), select.EPOLLIN)

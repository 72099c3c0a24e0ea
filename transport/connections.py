"""Which class serves a TCP connection in Hypercorn's Trio worker: ours for plain HTTP/1.1, Hypercorn's for the rest.

Hypercorn's own has one habit cured that no setting reaches. When a client closes its connection, Hypercorn's Trio
worker waits for the connection's keep-alive timer to run out before it lets go of the socket and its tasks. With the
short default that goes unnoticed; with one that suits a proxy, every client that ever came holds a descriptor for more
than a minute.

`install` puts one of the two in place of Hypercorn's, for `greenroom serve` and for `hypercorn` alike.
"""

from __future__ import annotations

import socket
from typing import Any

import hypercorn.trio.run
import trio
from hypercorn.config import Config
from hypercorn.events import Event, Updated
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState

from greenroom.transport.http1.connection import Connection
from greenroom.transport.http1.worker import worker_of


class PromptTCPServer(TCPServer):
    _hung_up = False

    async def _read_data(self) -> None:
        await super()._read_data()
        self._hung_up = True
        await self.idle_task.stop()

    async def protocol_send(self, event: Event) -> None:
        if self._hung_up and isinstance(event, Updated):
            return
        await super().protocol_send(event)


class Begun(trio.abc.HalfCloseableStream):
    """A stream of which somebody has already read the beginning, and gives it back."""

    def __init__(self, sock: socket.socket, beginning: bytes) -> None:
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(sock))
        self._beginning = beginning
        self.socket = self._stream.socket

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        if not self._beginning:
            return bytes(await self._stream.receive_some(max_bytes))
        await trio.lowlevel.checkpoint()
        size = max_bytes or len(self._beginning)
        given, self._beginning = self._beginning[:size], self._beginning[size:]
        return given

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()


async def serve_connection(
    app: AppWrapper, config: Config, context: WorkerContext, state: ConnectionState, stream: Any
) -> None:
    """Serve what is plain HTTP/1.1 ourselves; TLS, HTTP/2 and WebSockets stay with Hypercorn."""
    if isinstance(stream, trio.SocketStream):
        begun = await _serve_plainly(app, config, context, state, stream)
        if begun is None:
            return
        stream = begun
    await PromptTCPServer(app, config, context, state, stream)


async def _serve_plainly(
    app: AppWrapper, config: Config, context: WorkerContext, state: ConnectionState, stream: trio.SocketStream
) -> Begun | None:
    """What is left for Hypercorn, if something is."""
    given = stream.socket
    with socket.socket(given.family, given.type, given.proto, fileno=given.detach()) as sock:
        try:
            connection = Connection(worker_of(app, config, context, state), sock)
        except OSError:
            return None  # It has left before anybody asked for its name.
        try:
            beginning = await connection.serve()
            if beginning is None:
                return None
            return Begun(connection.link.release(), beginning)
        finally:
            connection.link.cut()


def install(path: str) -> None:
    """Serve connections with `own` or with `stock`, from now on."""
    chosen: Any = serve_connection if path == "own" else PromptTCPServer
    hypercorn.trio.run.TCPServer = chosen  # type: ignore[attr-defined]

"""A bare ASGI application behind Hypercorn's Trio worker on a real socket, on our connections or on stock ones."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio
from hypercorn.config import Config
from hypercorn.trio import serve

from greenroom.transport import connections
from greenroom.transport.http1 import worker

App = Callable[[Any, Any, Any], Awaitable[None]]


@attrs.frozen
class Served:
    address: tuple[str, int]
    stop: trio.Event
    ended: trio.Event

    @asynccontextmanager
    async def client(self, receive_buffer: int | None = None) -> AsyncIterator[Client]:
        sock = trio.socket.socket()
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await sock.connect(self.address)
        async with trio.SocketStream(sock) as stream:
            yield Client(stream)

    async def ask(self, data: bytes) -> bytes:
        """Send bytes on a connection of their own, and read until the server closes it."""
        async with self.client() as client:
            await client.say(data)
            return await client.rest()


@attrs.define
class Client:
    stream: trio.SocketStream
    _seen: bytes = b""

    async def say(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def until(self, mark: bytes) -> bytes:
        """Everything up to and with the first occurrence of these bytes."""
        with trio.fail_after(10):
            while mark not in self._seen:
                piece = await self.stream.receive_some(65536)
                assert piece, f"closed after {self._seen!r}"
                self._seen += piece
        end = self._seen.index(mark) + len(mark)
        found, self._seen = self._seen[:end], self._seen[end:]
        return found

    async def answer(self) -> tuple[int, dict[bytes, bytes], bytes]:
        """The next answer, which must have a Content-Length."""
        head = await self.until(b"\r\n\r\n")
        line, *fields = head[:-4].split(b"\r\n")
        headers = dict(field.lower().split(b": ", 1) for field in fields)
        with trio.fail_after(10):
            while len(self._seen) < int(headers[b"content-length"]):
                self._seen += await self.stream.receive_some(65536)
        size = int(headers[b"content-length"])
        body, self._seen = self._seen[:size], self._seen[size:]
        return int(line.split(b" ")[1]), headers, body

    async def rest(self) -> bytes:
        """Everything until the server closes the connection, politely or not."""
        with trio.fail_after(10):
            try:
                while piece := await self.stream.receive_some(65536):
                    self._seen += piece
            except trio.BrokenResourceError:
                self._seen += b"<reset>"
        return self._seen


def living(app: App) -> App:
    """The application, with the lifespan that Hypercorn asks every application for."""

    async def alive(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{message['type']}.complete"})
        await send({"type": "lifespan.shutdown.complete"})

    return alive


@asynccontextmanager
async def serving(
    app: App, path: str = "own", limits: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[Served]:
    """Serve for as long as the block lasts. Limits are our own connections', settings Hypercorn's."""
    config = Config()
    config.bind = ["127.0.0.1:0"]
    config.graceful_timeout = 0.2
    config.keep_alive_timeout = 75
    config.include_server_header = False
    config.errorlog = logging.getLogger("hypercorn.error")
    config.loglevel = "WARNING"
    for name, value in settings.items():
        assert hasattr(config, name)
        setattr(config, name, value)
    connections.install(path)
    plain = worker.limits_of
    worker.limits_of = lambda config: attrs.evolve(plain(config), **limits or {})
    stop, ended = trio.Event(), trio.Event()

    async def run(*, task_status: trio.TaskStatus[list[str]]) -> None:
        await serve(living(app), config, shutdown_trigger=stop.wait, task_status=task_status)
        ended.set()

    try:
        async with trio.open_nursery() as nursery:
            binds = await nursery.start(run)
            host, _, port = binds[0].removeprefix("http://").removeprefix("https://").partition(":")
            try:
                yield Served((host, int(port)), stop, ended)
            finally:
                stop.set()
    finally:
        worker.limits_of = plain
        connections.install("own")

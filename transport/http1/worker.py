"""What the connections of one worker share, and the one task that minds the clock for all of them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, cast
from weakref import WeakKeyDictionary

import attrs
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState

from greenroom.transport.http1.limits import Limits
from greenroom.transport.http1.link import Link

Application = Callable[[Any, Any, Any], Awaitable[None]]

_SHORTEST_ROUND, _LONGEST_ROUND = 0.1, 1.0
"""Seconds between two looks at all connections: their deadlines are kept to within the longer one."""


class Minded(Protocol):
    """A connection, to whoever minds the clock."""

    link: Link

    def late(self, now: float) -> None:
        """A deadline has passed."""

    def send_home(self) -> None:
        """The worker ends: leave at once if idle."""


class Worker:
    def __init__(self, app: AppWrapper, config: Config, context: WorkerContext, state: ConnectionState) -> None:
        self.application = _plain(app)
        self.config = config
        self.context = context
        self.state = state
        self.limits = limits_of(config)
        self.root_path = config.root_path
        self.logs_access = config.log.access_logger is not None or config.statsd_host is not None
        self._connections: set[Minded] = set()
        self._round: trio.CancelScope | None = None
        self._second = 0
        self._common = b""

    @property
    def ending(self) -> bool:
        return self.context.terminated.is_set()

    def common_headers(self) -> bytes:
        """The headers that every answer has, as the configuration says; they change once a second."""
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._common = b"".join(b"%b: %b\r\n" % field for field in self.config.response_headers("h11"))
        return self._common

    # --- the clock -----------------------------------------------------------------------------------------

    def enter(self, connection: Minded) -> None:
        self._connections.add(connection)
        if self._round is None:
            nursery = trio.lowlevel.current_task().parent_nursery
            assert nursery is not None, "a connection is served in a nursery of Hypercorn's"
            self._round = trio.CancelScope()
            nursery.start_soon(self._mind, self._round, name="the clock of the HTTP/1.1 connections")

    def leave(self, connection: Minded) -> None:
        self._connections.discard(connection)
        if not self._connections and self._round is not None:
            self._round.cancel()
            self._round = None

    async def _mind(self, scope: trio.CancelScope) -> None:
        try:
            with scope:
                while not self.ending:
                    with trio.move_on_after(self._look()):
                        await self.context.terminated.wait()
                for connection in list(self._connections):
                    connection.send_home()
                while True:
                    with trio.move_on_after(self._look()):
                        await trio.sleep_forever()
        finally:
            # Hypercorn's grace is over: nobody would mind these any more, and a shield must not outlast the clock.
            if not scope.cancel_called:
                for connection in list(self._connections):
                    connection.link.cut()

    def _look(self) -> float:
        """Tell those that are late. The time until the next look."""
        now = trio.current_time()
        nearest = now + _LONGEST_ROUND
        for connection in list(self._connections):
            deadline = min(connection.link.read_deadline, connection.link.write_deadline)
            if deadline <= now:
                connection.late(now)
            elif deadline < nearest:
                nearest = deadline
        return max(nearest - now, _SHORTEST_ROUND)


def _plain(app: AppWrapper) -> Application:
    """The application as ASGI has it, without the wrapper that gives it threads, unless it needs those."""
    if isinstance(app, ASGIWrapper):
        return cast(Application, app.app)

    def call(scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        return app(scope, receive, send, trio.to_thread.run_sync, trio.from_thread.run)

    return call


def limits_of(config: Config) -> Limits:
    default = Limits()
    return attrs.evolve(
        default,
        head=config.h11_max_incomplete_size,
        line=min(default.line, config.h11_max_incomplete_size),
        idle_seconds=config.keep_alive_timeout,
        body_seconds=config.read_timeout or default.body_seconds,
    )


_workers: Final[WeakKeyDictionary[WorkerContext, Worker]] = WeakKeyDictionary()


def worker_of(app: AppWrapper, config: Config, context: WorkerContext, state: ConnectionState) -> Worker:
    """The one of this context, made for its first connection."""
    worker = _workers.get(context)
    if worker is None:
        worker = _workers[context] = Worker(app, config, context, state)
    return worker

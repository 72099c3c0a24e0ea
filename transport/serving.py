"""The entry point: Hypercorn's Trio worker in a nursery of ours, with a way out that cannot be blocked.

On SIGTERM or SIGINT: not ready any more, no new sessions, streams ended politely, turns finished or stopped
within a budget, then Hypercorn is told to stop. Hypercorn shields its writes without a deadline, so a client
that has stopped reading could hold all of this up; the kernel cuts such a client off after a while, and a
dead man's switch ends the process if the end is still not reached in time.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import trio
from hypercorn.config import Config, Sockets
from hypercorn.trio import serve as hypercorn_serve

from greenroom.config.settings import Settings
from greenroom.transport import collector
from greenroom.transport.app import GreenroomApp, create_app
from greenroom.transport.logs import configure_logging
from greenroom.workflow.catalog import find_workflow

log = logging.getLogger(__name__)

STALLED_READER_SECONDS = 30
"""How long the kernel keeps data that a client does not acknowledge, before it cuts the connection."""

ABOVE = Path(__file__).resolve().parent.parent
"""The project in a source tree, the package in an installed one; hypercorn.toml stands in both."""


class ServingConfig(Config):
    """Hypercorn's configuration, with a limit on how long a client may stop reading."""

    def create_sockets(self) -> Sockets:
        sockets = super().create_sockets()
        timeout = getattr(socket, "TCP_USER_TIMEOUT", None)
        if timeout is not None:
            for sock in (*sockets.secure_sockets, *sockets.insecure_sockets):
                if sock.family != socket.AF_UNIX:
                    sock.setsockopt(socket.IPPROTO_TCP, timeout, STALLED_READER_SECONDS * 1000)
        return sockets


def make_config(settings: Settings) -> ServingConfig:
    """hypercorn.toml of the working directory, or else the one that ships with the product."""
    candidates = (Path("hypercorn.toml"), ABOVE / "hypercorn.toml")
    found = next((path for path in candidates if path.is_file()), None)
    config = ServingConfig.from_toml(found) if found else ServingConfig()
    assert isinstance(config, ServingConfig)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    config.bind = [f"{host}:{settings.port}"]
    # Into our own log instead of handlers of Hypercorn's.
    config.errorlog = logging.getLogger("hypercorn.error")
    config.errorlog.setLevel(config.loglevel)
    return config


def serve(settings: Settings) -> int:
    """Serve until a signal ends it. The exit code."""
    configure_logging(settings.log_level, settings.log_format)
    return serve_app(create_app(settings, find_workflow(settings)), settings)


def serve_app(app: GreenroomApp, settings: Settings) -> int:
    config = make_config(settings)
    exit_code = 0
    try:
        trio.run(_main, app, config, settings.drain_seconds)
    except* OSError as errors:
        log.error("cannot serve", extra={"reason": str(_first(errors)), "bind": config.bind[0]})
        exit_code = 1
    return exit_code


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


async def _main(app: GreenroomApp, config: Config, drain_seconds: float) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async with trio.open_nursery() as nursery:
            stop = trio.Event()
            binds = await nursery.start(_hypercorn, app, config, stop)
            collector.settle()
            log.info("listening", extra={"url": f"{binds[0]}/mcp", "workflow": app.supervisor.workflow.name})
            nursery.start_soon(_end_on_signal, signals, app, stop, drain_seconds, config.graceful_timeout)


async def _hypercorn(
    app: GreenroomApp, config: Config, stop: trio.Event, *, task_status: trio.TaskStatus[list[str]]
) -> None:
    await hypercorn_serve(app, config, shutdown_trigger=stop.wait, task_status=task_status)  # type: ignore[arg-type]


async def _end_on_signal(
    signals: AsyncIterator[int],
    app: GreenroomApp,
    stop: trio.Event,
    drain_seconds: float,
    graceful_seconds: float,
) -> None:
    received = await anext(signals)
    log.info("draining", extra={"signal": signal.Signals(received).name, "budget_seconds": drain_seconds})
    switch = arm_dead_mans_switch(drain_seconds + graceful_seconds + 1.0)
    async with trio.open_nursery() as nursery:

        async def hurry() -> None:
            await anext(signals)
            log.warning("a second signal: leaving without waiting")
            nursery.cancel_scope.cancel()

        nursery.start_soon(hurry)
        await app.drain(drain_seconds)
        nursery.cancel_scope.cancel()
    await app.drain(0)
    stop.set()
    switch.cancel()
    arm_dead_mans_switch(graceful_seconds + 1.0)


def arm_dead_mans_switch(seconds: float) -> threading.Timer:
    """End the process, successfully, if it has not ended by itself by then. Safe: what was promised is stored."""

    def leave() -> None:
        log.warning("some connection would not end; leaving without it")
        logging.shutdown()
        os._exit(0)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()
    return timer

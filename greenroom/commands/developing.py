"""`dev`: the server as a child process, ended and begun again whenever what it is made of changes.

The child gets SIGTERM and a short time to end its streams, and is killed after that, so an open stream holds nothing
up. It keeps its address: a port that was left to chance is chosen once. A child that ends by itself (a workflow with
a problem, most often) has said why; the next change is waited for.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import anyio
import attrs
import trio
from watchfiles import Change, awatch

from greenroom.commands.codes import MISTAKE
from greenroom.commands.screen import Screen, screen_for
from greenroom.commands.watching import Watched, named, watched_by
from greenroom.config.problems import ConfigurationError
from greenroom.config.settings import Settings, load_settings
from greenroom.config.sources import ENV_FILE, PASSWORDS_FILE

DRAIN_SECONDS = 1.0
"""How long turns may go on when the server begins again. Whoever changes a workflow does not want to wait for them."""

KILL_SECONDS = 6.0
"""After this much of politeness the server is killed: the drain, Hypercorn's last bytes, and some room."""

QUIET_MS = 100
"""How long nothing may have changed before it is believed that everything was written."""

_FLAGS = {"WORKFLOW_PATH": "--workflow", "GREENROOM_HOST": "--host", "GREENROOM_PORT": "--port"}


@attrs.frozen
class Changed:
    paths: tuple[str, ...]


@attrs.frozen
class Ended:
    process: trio.Process
    code: int


@attrs.frozen
class Stop:
    pass


Event = Changed | Ended | Stop


def develop(overrides: Mapping[str, str]) -> int:
    return trio.run(_Developing(dict(overrides)).run)


class _Developing:
    def __init__(self, overrides: dict[str, str]) -> None:
        self._overrides = overrides
        self._screen: Screen = screen_for(sys.stderr)
        self._watches: dict[Watched, anyio.Event] = {}
        self._server: trio.Process | None = None
        self._tell, self._events = trio.open_memory_channel[Event](16)

    async def run(self) -> int:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            async with trio.open_nursery() as nursery:

                async def listen() -> None:
                    async for _ in signals:
                        await self._tell.send(Stop())

                nursery.start_soon(listen)
                try:
                    code = await self._until_stopped(nursery)
                finally:
                    with trio.CancelScope(shield=True):
                        await self._end_server()
                    for watch in self._watches.values():
                        watch.set()
                nursery.cancel_scope.cancel()
        return code

    async def _until_stopped(self, nursery: trio.Nursery) -> int:
        if not await self._begin(nursery):
            return MISTAKE
        async for event in self._events:
            match event:
                case Stop():
                    return 0
                case Ended(process, code) if process is self._server:
                    self._server = None
                    self._screen.line(f"The server has ended (exit code {code}). The next change starts it again.")
                case Changed(paths):
                    self._screen.line(f"Changed: {_some(paths)}. Starting again.", "bold")
                    await self._end_server()
                    await self._begin(nursery)
        return 0

    async def _begin(self, nursery: trio.Nursery) -> bool:
        """Start the server. False if there is nothing to start and nothing whose change could help."""
        try:
            settings = load_settings(overrides=self._overrides)
        except ConfigurationError as error:
            self._screen.line(str(error), "red")
            files = frozenset(named(_files_named_by(os.environ)))
            # What was watched before is watched on: the mistake may be in any of it.
            self._watch(nursery, files | frozenset(self._watches))
            return bool(self._watches)
        if not settings.port:
            self._overrides["GREENROOM_PORT"] = str(_free_port(settings.host))
        self._watch(nursery, watched_by(settings))
        await self._start_server(nursery, settings)
        return True

    # --- the server ----------------------------------------------------------------------------------------

    async def _start_server(self, nursery: trio.Nursery, settings: Settings) -> None:
        flags = [word for variable, text in self._overrides.items() for word in (_FLAGS[variable], text)]
        drain = min(DRAIN_SECONDS, settings.drain_seconds)
        self._server = process = await trio.lowlevel.open_process(
            # Without the working directory on the path, as with the installed command.
            [sys.executable, "-P", "-m", "greenroom.commands.understudy", *flags],
            stdin=subprocess.PIPE,
            env={**os.environ, "GREENROOM_DRAIN_SECONDS": f"{drain:g}"},
            # A session of its own: Ctrl-C is ours to pass on, once and politely.
            start_new_session=True,
        )

        async def attend() -> None:
            await self._tell.send(Ended(process, await process.wait()))

        nursery.start_soon(attend)

    async def _end_server(self) -> None:
        process, self._server = self._server, None
        if process is None or process.returncode is not None:
            return
        process.terminate()
        with trio.move_on_after(KILL_SECONDS):
            await process.wait()
            return
        process.kill()
        await process.wait()

    # --- the files -----------------------------------------------------------------------------------------

    def _watch(self, nursery: trio.Nursery, wanted: Iterable[Watched]) -> None:
        wanted = frozenset(wanted)
        for gone in self._watches.keys() - wanted:
            self._watches.pop(gone).set()
        for watched in wanted - self._watches.keys():
            self._watches[watched] = stop = anyio.Event()
            nursery.start_soon(self._report_changes, watched, stop)

    async def _report_changes(self, watched: Watched, stop: anyio.Event) -> None:
        def cares(change: Change, path: str) -> bool:
            return watched.cares_about(path)

        async for changes in awatch(
            watched.folder,
            watch_filter=cares,
            step=QUIET_MS,
            stop_event=stop,
            recursive=watched.recursive,
            # A thread cannot be cancelled while it waits; it looks up this often.
            rust_timeout=500,
        ):
            await self._tell.send(Changed(tuple(sorted(path for _, path in changes))))


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def _files_named_by(environ: Mapping[str, str]) -> list[Path]:
    names = (environ.get(variable, "").strip() for variable in (ENV_FILE, PASSWORDS_FILE))
    return [Path(os.path.expanduser(name)) for name in names if name]


def _some(paths: tuple[str, ...]) -> str:
    shown = [os.path.relpath(path) for path in paths[:3]]
    return ", ".join(shown) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")

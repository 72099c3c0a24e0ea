"""A server under test: a process on a core of its own, the client's connections to it, and what it has cost so far."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from contextlib import suppress
from tempfile import TemporaryDirectory

from bench.acts import Stage
from bench.agent.proc import children, cpu_seconds, resident_mb
from bench.load import Client, Wrong
from bench.peers.install import BUILD, ROOT, clean_environment, ensure
from bench.peers.table import Peer
from bench.wire import Malformed
from tests.transport.process import free_port

CONNECTIONS = 32
READY_SECONDS = 40.0
SERVER_CORE, CLIENT_CORE = 0, 1
_PR_SET_PDEATHSIG = 1


class CannotServe(Exception):
    """The server did not become ready; the message says what it said."""


def pin(core: int) -> None:
    """Keep the calling process on one core. On a machine with a single one there is nothing to choose."""
    if len(os.sched_getaffinity(0)) > 1:
        with suppress(OSError):
            os.sched_setaffinity(0, {core})


def unpin() -> None:
    """What is started from here on may use every core again."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))


def _settle_in() -> None:
    """In the server's process, before it is the server: its core, and an end with ours, however that comes."""
    pin(SERVER_CORE)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Served:
    """One running server. A context manager: the process ends with the block."""

    def __init__(self, peer: Peer, label: str = "") -> None:
        self.peer = peer
        self.port = free_port()
        self.stage = Stage(f"127.0.0.1:{self.port}", own_sessions=peer.is_ours)
        self._data = TemporaryDirectory(prefix="greenroom-bench-", ignore_cleanup_errors=True)
        logs = BUILD / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        self.log = logs / f"{peer.name}{label}.log"
        self.process = self._start()
        self._client: Client | None = None
        self._sessions: list[str] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        begin = ensure(self.peer)
        own = self.peer.command if self.peer.is_ours else self.peer.command[1:]
        command = [*begin, *(str(self.port) if part == "PORT" else part for part in own)]
        # As it comes: no setting of this shell, data that goes away with the run, and the log in a file.
        clean = clean_environment("GREENROOM_", *(() if self.peer.is_ours else ("PYTHON", "NODE_")))
        with self.log.open("wb") as out:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env={**clean, "SPEEDDICT_FOLDERNAME": self._data.name, **self.peer.variables},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_settle_in,
            )

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self._client is not None:
            self._client.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._data.cleanup()

    def wait_until_ready(self) -> None:
        until = time.monotonic() + READY_SECONDS
        problem: Exception | None = None
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise CannotServe(f"it ended with exit code {self.process.returncode}: {self._last_words()}")
            try:
                client = Client(("127.0.0.1", self.port), 1)
                try:
                    self.stage.open_sessions(client, own=False)
                finally:
                    client.close()
                return
            except (OSError, Malformed, Wrong) as refusal:
                problem = refusal
            time.sleep(0.1)
        raise CannotServe(f"not ready after {READY_SECONDS:g} s: {problem}: {self._last_words()}")

    def _last_words(self) -> str:
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1][-300:] if lines else "it said nothing"

    @property
    def client(self) -> Client:
        if self._client is None:
            self._client = Client(("127.0.0.1", self.port), CONNECTIONS)
        # A server may have hung up while it had nothing to do; that is no part of any measurement.
        self._client.mend()
        return self._client

    @property
    def sessions(self) -> list[str]:
        """One session of the older era for each connection."""
        if self._sessions is None:
            self._sessions = self.stage.open_sessions(self.client, own=self.stage.own_sessions)
        return self._sessions

    def processes(self) -> list[int]:
        found = [self.process.pid]
        for pid in found:
            found.extend(children(pid))
        return found

    def cpu(self) -> float:
        """Seconds of CPU so far, user and system, of the process and everything it has started."""
        return sum(cpu_seconds(pid) for pid in self.processes())

    def memory_kb(self) -> float:
        return 1024 * sum(resident_mb(pid) for pid in self.processes())

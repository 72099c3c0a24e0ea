"""A server in a process of its own, for tests that need to kill it or to look at its memory."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import attrs
import httpx
import trio

from tests.transport import paths

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@attrs.frozen
class ServerProcess:
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def exit_code(self, seconds: float) -> int:
        """Wait for the process to end by itself."""
        with trio.fail_after(seconds):
            return await trio.to_thread.run_sync(self.process.wait, abandon_on_cancel=True)

    async def ready(self, seconds: float = 20.0) -> None:
        async with httpx.AsyncClient() as client:
            with trio.fail_after(seconds):
                while True:
                    assert self.process.poll() is None, self.log.read_text()
                    try:
                        if (await client.get(f"{self.base}/probes/readyz")).status_code == 200:
                            return
                    except httpx.TransportError:
                        pass
                    await trio.sleep(0.05)


@asynccontextmanager
async def server_process(
    command: list[str], folder: Path, port: int | None = None, **environment: str
) -> AsyncIterator[ServerProcess]:
    """Run a command that serves on `GREENROOM_PORT`, until the end of the block."""
    port = port or free_port()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GREENROOM_")}
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, *command],
            cwd=ROOT,
            env={
                **clean,
                "GREENROOM_PORT": str(port),
                "GREENROOM_HTTP": paths.chosen,
                "GREENROOM_LOG_FORMAT": "json",
                "SPEEDDICT_FOLDERNAME": str(folder / "data"),
                **environment,
            },
            stdout=out,
            stderr=subprocess.STDOUT,
            # A group of its own: Hypercorn's command serves from a child, which must not outlive the test.
            start_new_session=True,
        )
    try:
        yield ServerProcess(process, port, log)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

"""The server under test, as a user starts it: a subprocess on a free port of the loopback interface.

Not a fixture with a way inside: it is ready when its readiness probe says so, and it stops on SIGTERM.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from tests.clients.install import BUILD, ROOT

LOG = BUILD / "server.log"
READY_SECONDS = 30.0
STOP_SECONDS = 15.0

# Straight to the loopback interface, whatever proxy the environment names.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ServerError(Exception):
    """The server did not become ready; the message holds the end of its output."""


@contextmanager
def running_server() -> Iterator[str]:
    """Start `greenroom serve`, wait until it is ready, yield the URL of its MCP endpoint, stop it."""
    port = _free_port()
    command = [sys.executable, "-m", "greenroom", "serve", "--port", str(port)]
    BUILD.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="greenroom-clients-") as data:
        with LOG.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=_environment(data),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait_until_ready(process, f"http://127.0.0.1:{port}/probes/readyz")
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            _stop(process)


def _environment(data: str) -> dict[str, str]:
    """The server as it comes: no setting of this shell, and data that goes away with the run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GREENROOM_")}
    return {**kept, "SPEEDDICT_FOLDERNAME": data, "PYTHONUNBUFFERED": "1"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerError(f"the server exited with {process.returncode}:\n{_tail()}")
        try:
            with _DIRECT.open(url, timeout=2) as response:
                if response.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    raise ServerError(f"not ready after {READY_SECONDS:.0f} s:\n{_tail()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"the server did not stop within {STOP_SECONDS:.0f} s of SIGTERM; killed", file=sys.stderr)
        process.kill()
        process.wait()


def _tail() -> str:
    return LOG.read_text(errors="replace")[-3000:]

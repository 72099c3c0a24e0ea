"""`dev`: a real change, a real restart, and nobody left behind, with streams open all the while."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.cli.folders import gated
from tests.cli.running import SECONDS, Running, greenroom, running, url_in
from tests.engine.folders import command
from tests.transport.playhouse import ACCEPT, initialize_request, modern_request


@contextmanager
def developing(folder: Path, tmp_path: Path, **variables: str) -> Iterator[Running]:
    settings = {"SPEEDDICT_FOLDERNAME": str(tmp_path / "data"), "GREENROOM_LOG_FORMAT": "json", **variables}
    with running("dev", str(folder), "--port", "0", **settings) as dev:
        yield dev


def listening(dev: Running) -> str:
    return url_in(dev.line('"listening"'))


def server_of(dev: Running) -> int:
    """The process that serves."""
    # It is the child of whichever thread started it.
    tasks = Path(f"/proc/{dev.process.pid}/task").glob("*/children")
    [child] = [child for task in tasks for child in task.read_text().split()]
    return int(child)


def is_alive(pid: int) -> bool:
    try:
        # One that nobody has waited for yet is a zombie, and serves nobody.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + SECONDS
    while is_alive(pid):
        assert time.monotonic() < deadline, f"{pid} is still there"
        time.sleep(0.02)


def hello(url: str) -> str:
    return greenroom("chat", url, said="/hello\n").stdout.splitlines()[-1]


def rewrite(folder: Path, answer: str) -> None:
    """As editors do it: a new file takes the place of the old one."""
    file = folder / "_commands" / "hello.py"
    part = file.with_name(".hello.py.part")
    part.write_text(command(f'return "{answer}"'), encoding="utf-8")
    part.replace(file)


class Stream:
    """A client that listens to the server until the server ends it."""

    def __init__(self, url: str, *, legacy: bool) -> None:
        self.open, self.ended = threading.Event(), threading.Event()
        threading.Thread(target=self._listen, args=(url, legacy), daemon=True).start()
        assert self.open.wait(SECONDS)

    def _listen(self, url: str, legacy: bool) -> None:
        with httpx.Client(timeout=SECONDS * 2) as client:
            if legacy:
                first = client.post(url, headers=ACCEPT, json=initialize_request("2025-11-25", {}))
                headers = {**ACCEPT, "mcp-session-id": first.headers["mcp-session-id"]}
                request = client.stream("GET", url, headers=headers)
            else:
                listen = {"notifications": {"toolsListChanged": True}}
                headers, body = modern_request("subscriptions/listen", listen)
                request = client.stream("POST", url, headers=headers, json=body)
            with request as response:
                assert response.status_code == 200
                try:
                    for _ in response.iter_raw():
                        self.open.set()
                except httpx.TransportError:
                    pass
        self.ended.set()


def test_a_change_is_served_at_the_same_address_although_streams_are_open(tmp_path: Path) -> None:
    folder = gated(tmp_path)
    with developing(folder, tmp_path) as dev:
        url = listening(dev)
        assert hello(url) == "hello there"
        first = server_of(dev)
        streams = [Stream(url, legacy=False), Stream(url, legacy=True)]
        rewrite(folder, "hello again")
        assert "hello.py" in dev.line("Changed: ")
        assert listening(dev) == url
        assert all(stream.ended.wait(SECONDS) for stream in streams)
        assert not is_alive(first)
        assert hello(url) == "hello again"


def test_a_workflow_with_a_problem_is_told_and_the_next_change_waited_for(tmp_path: Path) -> None:
    folder = gated(tmp_path)
    broken = folder / "_commands" / "broken.py"
    broken.write_text("def (\n")
    with developing(folder, tmp_path) as dev:
        dev.line("broken.py:1: does not import: SyntaxError")
        dev.line("The next change starts it again.")
        broken.unlink()
        url = listening(dev)
        assert hello(url) == "hello there"
        broken.write_text("def (\n")
        dev.line("broken.py:1: does not import: SyntaxError")
        dev.line("The next change starts it again.")
        assert dev.process.poll() is None
        dev.signal(signal.SIGINT)
        assert dev.exit_code() == 0


def test_a_change_of_the_env_file_is_a_change(tmp_path: Path) -> None:
    settings = tmp_path / "settings.env"
    settings.write_text("GREENROOM_LOG_LEVEL=info\n")
    with developing(gated(tmp_path), tmp_path, ENV_FILE_PATH=str(settings)) as dev:
        url = listening(dev)
        settings.write_text("GREENROOM_MAX_SESSIONS=none\n")
        dev.line("settings.env")
        dev.line("GREENROOM_MAX_SESSIONS is 'none' (from env file)")
        settings.write_text("GREENROOM_MAX_SESSIONS=5\n")
        assert listening(dev) == url


def test_a_mistake_that_no_file_can_mend_ends_it(tmp_path: Path) -> None:
    ran = greenroom("dev", str(gated(tmp_path)), "--port", "eighty")
    assert ran.returncode == 2
    assert "GREENROOM_PORT is 'eighty' (from command line)" in ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_both_although_a_stream_is_open(tmp_path: Path, number: signal.Signals) -> None:
    with developing(gated(tmp_path), tmp_path) as dev:
        url = listening(dev)
        server = server_of(dev)
        stream = Stream(url, legacy=False)
        dev.signal(number)
        assert dev.exit_code() == 0
        assert not is_alive(server)
        assert stream.ended.wait(SECONDS)


def test_a_server_whose_parent_was_killed_does_not_stay_behind(tmp_path: Path) -> None:
    with developing(gated(tmp_path), tmp_path) as dev:
        listening(dev)
        server = server_of(dev)
        dev.signal(signal.SIGKILL)
        wait_until_gone(server)


def test_a_server_that_does_not_react_is_killed(tmp_path: Path) -> None:
    folder = gated(tmp_path)
    with developing(folder, tmp_path) as dev:
        url = listening(dev)
        server = server_of(dev)
        os.kill(server, signal.SIGSTOP)
        try:
            rewrite(folder, "hello again")
            dev.line("Changed: ")
            assert listening(dev) == url
            assert not is_alive(server)
            assert hello(url) == "hello again"
        finally:
            with suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)

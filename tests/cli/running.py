"""The command as its users run it: in a process of its own, through pipes or on a terminal."""

from __future__ import annotations

import json
import os
import pty
import queue
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import attrs

from tests.transport.process import ROOT as ROOT

SECONDS = 30.0
"""More than anything here may take on a busy machine; only a test that fails waits for it."""


def environment(**variables: str) -> dict[str, str]:
    """Nothing of ours from outside, and warnings are errors, as in the tests themselves."""
    # The SDK leaves generators of its HTTP library to the collector, of which nobody hears otherwise.
    warnings = "error,ignore:Async generator 'http:ResourceWarning"
    clean = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": warnings, "LC_ALL": "C.UTF-8"}
    return {**clean, **variables}


def greenroom(*arguments: str, cwd: Path = ROOT, said: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "greenroom", *arguments],
        cwd=cwd,
        env=environment(**variables),
        input=said,
        capture_output=True,
        text=True,
        timeout=SECONDS * 2,
        check=False,
    )


class Running:
    """A process whose output, both streams in one pipe, is read line by line as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.heard: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        assert process.stdout is not None
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def line(self, containing: str = "") -> str:
        """The next line with that in it; those before it are passed over, but kept in `heard`."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {containing!r} in time, but: {self.heard}") from None
            if line is None:
                raise AssertionError(f"it ended without {containing!r}: {self.heard}")
            self.heard.append(line)
            if containing in line:
                return line

    def rest(self) -> list[str]:
        """Everything until its end."""
        found = []
        while (line := self._lines.get(timeout=SECONDS)) is not None:
            found.append(line)
        return found

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def exit_code(self) -> int:
        return self.process.wait(SECONDS)


@contextmanager
def running(*arguments: str, **variables: str) -> Iterator[Running]:
    process = subprocess.Popen(
        [sys.executable, "-m", "greenroom", *arguments],
        cwd=ROOT,
        env=environment(**variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield Running(process)
    finally:
        process.kill()
        process.wait()
        # Not `communicate`: it waits for everybody who has the pipe, and a test that fails may leave somebody behind.
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()


def url_in(line: str) -> str:
    """Where it listens, from the line of the log that says so."""
    url: str = json.loads(line)["url"]
    return url


@contextmanager
def serving(workflow: Path | str, folder: Path, **variables: str) -> Iterator[str]:
    """A server of that workflow, until the end of the block. Its URL."""
    settings = {"SPEEDDICT_FOLDERNAME": str(folder / "data"), "GREENROOM_LOG_FORMAT": "json", **variables}
    with running("serve", str(workflow), "--port", "0", **settings) as server:
        yield url_in(server.line('"listening"'))


# --- a terminal --------------------------------------------------------------------------------------------


@attrs.define
class Terminal:
    process: subprocess.Popen[bytes]
    _ours: int
    theirs: int
    shown: bytes = b""

    def until(self, containing: bytes) -> None:
        deadline = time.monotonic() + SECONDS
        while containing not in self.shown:
            left = deadline - time.monotonic()
            assert left > 0, f"no {containing!r} in time, but: {self.shown!r}"
            if select.select([self._ours], [], [], left)[0]:
                self.shown += os.read(self._ours, 65536)

    def forget(self) -> None:
        self.shown = b""

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def to_the_end(self) -> bytes:
        """Everything that it shows, and that it ends."""
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None or select.select([self._ours], [], [], 0)[0]:
            assert time.monotonic() < deadline, self.shown
            if select.select([self._ours], [], [], 0.05)[0]:
                self.shown += os.read(self._ours, 65536)
        return self.shown

    def modes(self) -> list[object]:
        found: list[object] = termios.tcgetattr(self.theirs)[:4]
        return found


@contextmanager
def terminal(*arguments: str, **variables: str) -> Iterator[Terminal]:
    """The command with a terminal as all of its streams, in a session of its own, so that Ctrl-C is a key."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _ON_THE_TERMINAL, *arguments],
        cwd=ROOT,
        env=environment(**{"TERM": "xterm-256color", **variables}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    try:
        yield Terminal(process, ours, theirs)
    finally:
        process.kill()
        process.wait()
        os.close(theirs)
        os.close(ours)


_ON_THE_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from greenroom.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
"""Makes the terminal the one that controls the process, without a fork of a test that has threads."""

"""The tutorial, done from beginning to end in an empty folder: files are written, commands are run, as they stand.

Only the port is another. A block that is marked `install` is left out, one that is marked `background` goes on until
the next such block takes its place, and a block of text is something that the command before it has to have said.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import httpx
import pytest

from tests.needs import program
from tests.transport.process import ROOT, free_port

TUTORIAL = ROOT / "docs" / "tutorial.md"


@attrs.define
class Learner:
    folder: Path
    port: int
    said: str = ""
    _server: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("GREENROOM_", "LLM_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}"
        return {**clean, "PATH": path, "GREENROOM_PORT": str(self.port), "HOME": str(self.folder / "home")}

    def run(self, script: str) -> None:
        done = subprocess.run(
            ["bash", "-euc", script], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        self.said = done.stdout

    def run_on(self, script: str) -> None:
        self.stop()
        with (self.folder / "server.log").open("wb") as log:
            self._server = subprocess.Popen(
                ["bash", "-euc", f"exec {script.strip()}"],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            assert self._server.poll() is None, (self.folder / "server.log").read_text()
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/probes/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the server is not ready")

    def stop(self) -> None:
        """As with Ctrl-C."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            assert self._server.wait(timeout=20) == 0
            self._server = None


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[Learner]:
    someone = Learner(tmp_path, free_port())
    yield someone
    if someone._server is not None:
        someone._server.kill()
        someone._server.wait()


def test_the_tutorial_goes_as_it_says(learner: Learner) -> None:
    program("curl")
    done = []
    for kind, note, text in re.findall(r"^```(\w+) ?(.*)\n((?:.*\n)*?)```$", TUTORIAL.read_text(), re.MULTILINE):
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{learner.port}")
        match kind, note:
            case "sh", "install":
                continue
            case "sh", "background":
                learner.run_on(text)
            case "sh", "":
                learner.run(text)
            case "python", file:
                (learner.folder / file).write_text(text)
            case "text", "":
                assert text.strip() in learner.said
            case _:
                raise AssertionError(f"what to do with a block of {kind} {note}?")
        done.append(kind)
    learner.stop()
    assert done.count("sh") >= 8
    assert done.count("text") == 3


def test_the_fifteen_lines_of_the_tutorial_are_the_example_that_ships() -> None:
    [shown] = re.findall(r"^```python app.py\n((?:.*\n)*?)```$", TUTORIAL.read_text(), re.MULTILINE)
    assert shown == (ROOT / "examples" / "plain_tearoom.py").read_text()
    assert len([line for line in shown.splitlines() if line.strip()]) <= 15

"""A real browser in front of a real server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from tests.engine.folders import command, write
from tests.needs import program
from tests.transport.process import ROOT, free_port

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_WALK = """
import os, time
workflow.report_progress(1, 3, "the curtain rises")
while not os.path.exists({gate!r}):
    time.sleep(0.02)
workflow.report_progress(2, 3, "the second act")
return f"walked to {{p.place}}"
"""


@attrs.frozen
class Theatre:
    """A server whose command `walk` waits on stage until the gate is opened."""

    base: str
    gate: Path

    def open_gate(self) -> None:
        self.gate.touch()


@contextmanager
def theatre(folder: Path, **environment: str) -> Iterator[Theatre]:
    gate, port = folder / "gate", free_port()
    fields = 'place: str = Field(description="Where to", examples=["the sea"])\npace: Literal["slow", "fast"] = "slow"'
    write(
        folder / "workflow",
        {
            "workflow_description.txt": "Walks.",
            "_commands/walk.py": command(_WALK.format(gate=str(gate)), fields=fields),
            "_commands/look.py": command('return "the sea is calm"'),
        },
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GREENROOM_")}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "greenroom", "serve", "--workflow", str(folder / "workflow")],
            cwd=ROOT,
            env={
                **clean,
                "GREENROOM_PORT": str(port),
                "SPEEDDICT_FOLDERNAME": str(folder / "data"),
                **environment,
            },
            stdout=log,
            stderr=log,
        )
    try:
        base = f"http://127.0.0.1:{port}"
        _wait_for(base, process, folder / "server.log")
        yield Theatre(base, gate)
    finally:
        gate.touch()
        process.kill()
        process.wait()


def _wait_for(base: str, process: subprocess.Popen[bytes], log: Path) -> None:
    with httpx.Client() as client:
        while True:
            assert process.poll() is None, log.read_text()
            try:
                if client.get(f"{base}/probes/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)


@contextmanager
def chromium() -> Iterator[Browser]:
    executable = program("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def watched_page(browser: Browser, complaints: list[str], **options: object) -> Page:
    """A page whose every complaint is written down: errors of scripts, of its policy, of requests to elsewhere."""
    page: Page = browser.new_page(**options)  # type: ignore[arg-type]
    page.set_default_timeout(15_000)
    page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("request", lambda request: _only_here(request.url, complaints))
    return page


def _only_here(url: str, complaints: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
        complaints.append(f"asked somebody else: {url}")

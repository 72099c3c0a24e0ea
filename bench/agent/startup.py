"""From the command line to the first answer: how long, how much memory, and what was not imported for it.

Run `python -m bench.agent.startup` from the project's folder. A model is configured, because that must cost nothing
before it is used. Which modules a server has imported is seen in a run of its own, with Python's own `-X importtime`:
it slows the start, and needs nothing of the server.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import httpx

from bench.agent.proc import children, resident_mb
from tests.transport.process import ROOT, free_port

FOLDER = ROOT / ".build" / "bench-agent"
SECONDS, MEGABYTES = 1.0, 120.0
LATER = ("litellm", "numpy")
"""Imported when they are first needed, the one next door and the other here."""

_ENVIRONMENT = {
    "LLM_AGENT": "litellm_proxy/none",
    "LITELLM_PROXY_API_BASE": "http://127.0.0.1:9/v1",
    "SPEEDDICT_FOLDERNAME": str(FOLDER / "data"),
}
_IMPORTED = re.compile(r"^import time:\s*(?P<own>\d+) \|\s*\d+ \|\s+(?P<module>\S+)$", re.MULTILINE)

_DEADLINE = 30.0
_BETWEEN_LOOKS = 0.005


@attrs.frozen
class Start:
    seconds: float
    resident_mb: float
    mapped: frozenset[str]
    """Which of the modules that come later have a library in the process's memory."""
    children: int


@contextmanager
def starting(workflow: str, log: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server that has just been started, and its base address."""
    port = free_port()
    clean = {name: each for name, each in os.environ.items() if not name.startswith("GREENROOM_")}
    command = [sys.executable, *options, "-m", "greenroom", "serve", "--workflow", workflow, "--port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env={**clean, **_ENVIRONMENT}, stdout=out, stderr=out)
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def wait_until_ready(process: subprocess.Popen[bytes], base: str, log: Path) -> None:
    until = time.monotonic() + _DEADLINE
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < until:
            if process.poll() is not None:
                raise SystemExit(f"the server ended:\n{log.read_text()}")
            try:
                if client.get(f"{base}/probes/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(_BETWEEN_LOOKS)
    raise SystemExit(f"the server was not ready after {_DEADLINE:g} s:\n{log.read_text()}")


def measure(workflow: str, log: Path) -> Start:
    began = time.perf_counter()
    with starting(workflow, log) as (process, base):
        wait_until_ready(process, base, log)
        took = time.perf_counter() - began
        maps = Path(f"/proc/{process.pid}/maps").read_text()
        mapped = frozenset(name for name in LATER if f"/{name}/" in maps)
        return Start(took, resident_mb(process.pid), mapped, len(children(process.pid)))


def imports(workflow: str, log: Path) -> list[tuple[str, float]]:
    """Every module that a server has imported once it is ready, with the milliseconds it took by itself."""
    with starting(workflow, log, "-X", "importtime") as (process, base):
        wait_until_ready(process, base, log)
    return [(found["module"], int(found["own"]) / 1000) for found in _IMPORTED.finditer(log.read_text())]


def by_package(imported: list[tuple[str, float]]) -> dict[str, float]:
    spent: dict[str, float] = {}
    for module, own in imported:
        package = module.partition(".")[0]
        spent[package] = spent.get(package, 0.0) + own
    return dict(sorted(spent.items(), key=lambda item: -item[1]))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.agent.startup", description=__doc__)
    parser.add_argument("--workflow", default="examples/bookshop")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    log = FOLDER / "startup.log"

    measure(args.workflow, log)  # not counted: it may have to compile modules, and to read them from the disk
    starts = [measure(args.workflow, log) for _ in range(args.rounds)]
    seconds = statistics.median(start.seconds for start in starts)
    memory = statistics.median(start.resident_mb for start in starts)
    each = ", ".join(f"{start.seconds:.2f}" for start in starts)
    print(f"start to ready: {seconds:.2f} s (median of {each}), {memory:.0f} MB resident")

    imported = imports(args.workflow, log)
    packages = by_package(imported)
    early = {name for name in LATER if name in packages or any(name in start.mapped for start in starts)}
    for name in LATER:
        print(f"{name} imported before it is needed: {'YES' if name in early else 'no'}")
    print(f"processes started before they are needed: {max(start.children for start in starts)}")
    costly = ", ".join(f"{name} {own:.0f} ms" for name, own in list(packages.items())[:8])
    print(f"{len(imported)} modules; most of the time for: {costly} (slower than usual, being watched)")

    good = seconds < SECONDS and memory < MEGABYTES and not early and not any(start.children for start in starts)
    print(f"target under {SECONDS:g} s and {MEGABYTES:g} MB, nothing early: {'met' if good else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

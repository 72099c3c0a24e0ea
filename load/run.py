"""`make load`: a wave of clients against a server, and a judgement of what it left behind.

Without `--url` it starts a server of its own, on the errands beside this file. A first, short wave warms the server up;
what it stands at afterwards is what it has to come back to after the long one.

    python -m load.run --sessions 2000 --minutes 5
    python -m load.run --url http://127.0.0.1:8000 --ledger FILE      # a server that serves load/errands.py

The exit code is 0 if every answer was right, nothing was executed twice or lost, and nothing leaked.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import attrs

from load import judging, wire

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / ".build" / "load"
LOCUST = BUILD / "venv" / "bin" / "locust"

SESSION_TTL = 20
"""Seconds. Longer than a client pauses, and short enough to wait for the end of all sessions."""


def install() -> None:
    pins = HERE / "requirements.txt"
    digest = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    stamp = BUILD / "stamp"
    if stamp.exists() and stamp.read_text() == digest:
        return
    print("installing locust into .build/load ...", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(BUILD / "venv")], check=True)
    pip = [str(BUILD / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--requirement", str(pins)]
    subprocess.run(pip, check=True)
    stamp.write_text(digest)


@attrs.frozen
class Target:
    url: str
    ledger: Path

    def standing(self) -> judging.Standing:
        with urlopen(f"{self.url}/metrics", timeout=30) as response:
            return judging.Standing.of(response.read().decode())

    def settled(self, seconds: float) -> judging.Standing:
        """How it stands once everybody has gone."""
        deadline = time.monotonic() + seconds
        while True:
            standing = self.standing()
            if standing.settled or time.monotonic() > deadline:
                return standing
            time.sleep(0.5)


@contextmanager
def started(folder: Path) -> Iterator[Target]:
    """A server of our own, on a free port."""
    ledger = folder / "ledger"
    ledger.touch()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GREENROOM_")},
        "LOAD_LEDGER": str(ledger),
        "SPEEDDICT_FOLDERNAME": str(folder / "data"),
        "GREENROOM_SESSION_TTL_SECONDS": str(SESSION_TTL),
        "GREENROOM_LOG_FORMAT": "json",
    }
    command = [sys.executable, "-m", "greenroom", "serve", "--workflow", str(HERE / "errands.py"), "--port", "0"]
    with (BUILD / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        yield Target(_address(server), ledger)
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()


def _address(server: subprocess.Popen[bytes]) -> str:
    for _ in range(300):
        for line in (BUILD / "server.log").read_text().splitlines():
            if '"listening"' in line:
                return line.split('"url": "')[1].split('/mcp"')[0]
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit(f"The server did not start: see {BUILD / 'server.log'}")


def idle_p95(url: str, calls: int = 200) -> float:
    """Milliseconds, of one client that has the server for itself."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)

    def call(tool: str, **arguments: str) -> str:
        headers, body = wire.modern(tool, arguments)
        connection.request("POST", "/mcp", body, headers)
        response = connection.getresponse()
        [message] = wire.messages(response.headers["content-type"], response.read().decode())
        return str(message["result"]["structuredContent"].get("session_id", ""))

    handle, times = call("initialize", user_id="user-0"), []
    for number in range(calls):
        before = time.perf_counter()
        call("execute_command", session_id=handle, command=f"mark <word>idle-{number}-{os.getpid()}</word>")
        times.append((time.perf_counter() - before) * 1000)
    connection.close()
    return sorted(times)[int(0.95 * calls)]


def wave(target: Target, name: str, sessions: int, seconds: float, told: Path) -> dict[str, judging.Row]:
    prefix = BUILD / name
    command = [str(LOCUST), "--headless", "--only-summary", "--locustfile", str(HERE / "locustfile.py")]
    command += ["--host", target.url, "--users", str(sessions), "--spawn-rate", str(max(sessions / 15, 10))]
    command += [
        "--run-time",
        f"{seconds:.0f}s",
        "--stop-timeout",
        "30",
        "--csv",
        str(prefix),
        "--html",
        f"{prefix}.html",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LOAD_TOLD": str(told), "PYTHONWARNINGS": "ignore"}
    with (BUILD / f"{name}.log").open("wb") as log:
        subprocess.run([*command, "--exit-code-on-error", "0"], env=environment, stdout=log, stderr=log, check=True)
    return dict(judging.table(Path(f"{prefix}_stats.csv").read_text()))


def judge(target: Target, options: argparse.Namespace, folder: Path) -> list[str]:
    told, bounds = folder / "told", judging.Bounds()
    told.touch()
    warm = wave(target, "warm-up", options.sessions, min(30.0, options.minutes * 30), told)
    before = target.settled(SESSION_TTL + 40)
    idle = idle_p95(target.url)
    rows = wave(target, "report", options.sessions, options.minutes * 60, told)
    after = target.settled(SESSION_TTL + 40)
    show(rows, before, after, idle)
    counted = [(name, row.failures) for each in (warm, rows) for name, row in each.items() if name != "Aggregated"]
    faults = [f"{failures} failures of {name}" for name, failures in counted if failures]
    faults += judging.leaks(before, after, bounds)
    faults += [] if after.settled else [f"{after.sessions} sessions did not end, {after.callers} callers still wait"]
    faults += judging.execution_faults(target.ledger.read_text().split(), told.read_text().split())
    if rows["call"].p95 > bounds.p95_ratio * idle:
        faults.append(f"the 95th percentile is {rows['call'].p95 / idle:.0f} times that of the idle server")
    return faults


def show(rows: dict[str, judging.Row], before: judging.Standing, after: judging.Standing, idle: float) -> None:
    print(f"{'':14}{'requests':>10}{'failures':>10}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}")
    for name, row in rows.items():
        print(f"{name:14}{row.requests:>10}{row.failures:>10}{row.p50:>9.0f}{row.p95:>9.0f}{row.p99:>9.0f}")
    print(f"p95 of a call on the idle server: {idle:.1f} ms; under load {rows['call'].p95 / idle:.0f} times that")
    print(f"before the wave: {before}\nafter the wave:  {after}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m load.run", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--url", help="a server that serves load/errands.py already")
    parser.add_argument("--ledger", type=Path, help="its LOAD_LEDGER")
    options = parser.parse_args()
    if (options.url is None) != (options.ledger is None):
        parser.error("--url and --ledger belong together: what the server executes is read from its ledger")
    BUILD.mkdir(parents=True, exist_ok=True)
    install()
    with tempfile.TemporaryDirectory(prefix="greenroom-load-") as name:
        folder = Path(name)
        if options.url is None:
            with started(folder) as target:
                faults = judge(target, options, folder)
        else:
            faults = judge(Target(options.url.rstrip("/"), options.ledger), options, folder)
    for fault in faults[:20]:
        print(f"WRONG: {fault}")
    print(f"{options.sessions} sessions for {options.minutes:g} minutes: ", end="")
    print("nothing wrong, nothing lost, nothing leaked" if not faults else f"{len(faults)} faults")
    print(f"the report is {BUILD.relative_to(ROOT) / 'report.html'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

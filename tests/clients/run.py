"""`python -m tests.clients.run`: run the real clients against a server, one line each; exit 0 if all pass.

Starts the server itself unless given `--url`. Each client is a subprocess with a deadline, a home directory
of its own and its output in files, so none can hang the run, read the user's settings or leave any behind.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent

from tests.clients.catalogue import CLIENTS, RealClient
from tests.clients.install import ROOT, InstallError
from tests.clients.report import Report
from tests.clients.server import LOG, ServerError, running_server

DEADLINE_SECONDS = 60.0
ROW = "{:<17} {:<8} {:<11} {:>8} {:>7}  {}"


def main() -> int:
    args = _arguments()
    chosen = [client for client in CLIENTS if not args.only or client.name in args.only]
    try:
        for need in dict.fromkeys(client.needs for client in chosen if client.needs):
            need()
        with nullcontext(args.url) if args.url else running_server() as url:
            passed = _run_all(chosen, url, args.verbose)
        if not passed and not args.url:
            print(f"the server's log: {LOG.relative_to(ROOT)}")
        return 0 if passed else 1
    except (InstallError, ServerError) as exc:
        print(exc, file=sys.stderr)
        return 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.run", description=__doc__)
    parser.add_argument("--url", help="the MCP endpoint of a running server (default: start one)")
    parser.add_argument(
        "--only", action="append", choices=[client.name for client in CLIENTS], help="run this one; may be repeated"
    )
    parser.add_argument("--verbose", action="store_true", help="show the stderr of a client that fails")
    return parser.parse_args()


def _run_all(clients: Iterable[RealClient], url: str, verbose: bool) -> bool:
    print(ROW.format("client", "version", "protocol", "progress", "lead", "verdict"), flush=True)
    failed = []
    for client in clients:
        report, reason, stderr = _run_one(client, url)
        seen = (report.version, report.protocol or "?", report.progress, f"{report.lead:.2f}s") if report else "?" * 4
        print(ROW.format(client.name, *seen, "ok" if reason is None else f"FAILED: {reason}"), flush=True)
        if reason is not None:
            failed.append(client.name)
            if verbose:
                print(indent(stderr, "    "), end="", flush=True)
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return not failed


def _run_one(client: RealClient, url: str) -> tuple[Report | None, str | None, str]:
    """The client's report, why it does not pass (None when it does), and what it wrote to stderr."""
    with TemporaryDirectory(prefix="greenroom-client-", ignore_cleanup_errors=True) as home:
        out, err = Path(home) / "stdout", Path(home) / "stderr"
        code = _execute(client.command(url), _environment(home), out, err)
        report = Report.from_output(out.read_text(errors="replace"))
        stderr = err.read_text(errors="replace")
    if code is None:
        return report, f"no result after {DEADLINE_SECONDS:.0f} s; {_last_line(stderr)}", stderr
    if report is None or code != 0:
        return report, f"exit {code}; {_last_line(stderr)}", stderr
    return report, report.problem(client.protocol), stderr


def _execute(command: list[str], env: dict[str, str], out: Path, err: Path) -> int | None:
    """Run to the end or to the deadline: the exit code, or None when it had to be killed."""
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    try:
        return process.wait(DEADLINE_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # The whole group, after success too: a client may leave a child behind. A new session's leader has
        # its own pid as the group's id.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _environment(home: str) -> dict[str, str]:
    """Ours, but with an empty home (stored tokens, catalogues) and no proxy on the way to this machine."""
    direct = "127.0.0.1,localhost,::1"
    return {**os.environ, "HOME": home, "TMPDIR": home, "NO_PROXY": direct, "no_proxy": direct, "NO_COLOR": "1"}


def _last_line(text: str) -> str:
    # The traceback of an exception group is framed with these characters and ends in a line of them.
    lines = [line.strip(" |+-") for line in text.splitlines() if line.strip(" |+-")]
    return lines[-1][:300] if lines else "nothing on its stderr"


if __name__ == "__main__":
    sys.exit(main())

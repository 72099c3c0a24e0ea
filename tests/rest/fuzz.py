"""Schemathesis against a real server of the bookshop: `python -m tests.rest.fuzz --cases 5000`.

It starts `greenroom serve`, opens a session with something in it, and lets Schemathesis make requests from
`/openapi.json`, right ones and wrong ones, until there were so many. Any failure of a check, any 500 and any line that
the server logs as an error makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import httpx
import trio

from tests.transport.process import ROOT, ServerProcess, server_process

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "positive_data_acceptance",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
)
"""All but those about resources that come and go (there are none here) and `ignored_auth`: a session id that nobody
has is a thing that is not found, 404, and a test of ours says that a missing one is 401."""

# A command that does not exist is refused with 422 although its text fits the schema; a deadline of a microsecond
# cannot be met, and that is 504.
SETTINGS = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "404", "409", "422", "504"]
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "504"]
"""

OPERATIONS = 15


@attrs.frozen
class Tally:
    cases: int = 0
    failures: int = 0
    told: str = ""

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.cases + other.cases, self.failures + other.failures, self.told + other.told)


@attrs.frozen
class Fuzzer:
    base: str
    folder: Path
    session: str
    known: dict[str, str]

    async def run(self, examples: int, phases: str, seed: int) -> Tally:
        settings = self.folder / "schemathesis.toml"
        settings.write_text(SETTINGS)
        report = self.folder / f"report-{seed}.json"
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            f"--config-file={settings}",
            "run",
            f"{self.base}/openapi.json",
            f"--header=Authorization: Bearer {self.session}",
            f"--checks={','.join(CHECKS)}",
            f"--phases={phases}",
            f"--max-examples={examples}",
            f"--seed={seed}",
            "--continue-on-failure",
            "--generation-with-security-parameters=false",
            "--generation-database=none",
            "--request-timeout=60",
            "--suppress-health-check=all",
            f"--report-json-path={report}",
            "--no-color",
        ]
        environment = {**os.environ, **self.known, "SCHEMATHESIS_HOOKS": "tests.rest.fuzz_hooks", "PYTHONPATH": "."}
        # In the project's folder, so that the hooks are found.
        ran = await trio.run_process(
            command, cwd=ROOT, env=environment, capture_stdout=True, stderr=subprocess.STDOUT, check=False
        )
        return _tally(report, ran.stdout.decode("utf-8", "replace"), ran.returncode)


def _tally(report: Path, told: str, exit_code: int) -> Tally:
    if not report.exists():
        return Tally(0, 1, told)
    found: dict[str, Any] = json.loads(report.read_text())
    bad = len(found["failures"]) + len(found["errors"])
    # What it reports as neither may still have ended it.
    return Tally(found["test_cases"]["generated"], max(bad, int(exit_code != 0)), told if exit_code else "")


async def prepare(server: ServerProcess, folder: Path) -> Fuzzer:
    """A session with a conversation and a turn in it, so that some of what is made up is there."""
    async with httpx.AsyncClient(base_url=server.base, timeout=30) as client:
        opened = (await client.post("/initialize", json={"user_id": "fuzz"})).json()
        headers = {"authorization": f"Bearer {opened['session_id']}"}
        command = {"command": "what_can_i_do"}
        (await client.post("/execute_command", headers=headers, json=command)).raise_for_status()
        conversation = opened["conversation"]["conversation_id"]
        read = (await client.get(f"/conversations/{conversation}", headers=headers)).json()
    known = {"FUZZ_CONVERSATION": conversation, "FUZZ_TURN": read["turns"][0]["turn_id"]}
    return Fuzzer(server.base, folder, opened["session_id"], known)


def complaints(log: Path) -> list[str]:
    """What the server itself says went wrong, and lines that are no log."""
    return [line for line in filter(None, log.read_text().split("\n")) if _is_bad(line)]


def _is_bad(line: str) -> bool:
    try:
        entry = json.loads(line)
    except ValueError:
        return True
    return entry["level"] in ("error", "critical") or entry.get("status") == 500


async def fuzz(cases: int, seed: int, folder: Path) -> Tally:
    command = ["-m", "greenroom", "serve", "--workflow", "examples/bookshop"]
    async with server_process(command, folder) as server:
        await server.ready()
        fuzzer = await prepare(server, folder)
        tally = Tally()
        phases = "examples,coverage,fuzzing"
        while tally.cases < cases and not tally.failures:
            wanted = max(1, (cases - tally.cases) // OPERATIONS)
            tally += await fuzzer.run(wanted, phases, seed)
            phases, seed = "fuzzing", seed + 1
        bad = complaints(server.log)
        return tally + Tally(0, len(bad), "\n".join(bad[:20]))


async def fuzz_briefly(cases: int, seed: int, folder: Path) -> Tally:
    """Made-up requests alone, a few of every route."""
    command = ["-m", "greenroom", "serve", "--workflow", "examples/bookshop"]
    async with server_process(command, folder) as server:
        await server.ready()
        fuzzer = await prepare(server, folder)
        tally = await fuzzer.run(max(1, cases // OPERATIONS), "fuzzing", seed)
        bad = complaints(server.log)
        return tally + Tally(0, len(bad), "\n".join(bad[:20]))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        tally = trio.run(fuzz, chosen.cases, chosen.seed, Path(folder))
    print(tally.told)
    print(f"{tally.cases} cases, {tally.failures} failures")
    return 1 if tally.failures or tally.cases < chosen.cases else 0


if __name__ == "__main__":
    sys.exit(main())

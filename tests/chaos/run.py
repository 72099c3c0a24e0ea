"""Kill the server again and again while clients are at work, and see that it keeps its word: `make chaos`.

A round: clients of both eras work on a server; at some moment its process group is killed with SIGKILL; the next
server starts on the same port and data, while a copy of the files is opened and compared; then everything is compared
through the server. In some rounds the next server too is killed, at once, in the middle of its recovery. What must
hold: no turn that was answered is lost, none is there twice, repeating an answered call never runs it again, every
database opens, and turns are numbered without a gap.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random

import attrs
import httpx
import trio

from tests.chaos.checks import check_files, check_over_mcp
from tests.chaos.findings import Findings, Kind
from tests.chaos.users import Line, User
from tests.engine.folders import command, write
from tests.transport.process import ServerProcess, free_port, server_process

USERS = 6
AGAIN_AT_ONCE = 0.1
"""The share of rounds in which the next server is killed while it recovers."""
SECONDS_PER_ROUND = 20.0
"""Far more than any takes: a run that hangs must end."""

_MARK = """
    with open({log!r}, 'ab', buffering=0) as log:
        log.write(p.word.encode() + b'\\n')
    workflow.context['marks'] = workflow.context.get('marks', 0) + 1
    return f"{{p.word}} {{workflow.context['marks']}}"
"""


@attrs.define
class Chaos:
    folder: Path
    seed: int
    program: Sequence[str] = ("-m", "greenroom", "serve")
    """What is run, with the workflow as its argument."""
    findings: Findings = attrs.field(factory=Findings)
    users: list[User] = attrs.field(init=False)
    random: Random = attrs.field(init=False)
    kills: int = 0
    _port: int = attrs.field(factory=free_port)

    def __attrs_post_init__(self) -> None:
        self.random = Random(self.seed)
        self.users = [
            User(f"user{number}", number % 2 == 1, Random(f"{self.seed}-{number}"), self.findings)
            for number in range(USERS)
        ]
        mark = command(_MARK.format(log=str(self._executions)), fields="word: str")
        write(self.folder / "workflow", {"workflow_description.txt": "Counts.", "_commands/mark.py": mark})

    @property
    def acknowledged(self) -> int:
        return sum(len(user.seen) for user in self.users)

    async def play(self, rounds: int, report_every: int = 20) -> None:
        for number in range(1, rounds + 1):
            with trio.fail_after(SECONDS_PER_ROUND):
                if self.random.random() < AGAIN_AT_ONCE:
                    await self._life(self.random.uniform(0.0, 0.04), check=False)
                await self._life(self.random.uniform(0.02, 0.4), check=True)
            if number % report_every == 0:
                print(f"round {number}: {self.summary()}", flush=True)
        with trio.fail_after(60):
            async with self._server() as server:
                await self._check_over_mcp(server)
            self._look_at_log()
        self._check_executions()
        check_files(self._conversations, self.users, self.findings, whole=True)

    def summary(self) -> str:
        counts = ", ".join(f"{self.findings.count(kind)} {kind}" for kind in Kind)
        behind = sum(user.behind for user in self.users)
        return f"{self.kills} kills, {self.acknowledged} acknowledged turns, {counts}; workflow state behind: {behind}"

    # --- one life of a server ------------------------------------------------------------------------------

    async def _life(self, seconds: float, *, check: bool) -> None:
        async with self._server() as server:
            if check:
                await self._check_over_mcp(server)
            killed = trio.Event()
            async with self._client() as client, trio.open_nursery() as nursery:
                for user in self.users:
                    nursery.start_soon(user.perform, self._line(client, server, user.legacy), killed)
                await trio.sleep(seconds)
                os.killpg(server.process.pid, signal.SIGKILL)
                killed.set()
                self.kills += 1
        self._look_at_log()

    @asynccontextmanager
    async def _server(self) -> AsyncIterator[ServerProcess]:
        """A server that is ready. While it starts, what the last one left is looked at, in a copy."""
        copy = self.folder / "copy"
        if self._conversations.exists():
            shutil.copytree(self._conversations, copy)
        serve = [*self.program, "--workflow", str(self.folder / "workflow")]
        data = {"SPEEDDICT_FOLDERNAME": str(self.folder / "data")}
        async with server_process(serve, self.folder, self._port, **data) as server:
            if copy.exists():
                self._check_executions()
                await trio.to_thread.run_sync(partial(check_files, copy, self.users, self.findings, whole=False))
                shutil.rmtree(copy)
            await server.ready()
            yield server

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=10, limits=httpx.Limits(max_connections=None), verify=False)

    def _line(self, client: httpx.AsyncClient, server: ServerProcess, legacy: bool) -> Line:
        return Line(client, f"{server.base}/mcp", legacy)

    # --- comparing -----------------------------------------------------------------------------------------

    async def _check_over_mcp(self, server: ServerProcess) -> None:
        async with self._client() as client, trio.open_nursery() as nursery:
            for user in self.users:
                line, clerk = self._line(client, server, user.legacy), self._line(client, server, True)
                nursery.start_soon(check_over_mcp, user, line, clerk, self.findings)
        for user in self.users:
            user.touched.clear()

    def _check_executions(self) -> None:
        log = Counter(self._executions.read_text().split()) if self._executions.exists() else Counter()
        for user in self.users:
            self.findings.compare_executions(user.seen.values(), log)

    def _look_at_log(self) -> None:
        """A server that complains has met something that it should not have."""
        for line in (self.folder / "server.log").read_text().splitlines():
            # Its last line may be torn.
            if line.startswith("{") and line.endswith("}") and json.loads(line).get("level") in ("error", "critical"):
                self.findings.add(Kind.OTHER, "log", line)

    @property
    def _executions(self) -> Path:
        return self.folder / "executions"

    @property
    def _conversations(self) -> Path:
        return self.folder / "data" / "user_conversations"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None, help="the same moments and calls again; any if left out")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else Random().randrange(10**6)
    folder = Path(tempfile.mkdtemp(prefix="greenroom-chaos-"))
    print(f"seed {seed}, in {folder}", flush=True)
    chaos = Chaos(folder, seed)
    try:
        trio.run(chaos.play, arguments.rounds)
    finally:
        for sentence in chaos.findings.sentences:
            print(sentence)
    print(f"{arguments.rounds} rounds, {chaos.summary()}")
    if len(chaos.findings):
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Turns of the agent at once, with a model that takes 200 ms a call: how many per second, how long, at what cost.

Run `python -m bench.agent.turns` from the project's folder. The model is a stub in a process of its own, the server is
`greenroom serve` as an operator would start it, and every session is an MCP client of the newer era that does nothing
but one-command `invoke_agent` turns, each checked. All of them share the machine's cores, the clients included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import httpx
import trio

from bench.agent.proc import children, cpu_seconds, resident_mb
from bench.agent.stub import asking
from tests.transport.playhouse import answer, modern_request
from tests.transport.process import ROOT, server_process

FOLDER = ROOT / ".build" / "bench-agent"
CALLS_PER_TURN = 2
TURNS_PER_SECOND, MEDIAN_SECONDS = 60.0, 0.8
WARM_UP_SECONDS = 60.0
SETTLING_SECONDS = 2.0
"""The first turns of all sessions start together; after this they no longer march in step."""


@attrs.frozen
class Task:
    """A command, and what its response must contain."""

    command: str
    parameters: Mapping[str, str]
    expected: str


TASKS = (
    Task("find_books", {"query": "Hronek"}, "by Pavel Hronek"),
    Task("find_books", {"query": "Calder"}, "by Ines Calder"),
    Task("find_books", {"query": "Brandt"}, "by Aiko Brandt"),
    Task("find_books", {"query": "Verhoeven", "genre": "science"}, "by Ida Verhoeven"),
)


@attrs.define
class Tally:
    """What happened between the start and the end of the measurement."""

    latencies: list[float] = attrs.Factory(list)
    wrong: list[str] = attrs.Factory(list)
    counting: bool = False


@attrs.frozen
class Session:
    number: int
    client: httpx.AsyncClient
    url: str
    tally: Tally

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        headers, body = modern_request("tools/call", {"name": tool, "arguments": arguments})
        response = await self.client.post(self.url, headers=headers, json=body)
        result: dict[str, Any] = answer(response)["result"]
        return result

    async def open(self) -> str:
        handle: str = (await self.call("initialize", {}))["structuredContent"]["session_id"]
        return handle

    async def turn(self, handle: str, turn: int) -> None:
        task = TASKS[(self.number + turn) % len(TASKS)]
        mark = f"session {self.number}, turn {turn}"
        query = asking(mark, task.command, task.parameters)
        started = trio.current_time()
        result = await self.call("invoke_agent", {"session_id": handle, "user_query": query})
        took = trio.current_time() - started
        said = result["structuredContent"].get("response_text", "")
        if not (said.startswith(f"[{mark}] {task.command} succeeded") and task.expected in said):
            self.tally.wrong.append(f"{query} -> {said or result['content']}")
        if self.tally.counting:
            self.tally.latencies.append(took)

    async def play(self, *, task_status: trio.TaskStatus[None]) -> None:
        """One turn to warm up, then turn after turn until cancelled."""
        handle = await self.open()
        await self.turn(handle, 0)
        task_status.started()
        turn = 0
        while True:
            turn += 1
            await self.turn(handle, turn)


@asynccontextmanager
async def stub_process(delay: float) -> AsyncIterator[tuple[int, str]]:
    """The stub's process id and base address."""
    command = [sys.executable, "-m", "bench.agent.stub", str(delay)]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield process.pid, (await process.stdout.receive_some(200)).decode().strip()
    finally:
        process.kill()
        await process.wait()
        await process.stdout.aclose()


def _client() -> httpx.AsyncClient:
    # One per session: a pool that forty tasks share costs more than the requests that go through it.
    return httpx.AsyncClient(timeout=60, verify=False, trust_env=False, limits=httpx.Limits(max_connections=None))


@attrs.frozen
class Played:
    """What a run has shown. CPU seconds and megabytes are by process."""

    tally: Tally
    calls: int
    seconds: float
    spent: Mapping[str, float]
    memory: Mapping[str, float]


async def measure(workflow: str, sessions: int, seconds: float, delay: float) -> bool:
    """Print the figures. Whether they reach the targets and every answer was right."""
    return report(await play(workflow, sessions, seconds, delay))


async def play(workflow: str, sessions: int, seconds: float, delay: float) -> Played:
    """Turns of so many sessions at once, for so long, with a model that takes `delay` seconds for a call."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = ["-m", "greenroom", "serve", "--workflow", workflow]
    # A data folder of its own: what an earlier run has left behind must not be in the way.
    data = TemporaryDirectory(dir=FOLDER, ignore_cleanup_errors=True)
    async with (
        stub_process(delay) as (stub, base),
        server_process(
            command,
            FOLDER,
            LLM_AGENT="litellm_proxy/stub",
            LITELLM_PROXY_API_BASE=base,
            SPEEDDICT_FOLDERNAME=data.name,
        ) as server,
        trio.open_nursery() as playing,
        _client() as client,
    ):
        await server.ready()
        tally = Tally()
        with trio.fail_after(WARM_UP_SECONDS):
            await _warm_up(playing, sessions, f"{server.base}/mcp", tally)
        (child,) = children(server.process.pid)
        processes = {"server": server.process.pid, "litellm": child, "stub": stub, "clients": os.getpid()}
        before = {name: cpu_seconds(pid) for name, pid in processes.items()}
        calls = await _calls(client, base)
        tally.counting = True
        await trio.sleep(seconds)
        tally.counting = False
        calls = await _calls(client, base) - calls
        spent = {name: cpu_seconds(pid) - before[name] for name, pid in processes.items()}
        memory = {name: resident_mb(pid) for name, pid in processes.items()}
        playing.cancel_scope.cancel()
    data.cleanup()
    return Played(tally, calls, seconds, spent, memory)


async def _warm_up(playing: trio.Nursery, sessions: int, url: str, tally: Tally) -> None:
    """Start every session, and wait until each has had a turn. The first one starts litellm for all."""
    await playing.start(Session(0, _client(), url, tally).play)
    async with trio.open_nursery() as starting:
        for number in range(1, sessions):
            starting.start_soon(playing.start, Session(number, _client(), url, tally).play)
    await trio.sleep(SETTLING_SECONDS)


async def _calls(client: httpx.AsyncClient, base: str) -> int:
    calls: int = (await client.get(f"{base}/calls")).json()["calls"]
    return calls


def report(played: Played) -> bool:
    tally, seconds = played.tally, played.seconds
    turns = len(tally.latencies)
    if not turns:
        print("no turn was completed:", *tally.wrong[:3], sep="\n")
        return False
    rate, median = turns / seconds, statistics.median(tally.latencies)
    p95 = sorted(tally.latencies)[int(0.95 * turns)]
    per_turn = played.calls / turns
    print(f"{turns} turns in {seconds:g} s: {rate:.1f} turns/s, median {median:.3f} s, p95 {p95:.3f} s")
    print(f"{per_turn:.2f} LLM calls per turn, {len(tally.wrong)} wrong answers")
    for name, each in played.spent.items():
        print(
            f"  {name:<8} {each / turns * 1000:6.2f} ms of CPU per turn, {each / seconds:4.0%} of a core, "
            f"{played.memory[name]:4.0f} MB resident"
        )
    for wrong in tally.wrong[:3]:
        print(f"wrong: {wrong}")
    # Turns that are under way at either end of the measurement blur the count by a fraction of a call.
    good = not tally.wrong and abs(per_turn - CALLS_PER_TURN) < 0.1
    reached = rate >= TURNS_PER_SECOND and median < MEDIAN_SECONDS
    print(
        f"target {TURNS_PER_SECOND:g} turns/s at a median under {MEDIAN_SECONDS:g} s: {'met' if reached else 'MISSED'}"
    )
    return good and reached


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.agent.turns", description=__doc__)
    parser.add_argument("--workflow", default="examples/bookshop")
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--delay", type=float, default=0.2, help="how long the model takes for a call")
    args = parser.parse_args()
    return 0 if trio.run(measure, args.workflow, args.sessions, args.seconds, args.delay) else 1


if __name__ == "__main__":
    sys.exit(main())

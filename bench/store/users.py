"""Ten thousand users, one conversation and one turn each: open databases, memory, and how long the event loop stands.

Run `python -m bench.store.users` from the project's folder. The server is a process of its own, this same module with
`--serve`: the product as it is, with a task that sleeps a millisecond at a time and notes how much later than that it
wakes up, and a stop-watch on what the store does to the disk. Then some of the users come back. A lag that is no work
of the loop is time that it was kept waiting, by the disk or by whoever else is busy on this machine: so the work is
told too, and what an idle loop and a bare sync took at the same time. The users themselves would be elsewhere, and so
theirs is the lower priority.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import httpx
import trio

from bench.agent.proc import cpu_seconds, resident_mb
from bench.store.lag import ABOVE_MS, Floor, Lag
from greenroom.config.settings import load_settings
from greenroom.persistence import pool
from greenroom.persistence.database import Database
from greenroom.persistence.speedict_store import MAX_OPEN, SpeedictStore
from greenroom.transport.app import GreenroomApp, create_app
from greenroom.transport.logs import configure_logging
from greenroom.transport.serving import serve_app
from greenroom.workflow.catalog import find_workflow
from tests.transport.playhouse import answer, modern_request
from tests.transport.process import ROOT, ServerProcess, server_process

WORST_LAG_MS, GROWTH_MB = float(ABOVE_MS), 100.0
CLIENTS = 8
NICENESS = 10
"""Of the clients, so that they do not keep the server from the processors."""


# --- the server --------------------------------------------------------------------------------------------


def time_it(lag: Lag, owner: Any, name: str, label: str) -> None:
    function: Callable[..., Any] = getattr(owner, name)

    def timed(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            lag.note(label, (time.perf_counter() - started) * 1000)

    setattr(owner, name, timed)


def watch(lag: Lag, app: GreenroomApp) -> None:
    time_it(lag, Database, "_reopen", "open")
    time_it(lag, Database, "close", "close")
    time_it(lag, Database, "write", "write")
    time_it(lag, SpeedictStore, "sync", "sync all")
    time_it(lag, pool, "_make_home", "make folder")
    began = [0.0]

    def collecting(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            began[0] = time.perf_counter()
        else:
            lag.note(f"gc {info['generation']}", (time.perf_counter() - began[0]) * 1000)

    gc.callbacks.append(collecting)

    async def figures() -> dict[str, Any]:
        return {"sessions": len(app.supervisor), **lag.take()}

    async def sampling() -> None:
        await app.nursery.start(lag.sample)

    app.add_url_rule("/figures", view_func=figures)
    app.before_serving(sampling)


def serve() -> int:
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    logging.getLogger("greenroom.request").setLevel(logging.WARNING)
    app = create_app(settings, find_workflow(settings))
    watch(Lag(), app)
    return serve_app(app, settings)


# --- the users ---------------------------------------------------------------------------------------------


@attrs.define
class Bench:
    server: ServerProcess
    data: Path
    handles: dict[int, str] = attrs.field(factory=dict)
    most_open: int = 0
    most_descriptors: int = 0
    most_threads: int = 0

    async def call(self, client: httpx.AsyncClient, tool: str, **arguments: str) -> dict[str, Any]:
        headers, body = modern_request("tools/call", {"name": tool, "arguments": arguments})
        result = answer(await client.post(f"{self.server.base}/mcp", headers=headers, json=body))["result"]
        assert result["isError"] is False, result
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    async def visit(self, client: httpx.AsyncClient, number: int) -> None:
        if number not in self.handles:
            opened = await self.call(client, "initialize", user_id=f"user-{number}")
            self.handles[number] = opened["session_id"]
        await self.call(client, "execute_command", session_id=self.handles[number], command="list_orders")

    async def all_visit(self, title: str, numbers: list[int], floor: Floor) -> dict[str, Any]:
        """By a few clients, each with one user after the other. What the server says of itself afterwards."""
        await self._figures()
        with floor:
            seconds, busy = await self._visits(numbers)
        figures = await self._figures()
        print(f"{title}: {len(numbers)} users in {seconds:.0f} s, {busy / len(numbers) * 1000:.1f} ms of CPU each")
        self._tell(figures)
        print(f"  {floor}")
        return figures

    async def _visits(self, numbers: list[int]) -> tuple[float, float]:
        """Seconds on the clock, and of the server's processors."""
        waiting, busy, started = iter(numbers), cpu_seconds(self.server.process.pid), time.perf_counter()

        async def share() -> None:
            async with httpx.AsyncClient(timeout=60, verify=False) as client:
                for number in waiting:
                    await self.visit(client, number)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch)
            async with trio.open_nursery() as clients:
                for _ in range(CLIENTS):
                    clients.start_soon(share)
            nursery.cancel_scope.cancel()
        return time.perf_counter() - started, cpu_seconds(self.server.process.pid) - busy

    def _tell(self, figures: dict[str, Any]) -> None:
        print(
            f"  loop lag median {figures['p50']:.1f} ms, p99 {figures['p99']:.1f}, p99.9 {figures['p99.9']:.1f}",
            end=", ",
        )
        print(f"worst {figures['max']:.1f}; {figures['above']} of {figures['samples']} above {ABOVE_MS} ms", end="; ")
        print(f"most work at a time {figures['busiest']:.1f} ms; the worst, and what was done:")
        for each in figures["worst"]:
            print(f"    {each['late']} ms, of which {each['cpu']} CPU: {each['did']}")
        for name, (times, total, longest) in sorted(figures["operations"].items()):
            print(f"  {name}: {times} times, {total / times:.2f} ms each, at most {longest:.1f} ms")

    async def _figures(self) -> dict[str, Any]:
        async with httpx.AsyncClient(timeout=60, verify=False) as client:
            figures: dict[str, Any] = (await client.get(f"{self.server.base}/figures")).json()
            return figures

    async def _watch(self) -> None:
        while True:
            self.look_at_process()
            await trio.sleep(0.5)

    def look_at_process(self) -> None:
        """What was there before a look around and still is after it was there all at once."""
        pid = self.server.process.pid
        held = _descriptors(pid, self.data) & _descriptors(pid, self.data)
        self.most_open = max(self.most_open, len({database for _, database in held}))
        self.most_descriptors = max(self.most_descriptors, len(held))
        self.most_threads = max(self.most_threads, len(os.listdir(f"/proc/{pid}/task")))


def _descriptors(pid: int, data: Path) -> set[tuple[str, str]]:
    """Each with the database that it belongs to."""
    found = set()
    for entry in os.scandir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            path = os.readlink(entry.path)
            if path.startswith(f"{data}/") and "/db/" in path:
                found.add((entry.name, path.partition("/db/")[0]))
    return found


async def measure(users: int, returning: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix="greenroom-users-"))
    settings = {"SPEEDDICT_FOLDERNAME": str(folder), "WORKFLOW_PATH": str(ROOT / "examples" / "bookshop")}
    try:
        async with server_process(["-m", "bench.store.users", "--serve"], folder, None, **settings) as server:
            await server.ready()
            bench = Bench(server, folder / "user_conversations")
            floors = [Floor.waiting() for _ in range(3)]
            os.nice(NICENESS)
            await bench.all_visit("warming up", [users], floors[0])
            before = resident_mb(server.process.pid)
            first = await bench.all_visit("first visit", list(range(users)), floors[1])
            after = resident_mb(server.process.pid)
            again = await bench.all_visit("coming back", list(range(returning)), floors[2])
    finally:
        shutil.rmtree(folder)
    lag, growth = max(first["max"], again["max"]), after - before
    print(f"open databases: at most {bench.most_open} (bound {MAX_OPEN} and the sessions')", end=", ")
    print(f"{bench.most_descriptors} descriptors, {bench.most_threads} threads")
    print(f"memory: {before:.0f} MB before, {after:.0f} MB with {first['sessions']} sessions, {growth:+.0f} MB")
    print(f"most work of the loop at a time: {max(first['busiest'], again['busiest']):.1f} ms")
    worst = max(first["worst"] + again["worst"], key=lambda each: float(each["late"]))
    print(f"worst lag: {lag:.1f} ms (target {WORST_LAG_MS:.0f} ms), of which {worst['cpu']} ms were work", end="; ")
    idle = max(floor.figures["loop"]["max"] for floor in floors)
    disk = max(floor.figures["disk"][2] for floor in floors)
    print(f"meanwhile, the worst of an idle loop was {idle:.1f} ms, and of a bare sync {disk:.1f} ms")
    return 0 if bench.most_open <= MAX_OPEN + 1 and growth < GROWTH_MB and lag < WORST_LAG_MS else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--returning", type=int, default=1000)
    arguments = parser.parse_args()
    return serve() if arguments.serve else trio.run(measure, arguments.users, arguments.returning)


if __name__ == "__main__":
    sys.exit(main())

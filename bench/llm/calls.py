"""Calls to a model that answers at once, or after 200 ms: our CPU, calls per second, memory, cancellation.

Run `python -m bench.llm.calls` from the project's folder, with litellm installed. The endpoint is a fake in a process
of its own, so that its work is not counted as ours; it shares the machine's cores with everything else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from greenroom.config.secret import Secret
from greenroom.workflow.llm.port import Message, Purpose, Request
from greenroom.workflow.llm.process import LlmProcess
from greenroom.workflow.llm.routes import Routes
from tests.llm.fake_openai import Answer, FakeOpenAI

REQUEST = Request(Purpose.AGENT, [Message("system", "You are brief. " * 50), Message("user", "How are you?")])
TICKS = os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int | str) -> float:
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@asynccontextmanager
async def model_at(base: str) -> AsyncIterator[LlmProcess]:
    routes = Routes({"LLM_AGENT": "litellm_proxy/fake"}, {"LITELLM_PROXY_API_KEY": Secret("none")}, proxy_base=base)
    llm = LlmProcess(routes)
    async with trio.open_nursery() as nursery:
        await nursery.start(llm.run)
        yield llm
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def endpoint(delay: float) -> AsyncIterator[str]:
    command = [sys.executable, "-m", "tests.llm.fake_openai", str(delay)]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield (await process.stdout.receive_some(200)).decode().strip()
    finally:
        process.kill()
        await process.stdout.aclose()


async def in_parallel(llm: LlmProcess, calls: int, concurrency: int) -> None:
    left = calls

    async def caller() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await llm.complete(REQUEST)

    async with trio.open_nursery() as callers:
        for _ in range(concurrency):
            callers.start_soon(caller)


async def measure(delay: float) -> None:
    async with endpoint(delay) as base, model_at(base) as llm:
        before = time.perf_counter()
        await llm.complete(REQUEST)
        print(f"first call, with the start of the child: {time.perf_counter() - before:.2f} s")
        assert llm.pid is not None
        for concurrency in (1, 8, 40):
            calls = 400 if not delay else 10 * concurrency
            await in_parallel(llm, concurrency, concurrency)
            wall, ours, theirs = time.perf_counter(), time.process_time(), cpu_seconds(llm.pid)
            await in_parallel(llm, calls, concurrency)
            wall, ours, theirs = (
                time.perf_counter() - wall,
                time.process_time() - ours,
                cpu_seconds(llm.pid) - theirs,
            )
            print(
                f"delay {delay * 1000:3.0f} ms, {concurrency:2} at once: {calls / wall:6.1f} calls/s, CPU per call "
                f"{ours / calls * 1000:.2f} ms here, {theirs / calls * 1000:.1f} ms in the child"
            )
        print(f"resident: {resident_mb('self'):.0f} MB here, {resident_mb(llm.pid):.0f} MB in the child")


async def measure_cancellation(rounds: int = 20) -> None:
    fake = FakeOpenAI(otherwise=Answer(delay=60))
    back, seen = [], []
    async with trio.open_nursery() as nursery:
        await nursery.start(fake.run)
        async with model_at(fake.base) as llm:
            for gone in range(1, rounds + 1):
                async with trio.open_nursery() as callers:
                    callers.start_soon(llm.complete, REQUEST)
                    await fake.until(in_flight=1)
                    started = time.perf_counter()
                    callers.cancel_scope.cancel()
                back.append(time.perf_counter() - started)
                await fake.until(gone=gone)
                seen.append(time.perf_counter() - started)
        nursery.cancel_scope.cancel()
    middle = rounds // 2
    print(
        f"cancel: the caller is free after {sorted(back)[middle] * 1000:.2f} ms, "
        f"the provider sees it after {sorted(seen)[middle] * 1000:.2f} ms (median of {rounds})"
    )


async def main() -> None:
    print(f"here, before anything: {resident_mb('self'):.0f} MB resident")
    for delay in (0.0, 0.2):
        await measure(delay)
    with trio.fail_after(60):
        await measure_cancellation()
    print(f"litellm imported here: {'litellm' in sys.modules}")


if __name__ == "__main__":
    trio.run(main)

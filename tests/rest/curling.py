"""A real curl that is left running, and read from as it writes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio

from tests.needs import program


@asynccontextmanager
async def curl(
    base: str, path: str, session: str, body: Any, accept: str, *options: str
) -> AsyncIterator[trio.Process]:
    command = [program("curl"), "-sN", f"{base}{path}", "-H", f"Authorization: Bearer {session}"]
    command += ["-H", "Content-Type: application/json", "-H", f"Accept: {accept}", "-d", json.dumps(body), *options]
    async with trio.open_nursery() as nursery:

        async def run_curl(*, task_status: trio.TaskStatus[trio.Process]) -> None:
            await trio.run_process(command, stdout=subprocess.PIPE, task_status=task_status)

        process = await nursery.start(run_curl)
        yield process


async def until(process: trio.Process, marker: bytes) -> bytes:
    """What curl has written when this is among it. Whatever holds it back until the end makes this fail."""
    assert process.stdout is not None
    seen = b""
    with trio.fail_after(10):
        while marker not in seen:
            more = await process.stdout.receive_some()
            assert more, seen
            seen += more
    return seen

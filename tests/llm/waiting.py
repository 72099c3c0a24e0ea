"""Waiting for what another process does and cannot tell us."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import trio


async def until(happened: Callable[[], bool], seconds: float = 30.0) -> None:
    with trio.fail_after(seconds):
        while not happened():  # noqa: ASYNC110 - there is no event to wait for
            await trio.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        # A zombie has ended too; if it is not ours, reaping it is somebody else's business.
        return b") Z " in Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True

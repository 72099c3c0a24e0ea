"""Errands to run under load. Whatever is executed is written down, once for each time that it is."""

import os

import trio

from greenroom import progress

LEDGER = os.environ["LOAD_LEDGER"]


def _write_down(word: str) -> None:
    line = os.open(LEDGER, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(line, f"{word}\n".encode())
    finally:
        os.close(line)


def mark(word: str) -> str:
    """Write a word down."""
    _write_down(word)
    return f"marked {word}"


async def walk(word: str, steps: int = 5, seconds: float = 0.25) -> str:
    """Take some steps, and say so at each."""
    for number in range(steps):
        progress(number + 1, steps, f"step {number + 1}")
        await trio.sleep(seconds / steps)
    _write_down(word)
    return f"walked {word}"

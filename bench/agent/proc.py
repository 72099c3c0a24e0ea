"""What the kernel knows of a process: CPU time, resident memory, children. Linux only."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    # The second field is the program's name in parentheses, and may hold blanks: count from behind it.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident_mb(pid: int) -> float:
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def children(pid: int) -> list[int]:
    """Of every thread: a child belongs to the one that started it."""
    lists = (Path(task) / "children" for task in Path(f"/proc/{pid}/task").iterdir())
    return [int(child) for each in lists for child in each.read_text().split()]

"""When and where a benchmark ran, and the versions of everything in it."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from bench.peers.install import BUILD, HERE, node
from bench.peers.table import Peer

_OURS = ("greenroom", "trio", "hypercorn", "mcp", "orjson")
_TOLD = {
    "python-sdk": ("mcp", "uvicorn"),
    "python-sdk-uvloop": ("mcp", "uvicorn", "uvloop", "httptools"),
    "fastmcp": ("fastmcp-slim", "mcp", "uvicorn"),
    "fastapi-mcp": ("fastapi-mcp", "fastapi", "mcp", "uvicorn"),
}


def describe() -> dict[str, str | float]:
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0) | _all_cores()),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        # Of whoever else is there: it is looked at before the first server is started.
        "load": load(),
    }


def load() -> float:
    return round(os.getloadavg()[0], 2)


def _all_cores() -> set[int]:
    return set(range(os.cpu_count() or 1))


def _cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def versions(peers: Sequence[Peer]) -> dict[str, str]:
    """Of each environment that is in use, what it is made of."""
    told = {"greenroom": ", ".join(f"{name} {version(name)}" for name in _OURS)}
    for environment in dict.fromkeys(peer.environment for peer in peers if peer.environment is not None):
        if environment in _TOLD:
            told[environment] = _from_pins(environment)
        else:
            told[environment] = _from_manifest(environment)
    return told


def _from_pins(environment: str) -> str:
    lines = (HERE / f"{environment}.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    return ", ".join(f"{name} {pins[name]}" for name in _TOLD[environment] if name in pins)


def _from_manifest(environment: str) -> str:
    manifest = json.loads((HERE / f"{environment}.json").read_text())
    command = [node(BUILD / environment), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    named = [f"{name} {pin}" for name, pin in manifest["dependencies"].items()]
    return ", ".join([f"Node {said.removeprefix('v')}", *named])

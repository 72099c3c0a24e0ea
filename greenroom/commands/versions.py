"""The versions that a report of a problem should name."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from greenroom import __version__

_PARTS = ("trio", "hypercorn", "mcp", "speedict")


def versions() -> str:
    """One line each: its name and its version, which is read and not imported."""
    return "\n".join(
        [f"greenroom {__version__}", f"Python {platform.python_version()}", *(f"{part} {_of(part)}" for part in _PARTS)]
    )


def _of(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "is not installed"

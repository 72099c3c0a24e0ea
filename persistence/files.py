"""Files and folders on their way to the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def sync_files(paths: Iterable[Path]) -> None:
    """Returns when what is in them would survive a loss of power. What is not there any more needs nothing.

    May run in any thread, and lets the others run.
    """
    for path in paths:
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

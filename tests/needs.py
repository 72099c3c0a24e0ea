"""Programs that some tests need and that pip cannot install.

A test that needs one is skipped where it is missing, and says so. `TESTS_NEED` names the programs whose
absence is a failure instead, such as `nginx,caddy,chromium`: that is how a run that must not skip anything is made.
"""

from __future__ import annotations

import os
import shutil

import pytest

ALSO_IN = os.pathsep.join(("/usr/sbin", "/usr/local/sbin"))


def program(name: str) -> str:
    """Where it is. Skips or fails the test that asks if it is nowhere."""
    found = shutil.which(name) or shutil.which(name, path=ALSO_IN)
    if found is not None:
        return found
    if name in os.environ.get("TESTS_NEED", "").split(","):
        pytest.fail(f"{name} is not installed, and TESTS_NEED says that it has to be")
    pytest.skip(f"{name} is not installed")

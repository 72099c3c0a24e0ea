"""The example workflows of FastWorkflow itself: the corpus that compatibility is measured on.

They come out of the published wheels, of which nothing else is unpacked, and are kept outside of version control.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

VERSIONS = ("2.30.1", "3.6.0")
WORKFLOWS = (
    "extended_workflow_example",
    "hello_world",
    "messaging_app_1",
    "messaging_app_2",
    "messaging_app_3",
    "messaging_app_4",
    "retail_workflow",
    "simple_workflow_template",
)

_CACHE = Path(__file__).resolve().parents[2] / ".build" / "wheels"
_EXAMPLES = "fastworkflow/examples/"
# 3.x asks for a newer Python than ours. Its examples do not.
_ANY_PYTHON = ("--python-version", "3.13", "--only-binary", ":all:")


def examples(version: str) -> Path:
    """The folder with the eight workflows of that version; fetched once."""
    folder = _CACHE / f"fastworkflow-{version}"
    if not folder.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as scratch:
            unpacked = Path(scratch) / "unpacked"
            with zipfile.ZipFile(_download(version, Path(scratch))) as wheel:
                wheel.extractall(unpacked, [name for name in wheel.namelist() if name.startswith(_EXAMPLES)])
            # In one step, so that a run that was interrupted leaves nothing half done.
            unpacked.rename(folder)
    return folder / _EXAMPLES


def _download(version: str, into: Path) -> Path:
    asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(into)]
    done = subprocess.run([*asked, *_ANY_PYTHON, f"fastworkflow=={version}"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"The examples of FastWorkflow {version} could not be fetched:\n{done.stderr}")
    return next(into.glob("*.whl"))

"""Which Python file a workflow's name means: a file, a package's folder, or the dotted name of a module.

A file is loaded as a module of the folder it lies in, so that what lies beside it can be imported, and wins over what
is installed; a package as itself. The importer of the engine sees to it that no other workflow notices.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import attrs

from greenroom.workflow.engine.discovery import COMMANDS
from greenroom.workflow.engine.imports import Codebase, open_folder

_INIT = "__init__.py"


@attrs.frozen
class Place:
    """Where a module is, and whose code it is part of."""

    codebase: Codebase
    file: Path

    @property
    def name(self) -> str:
        return self.file.parent.name if self.file.name == _INIT else self.file.stem

    @property
    def folder(self) -> Path:
        return self.file.parent


def is_plain(named: str) -> bool:
    """Whether that name means plain Python, rather than a folder of command files."""
    path = Path(named)
    return not path.is_dir() or ((path / _INIT).is_file() and not (path / COMMANDS).exists())


def find_place(named: str) -> Place | None:
    """None if there is no such module. Imports nothing but, for a module in an installed package, that package."""
    path = Path(named).resolve()
    if path.is_dir():
        return Place(open_folder(path), path / _INIT) if (path / _INIT).is_file() else None
    if path.is_file():
        return Place(open_folder(path.parent), path)
    return _in_working_folder(named) or _installed(named)


def _in_working_folder(named: str) -> Place | None:
    here = Path.cwd()
    path = here.joinpath(*named.split("."))
    files = (path / _INIT, path.with_name(f"{path.name}.py"))
    file = next((file for file in files if file.is_file()), None)
    return Place(open_folder(here), file) if file is not None else None


def _installed(named: str) -> Place | None:
    try:
        spec = importlib.util.find_spec(named)
    except ModuleNotFoundError as error:
        if error.name and named.startswith(f"{error.name}."):
            return None
        raise
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    file = Path(spec.origin)
    package = named if file.name == _INIT else named.rpartition(".")[0]
    return Place(Codebase(package, file.parent), file)

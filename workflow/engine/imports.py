"""How a workflow's own Python is imported, without `sys.path` and without two workflows getting into each other.

A folder is imported as a package of its name: `hello_world/_commands/add.py` is `hello_world._commands.add`. If
something else has that name already (an installed package, a workflow of the same name elsewhere), the package gets
a suffix, and the workflow's code does not notice: its import statements are answered here. They see, in this order,
what lies in the workflow's folder, what everybody sees, and what lies beside the folder. FastWorkflow gets the same
effect by putting both folders in front of `sys.path`, for the whole process.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from greenroom.workflow.compat import is_stand_in

_EXAMPLES = ("fastworkflow", "examples")
_NOT_THEIRS = sys.stdlib_module_names | {"fastworkflow", "greenroom"}
"""Names that a file of the workflow cannot take from everybody."""


@attrs.frozen
class Codebase:
    """A package, and the folder that it is."""

    package: str
    folder: Path

    def load(self, file: Path) -> ModuleType:
        inside = file.parent if file.name == "__init__.py" else file.with_suffix("")
        return importlib.import_module(".".join([self.package, *inside.relative_to(self.folder).parts]))


def open_folder(folder: Path) -> Codebase:
    """The codebase of that folder, the same one for as long as it is not forgotten."""
    return Codebase(_root_of(folder.resolve()).package, folder.resolve())


def open_base(named: str, beside: Path) -> Codebase | None:
    """The workflow that another one, in the folder `beside`, calls its base; None if there is no such folder."""
    if named.startswith(("./", "../", "/")):
        folder = (beside / named).resolve()
        return open_folder(folder) if folder.is_dir() else None
    parts = tuple(named.split("."))
    if parts[:2] == _EXAMPLES and is_stand_in():
        parts = parts[2:]
    if parts and (folder := beside.parent.joinpath(*parts)).is_dir():
        return open_folder(folder)
    try:
        spec = importlib.util.find_spec(named)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Codebase(named, Path(places[0])) if places else None


@contextmanager
def kept_if(wanted: Callable[[], bool]) -> Iterator[None]:
    """Leaves nothing behind of what is opened inside, unless it turns out to be wanted."""
    before = set(_roots)
    yield
    if wanted():
        return
    opened = _roots.keys() - before
    for package in opened:
        del _roots[package]
    for name in [name for name in sys.modules if name.partition(".")[0] in opened]:
        del sys.modules[name]


@attrs.frozen
class _Root:
    """A top-level package, or a single module, that is ours to import."""

    package: str
    place: Path
    known: dict[str, str | None] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    builtins: dict[str, Any] = attrs.field(init=False, eq=False, repr=False)

    @builtins.default
    def _with_our_import(self) -> dict[str, Any]:
        return {**vars(builtins), "__import__": self.import_}

    def translate(self, name: str) -> str | None:
        """What `name` is called in truth when this workflow's code imports it; None if there is nothing to it."""
        if name.startswith("fastworkflow.examples.") and is_stand_in():
            example, _, rest = name.removeprefix("fastworkflow.examples.").partition(".")
            place = _python_in(self.place.parent, example)
            return _joined(_root_of(place).package, rest) if place else None
        top, _, rest = name.partition(".")
        if top not in self.known:
            self.known[top] = self._translate_top(top)
        actual = self.known[top]
        return actual and _joined(actual, rest)

    def import_(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0
    ) -> ModuleType:
        """The import statement, as the code of this root sees it."""
        actual = self.translate(name) if level == 0 else None
        if actual is None:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        if fromlist:
            return builtins.__import__(actual, globals, locals, fromlist, 0)
        importlib.import_module(actual)
        # `import a.b.c` binds `a`, whatever that is called in truth.
        top = self.translate(name.partition(".")[0])
        return sys.modules[top] if top else _examples_seen_as(name, actual)

    def _translate_top(self, top: str) -> str | None:
        if top in _NOT_THEIRS:
            return None
        if _python_in(self.place, top):
            return f"{self.package}.{top}"
        if top == self.place.name:
            return self.package
        beside = _python_in(self.place.parent, top)
        if beside and (top in _roots or not _is_importable(top)):
            return _root_of(beside).package
        if top in _roots:
            # Another workflow's, and none of this one's business.
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        return None


_roots: dict[str, _Root] = {}


def _root_of(place: Path) -> _Root:
    for root in _roots.values():
        if root.place == place:
            return root
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    # The top of the file system has no name.
    name = (place.stem if place.is_file() else place.name).replace(".", "_") or "workflow"
    if name in _roots or name in sys.modules or _is_importable(name):
        name = f"{name}__{hashlib.sha256(str(place).encode()).hexdigest()[:8]}"
    root = _roots[name] = _Root(name, place)
    return root


def _is_importable(top: str) -> bool:
    try:
        return importlib.util.find_spec(top) is not None
    except ImportError:
        return False
    except ValueError:
        # It is imported already, by other means than a finder.
        return True


def _python_in(folder: Path, name: str) -> Path | None:
    """The module or package of that name in the folder; a folder without Python is neither."""
    if (file := folder / f"{name}.py").is_file():
        return file
    package = folder / name
    return package if package.is_dir() and next(package.rglob("*.py"), None) else None


def _joined(package: str, rest: str) -> str:
    return f"{package}.{rest}" if rest else package


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root = _roots.get(fullname.partition(".")[0])
        if root is None:
            return None
        if fullname == root.package:
            return _top_spec(root)
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(fullname, spec.loader.path, root)
        return spec


def _top_spec(root: _Root) -> ModuleSpec | None:
    if root.place.is_file():
        return importlib.util.spec_from_file_location(
            root.package, root.place, loader=_Loader(root.package, str(root.place), root)
        )
    places = [str(root.place)]
    if (init := root.place / "__init__.py").is_file():
        return importlib.util.spec_from_file_location(
            root.package, init, loader=_Loader(root.package, str(init), root), submodule_search_locations=places
        )
    spec = ModuleSpec(root.package, None, is_package=True)
    spec.submodule_search_locations = places
    return spec


class _Loader(SourceFileLoader):
    """Loads a workflow's module with an `__import__` that knows whose it is."""

    def __init__(self, fullname: str, path: str, root: _Root) -> None:
        super().__init__(fullname, path)
        self._root = root

    def exec_module(self, module: ModuleType) -> None:
        # Python takes the built-ins of a module from this name, and the import statement calls what it finds there.
        vars(module)["__builtins__"] = self._root.builtins
        super().exec_module(module)


def _examples_seen_as(name: str, actual: str) -> ModuleType:
    """`fastworkflow`, with a `fastworkflow.examples` that holds the one example that was imported."""
    view = ModuleType("fastworkflow")
    vars(view).update(vars(importlib.import_module("fastworkflow")))
    examples = ModuleType("fastworkflow.examples")
    vars(view)["examples"] = examples
    vars(examples)[name.split(".")[2]] = sys.modules[actual.partition(".")[0]]
    return view


_finder = _Finder()

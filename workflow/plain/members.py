"""What of a module is meant for clients: its public functions, and its public classes with their public methods.

Public is what `__all__` names; without it, whatever the module itself defines under a name that does not begin with
`_`. A name that is only imported is not offered. What "defines" means is read from the source, because a decorator may
put anything in a function's place. Nothing here is called.
"""

from __future__ import annotations

import ast
import enum
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Protocol, is_typeddict

from pydantic import BaseModel

from greenroom.workflow.engine.discovery import Report
from greenroom.workflow.engine.problems import Problem

HOOKS = frozenset({"get_state", "from_state", "get_displayname"})
"""Methods that `session` calls; no client does."""
_SAME_NAME_ON_PURPOSE = frozenset({"overload", "setter", "getter", "deleter", "register"})

_ALL_BRANCHES = ("body", "handlers", "orelse", "finalbody")
_ONE_BRANCH = ("body",)
"""The branches of an `if` or `try` are alternatives: a name that both define is not defined twice."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public_members(module: ModuleType, file: Path, report: Report) -> tuple[dict[str, Any], dict[str, type]]:
    """The functions and the context classes, each by the name it is offered under."""
    source = _read_source(file)
    named = getattr(module, "__all__", None)
    names = [each.name for each in _definitions(source, _ALL_BRANCHES)] if named is None else list(named)
    functions: dict[str, Any] = {}
    classes: dict[str, type] = {}
    for name in dict.fromkeys(names):
        if not hasattr(module, name):
            if named is not None:
                message = f"__all__ names {name!r}, and there is nothing of that name"
                report(Problem(file, message, _line_of_all(source)))
            continue
        value = getattr(module, name)
        if name.startswith("_"):
            continue
        if inspect.isclass(value):
            if is_context(value) and classes.setdefault(value.__name__, value) is not value:
                message = f"__all__ names two classes that are called {value.__name__}; rename one of them"
                report(Problem(file, message, _line_of_all(source)))
        elif callable(value):
            functions[name] = value
    return functions, classes


def is_context(cls: type) -> bool:
    """Whether a session can be in an object of that class. A class that only holds or names values is a value."""
    if issubclass(cls, enum.Enum | BaseException | BaseModel | tuple) or is_typeddict(cls):
        return False
    return Protocol not in cls.__bases__ and bool(methods_of(cls))


def methods_of(cls: type) -> Mapping[str, type]:
    """Its public methods, and the class that each is defined in. Those of a foreign base class are not offered."""
    found: dict[str, type] = {}
    for base in cls.__mro__:
        if _codebase(base) != _codebase(cls):
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in HOOKS and _is_method(value):
                found.setdefault(name, base)
    # What a nearer class has made something else of (None, a property, a value) is no method any more.
    return {name: base for name, base in found.items() if _is_method(inspect.getattr_static(cls, name))}


def _is_method(value: Any) -> bool:
    if isinstance(value, FunctionType | staticmethod | classmethod):
        return True
    return callable(value) and not inspect.isclass(value) and hasattr(value, "__wrapped__")


def _codebase(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def report_repeated(file: Path, report: Report) -> None:
    """Python keeps the last of two definitions of a name without a word, and the first one's author wonders."""
    source = _read_source(file)
    _report_repeated(file, _definitions(source, _ONE_BRANCH), "", report)
    for each in _definitions(source, _ONE_BRANCH):
        if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
            _report_repeated(file, _definitions(each, _ONE_BRANCH), f"{each.name}/", report)


def _report_repeated(file: Path, definitions: Iterator[Definition], prefix: str, report: Report) -> None:
    seen: dict[str, Definition] = {}
    for each in definitions:
        if each.name.startswith("_") or _is_again_on_purpose(each):
            continue
        # Commands are found in any case, so names that differ in nothing else are the same.
        first = seen.setdefault(each.name.casefold(), each)
        if first is not each and (isinstance(first, ast.ClassDef) == isinstance(each, ast.ClassDef)):
            message = f"{prefix}{each.name} is defined twice, the first time in line {first.lineno}; rename one of them"
            report(Problem(file, message, each.lineno))


def _is_again_on_purpose(definition: Definition) -> bool:
    marks = (each.func if isinstance(each, ast.Call) else each for each in definition.decorator_list)
    names = {mark.attr if isinstance(mark, ast.Attribute) else getattr(mark, "id", "") for mark in marks}
    return bool(names & _SAME_NAME_ON_PURPOSE)


def _definitions(node: ast.AST, branches: tuple[str, ...]) -> Iterator[Definition]:
    """Those of the module or class itself, and not what is inside a function."""
    for child in (child for branch in branches for child in getattr(node, branch, ())):
        if isinstance(child, Definition):
            yield child
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from _definitions(child, branches)


def _read_source(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes())


def _line_of_all(source: ast.Module) -> int:
    lines = (node.lineno for node in ast.walk(source) if isinstance(node, ast.Name) and node.id == "__all__")
    return next(lines, 1)

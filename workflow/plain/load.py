"""Loads a Python module as a workflow, into the same definition that a folder of command files becomes.

Functions are the commands of the global context, classes are contexts, their methods the contexts' commands. A class
that can be made without arguments, and that no command returns, is entered by a command of its own: `open_basket` for
`Basket`. As with a folder, every step reports and goes on, and a module with any problem is not served.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, cast, get_type_hints

import attrs

from greenroom.workflow import compat
from greenroom.workflow.compat.workflow import GLOBAL
from greenroom.workflow.engine import core
from greenroom.workflow.engine.annotations import alternatives
from greenroom.workflow.engine.definition import CommandDef, ContextDef, WorkflowDefinition
from greenroom.workflow.engine.imports import kept_if
from greenroom.workflow.engine.printing import printed_by
from greenroom.workflow.engine.problems import Problem, WorkflowProblems, import_problem
from greenroom.workflow.plain.docstrings import read_docstring
from greenroom.workflow.plain.members import methods_of, public_members, report_repeated
from greenroom.workflow.plain.places import Place, find_place
from greenroom.workflow.plain.running import AsyncRunner, Runner, Target
from greenroom.workflow.plain.schema import file_and_line, return_kinds, schema_of
from greenroom.workflow.plain.session import context_hooks, root_class, root_hooks

Commands = dict[str, CommandDef]


def load_plain(named: str | Path) -> WorkflowDefinition:
    """Raises `WorkflowProblems` with all of them. Imports the workflow's code, and prints nothing."""
    compat.install()
    importlib.invalidate_caches()
    problems: list[Problem] = []
    with printed_by(str(named)), kept_if(lambda: not problems):
        definition = _load(str(named), problems)
    if definition is None or problems:
        raise WorkflowProblems(Path(named), problems)
    return definition


def _load(named: str, problems: list[Problem]) -> WorkflowDefinition | None:
    try:
        place = find_place(named)
    # Looking for a module in a package imports the package.
    except (Exception, SystemExit) as error:
        problems.append(import_problem(Path(named), Path(named), error))
        return None
    if place is None:
        problems.append(Problem(Path(named), "there is no such file, package or module"))
        return None
    if "." in place.file.stem:
        problems.append(Problem(place.file, "Python cannot import a file with a dot in its name; rename it"))
        return None
    try:
        module = place.codebase.load(place.file)
    # The workflow's own code: whatever it raises is a problem of the file, and an exit too.
    except (Exception, SystemExit) as error:
        problems.append(import_problem(place.file, place.codebase.folder, error))
        return None
    return _Reading(place, module, problems).definition()


@attrs.define
class _Reading:
    """One load of a module that could be imported."""

    place: Place
    module: ModuleType
    problems: list[Problem]
    classes: dict[str, type] = attrs.field(factory=dict, init=False)
    openable: frozenset[type] = attrs.field(default=frozenset(), init=False)
    parents: dict[type, list[str]] = attrs.field(factory=dict, init=False)
    """The contexts whose commands return an object of that class."""

    def definition(self) -> WorkflowDefinition:
        file, report = self.place.file, self.problems.append
        report_repeated(file, report)
        functions, classes = public_members(self.module, file, report)
        # A base class before those that inherit its commands.
        self.classes = dict(sorted(classes.items(), key=lambda item: len(item[1].__mro__)))
        if not functions and not self.classes:
            advice = "write one, or name those that are imported in __all__"
            report(Problem(file, f"there is no public function and no class with a public method in it; {advice}", 1))
        self.openable = frozenset(cls for cls in self.classes.values() if _is_openable(cls))
        commands: dict[str, Commands] = {GLOBAL: self._functions(functions)}
        for name, cls in self.classes.items():
            commands[name] = self._methods(cls, commands)
        for cls in self.classes.values():
            if cls in self.openable and cls.__name__ not in self._reachable():
                self._add_opening(cls, commands)
        return self._assembled(commands)

    def _assembled(self, commands: dict[str, Commands]) -> WorkflowDefinition:
        classes = self.classes.values()
        root = root_class(classes)
        hooks = {name: context_hooks(cls) for name, cls in self.classes.items()}
        hooks[GLOBAL] = root_hooks(root, classes)
        return WorkflowDefinition(
            name=self.place.name,
            folder=self.place.folder,
            contexts=MappingProxyType(
                {name: self._context(name, commands[name], hooks[name]) for name in sorted(commands)}
            ),
            core=MappingProxyType(dict(core.COMMANDS)),
            description=inspect.getdoc(self.module) or "",
            new_root=root if self.classes else None,
        )

    def _context(self, name: str, commands: Commands, hooks: type) -> ContextDef:
        cls = self.classes.get(name, object)
        return ContextDef(
            name=name,
            commands=MappingProxyType(dict(sorted(commands.items()))),
            bases=tuple(base.__name__ for base in cls.__bases__ if base in self.classes.values()),
            parents=tuple(sorted(set(self.parents.get(cls, ())))),
            file=self.place.file,
            context_class=hooks,
        )

    # --- commands ------------------------------------------------------------------------------------------

    def _functions(self, functions: dict[str, Any]) -> Commands:
        return {name: self._command(GLOBAL, name, each, _function(each)) for name, each in functions.items()}

    def _methods(self, cls: type, commands: dict[str, Commands]) -> Commands:
        """A method that a context class inherits from another one is that one's command."""
        found = {}
        for name, owner in methods_of(cls).items():
            is_anothers = owner is not cls and owner is self.classes.get(owner.__name__)
            method = inspect.getattr_static(cls, name)
            found[name] = (
                commands[owner.__name__][name]
                if is_anothers
                else self._command(cls.__name__, name, method, _method(name))
            )
        return found

    def _command(self, context: str, name: str, found: Any, target: Target) -> CommandDef:
        function = found.__func__ if isinstance(found, staticmethod | classmethod) else found
        file, line = file_and_line(function, self.place.file)
        shown = name if context == GLOBAL else f"{context}/{name}"
        schema = schema_of(
            function,
            is_bound=context != GLOBAL and not isinstance(found, staticmethod),
            contexts=tuple(self.classes.values()),
            complain=lambda what: self.problems.append(Problem(file, f"{shown}: {what}", line)),
        )
        inner = inspect.unwrap(function)
        if inspect.isasyncgenfunction(inner):
            self.problems.append(Problem(file, f"{shown}: an async generator cannot be a command; return a list", line))
        for kind in return_kinds(function):
            if kind in self.classes.values():
                self.parents.setdefault(kind, []).append(context)
        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inner)
        runner = (AsyncRunner if is_async else Runner)(shown, target, schema.own, self.openable)
        return CommandDef(
            context=context,
            name=name,
            description=schema.documentation.description,
            parameters=schema.parameters,
            is_async=is_async,
            file=file,
            response_generator=lambda: runner,
            signature=type("Signature", (), {"plain_utterances": schema.documentation.examples}),
            input_model=schema.input_model,
        )

    # --- getting into a context ----------------------------------------------------------------------------

    def _reachable(self) -> set[str]:
        """The contexts that a session can get to by commands which say that they return one."""
        found = {GLOBAL}
        while more := {
            cls.__name__
            for cls, parents in self.parents.items()
            if cls.__name__ not in found and not found.isdisjoint(parents)
        }:
            found |= more
        return found

    def _add_opening(self, cls: type, commands: dict[str, Commands]) -> None:
        """In the context that its hint `parent: Shop` names, or else in the global one."""
        context = _declared_parent(cls, self.classes) or GLOBAL
        name = f"open_{_in_snake_case(cls.__name__)}"
        if name in commands[context]:
            return
        self.parents.setdefault(cls, []).append(context)
        summary = read_docstring(cls.__doc__ if "__doc__" in vars(cls) else None).summary
        words = _in_snake_case(cls.__name__).replace("_", " ")
        runner = Runner(name, lambda session, _: lambda: session.opened(cls), {}, self.openable)
        commands[context][name] = CommandDef(
            context=context,
            name=name,
            description=f"Open the {words}: {summary}" if summary else f"Open the {words}.",
            file=self.place.file,
            response_generator=lambda: runner,
            signature=type("Signature", (), {"plain_utterances": (f"open the {words}", f"go to the {words}")}),
        )


def _function(function: Any) -> Target:
    return lambda session, context: cast(Callable[..., Any], function)


def _method(name: str) -> Target:
    return lambda session, context: getattr(context, name)


def _is_openable(cls: type) -> bool:
    """Whether it can be made without arguments."""
    if inspect.isabstract(cls):
        return False
    try:
        inspect.signature(cls).bind()
    except (TypeError, ValueError):
        return False
    return True


def _declared_parent(cls: type, classes: dict[str, type]) -> str | None:
    try:
        kinds, _ = alternatives(get_type_hints(cls).get("parent"))
    # A hint is an expression of the author's, and evaluating it may raise whatever they like.
    except Exception:
        return None
    return next((name for name, each in classes.items() if each in kinds), None)


def _in_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()

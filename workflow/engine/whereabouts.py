"""Where one session stands in its workflow, and which commands can be reached from there.

A command is found in the current context, or in a context around it: the walk goes up through `Context.get_parent`
to the session's root, and the global context is around everything. A command runs in the context in which it was
found.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Protocol

import attrs

from greenroom.workflow.compat.workflow import GLOBAL, GLOBAL_DISPLAY, Workflow
from greenroom.workflow.engine.definition import CommandDef, Root, WorkflowDefinition, shown
from greenroom.workflow.engine.errors import UnknownCommand

_MAX_DEPTH = 100
"""A `get_parent` that makes new objects could go up for ever."""
_CORE_GROUPS = ("IntentDetection", "ErrorCorrection")
"""The contexts in which FastWorkflow keeps its core commands."""


@attrs.frozen
class Found:
    command: CommandDef
    context: object | None
    """The object that the command is to work on."""
    context_name: str


@attrs.frozen
class Place:
    """What a failed command must not change."""

    root: object | None
    current: object | None


class ReportProgress(Protocol):
    """How a command tells whoever waits for it how far it has come. Called from the command's own thread."""

    def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...


def _nobody_is_told(progress: float, total: float | None = None, message: str | None = None) -> None:
    """What a command's reports come to while nobody waits."""


class SessionWorkflow(Workflow):
    """What command code sees as `workflow`, for one session."""

    def __init__(self, definition: WorkflowDefinition, *, id: int, context: dict[str, Any]) -> None:
        super().__init__(
            folderpath=str(definition.folder), id=id, context=context, context_classes=definition.context_classes
        )
        self.definition = definition
        self.report_progress: ReportProgress = _nobody_is_told

    def get_parent(self, command_context_object: object | None = None) -> object | None:
        asked, root = command_context_object, self._root
        if asked is None or asked is root or not isinstance(root, Root):
            return super().get_parent(asked)
        return root.parent_of(asked)

    def place(self) -> Place:
        return Place(self._root, self._current)

    def return_to(self, place: Place) -> None:
        self._root, self._current = place.root, place.current

    def enclosing(self) -> Iterator[tuple[object | None, str]]:
        """The current context and those around it, innermost first, each with its name."""
        context = self._current
        seen: list[object] = []
        while context is not None and len(seen) < _MAX_DEPTH and not any(context is earlier for earlier in seen):
            yield context, self.get_command_context_name(context)
            seen.append(context)
            context = None if context is self._root else self.get_parent(context)
        yield None, GLOBAL

    def reachable(self) -> list[Found]:
        """Every command that can be run now, nearest first; one that is hidden behind another's name is left out."""
        found: dict[str, Found] = {}
        for context, name in self.enclosing():
            for command in self.definition.commands_in(name).values():
                found.setdefault(command.name.casefold(), Found(command, context, name))
        return sorted(found.values(), key=lambda one: one.command.is_core)

    def find(self, wanted: str) -> Found:
        """By simple or qualified name, in any case. Raises `UnknownCommand`."""
        for context, name in self.enclosing():
            command = find_in(self.definition, name, wanted)
            if command is not None:
                return Found(command, context, name)
        raise self._unknown(wanted)

    def _unknown(self, wanted: str) -> UnknownCommand:
        here = self.current_command_context_displayname
        elsewhere = [
            context.display_name
            for name, context in self.definition.contexts.items()
            if find_in(self.definition, name, wanted)
        ]
        names = {
            found.command.name: found.command.qualified_name for found in self.reachable() if not found.command.hidden
        }
        simple = wanted.rpartition("/")[2].lower()
        near = difflib.get_close_matches(simple, names, n=3, cutoff=0.6)
        candidates = [names[name] for name in near]
        return UnknownCommand(wanted, here, lives_in=sorted(elsewhere), candidates=candidates)


def find_in(definition: WorkflowDefinition, context_name: str, wanted: str) -> CommandDef | None:
    """The command of that name in that very context. The same case is preferred, any case will do."""
    commands = definition.commands_in(context_name).values()
    for same in (str, str.casefold):
        for command in commands:
            if same(wanted) in {same(name) for name in _names(command, context_name)}:
                return command
    return None


def _names(command: CommandDef, context_name: str) -> tuple[str, ...]:
    if command.is_core:
        return (command.name, *(f"{group}/{command.name}" for group in _CORE_GROUPS))
    prefixes = (GLOBAL, GLOBAL_DISPLAY) if command.context == GLOBAL else ()
    return (
        command.name,
        command.qualified_name,
        *(f"{prefix}/{command.name}" for prefix in (*prefixes, shown(context_name))),
    )

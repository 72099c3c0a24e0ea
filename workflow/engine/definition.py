"""A loaded workflow: what there is, never where a session stands.

Frozen values, made once, from a folder by `load` or from plain Python by `greenroom.workflow.plain`, and shared by
every session. The author's own code hangs on them, out of sight of `repr` and `==`; nothing here calls it.
"""

from __future__ import annotations

import abc
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
from pydantic import BaseModel

from greenroom.workflow.compat.workflow import GLOBAL, GLOBAL_DISPLAY

CORE = "core"
"""The context that a core command says it belongs to; it is no context that a session can be in."""


def shown(context_name: str) -> str:
    """How a context is called in front of people: the global one is stored as `*`."""
    return GLOBAL_DISPLAY if context_name == GLOBAL else context_name


@attrs.frozen
class ParameterDef:
    """One field of a command's `Input`."""

    name: str
    type: str
    """In words: `string`, `integer`, `list of string`, `integer or string`."""
    required: bool
    has_default: bool = False
    default: Any = None
    description: str = ""
    examples: tuple[Any, ...] = ()
    enum: tuple[Any, ...] = ()
    """The values to choose from. Binding if the type says so, advice if only the schema does."""
    pattern: str | None = None
    is_list: bool = False
    is_optional: bool = False
    available_from: tuple[str, ...] = ()
    """The commands that tell this value."""
    db_lookup: bool = False
    kinds: tuple[Any, ...] = attrs.field(default=(), repr=False, eq=False)
    """The annotation's alternatives, without `None`."""


@attrs.frozen
class CommandDef:
    """One command file, one function of plain Python, or one core command."""

    context: str
    """The context it is defined in: `*`, the name of a class, or `core`."""
    name: str
    description: str = ""
    parameters: tuple[ParameterDef, ...] = ()
    hidden: bool = False
    """Not shown to clients, but it runs: a start-up command, as a rule."""
    is_async: bool = False
    file: Path | None = None
    response_generator: Callable[[], Any] = attrs.field(default=object, repr=False, eq=False)
    """Makes what is called with the session's workflow, the text and, if there is an `Input`, the parameters."""
    signature: type | None = attrs.field(default=None, repr=False, eq=False)
    input_model: type[BaseModel] | None = attrs.field(default=None, repr=False, eq=False)

    @property
    def qualified_name(self) -> str:
        return self.name if self.context in (GLOBAL, CORE) else f"{self.context}/{self.name}"

    @property
    def is_core(self) -> bool:
        return self.context == CORE

    @property
    def plain_utterances(self) -> tuple[str, ...]:
        return tuple(getattr(self.signature, "plain_utterances", None) or ())

    @property
    def template_utterances(self) -> tuple[str, ...]:
        return tuple(getattr(self.signature, "template_utterances", None) or ())


STATE_HOOKS = ("get_state", "from_state", "get_locator", "find_by_locator")


@attrs.frozen
class ContextDef:
    """A place that a session can be in, and the commands that it offers there."""

    name: str
    commands: Mapping[str, CommandDef]
    """By simple name, inherited ones included; the core commands are in every context and not listed here."""
    bases: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    """For display alone: at run time a parent comes from `Context.get_parent`."""
    file: Path | None = None
    context_class: type | None = attrs.field(default=None, repr=False, eq=False)

    @property
    def display_name(self) -> str:
        return shown(self.name)

    @property
    def description(self) -> str:
        return inspect.getdoc(self.context_class) or "" if self.context_class else ""

    @property
    def state_hooks(self) -> frozenset[str]:
        return frozenset(hook for hook in STATE_HOOKS if hasattr(self.context_class, hook))

    @property
    def state_version(self) -> int | None:
        version = getattr(self.context_class, "state_version", None)
        return version if isinstance(version, int) else None


@attrs.frozen
class StartupAction:
    """What `startup_action.json` asks to be done first."""

    command_name: str
    parameters: Mapping[str, Any] = attrs.field(factory=dict)
    command: str = ""


class Root(abc.ABC):
    """A root context that is no object of the author's, and knows what is around those that are."""

    @abc.abstractmethod
    def parent_of(self, context: object) -> object: ...


@attrs.frozen
class WorkflowDefinition:
    name: str
    folder: Path
    contexts: Mapping[str, ContextDef]
    core: Mapping[str, CommandDef]
    description: str = ""
    startup_action: StartupAction | None = None
    new_root: Callable[[], Root] | None = attrs.field(default=None, repr=False, eq=False)
    """Makes the root context that a session begins in; without it, a session has none until a command sets one."""

    @property
    def purpose(self) -> str:
        """The first paragraph of the description."""
        return self.description.split("\n\n", 1)[0].strip()

    @property
    def context_names(self) -> tuple[str, ...]:
        """As people see them, the global one first."""
        return tuple(shown(name) for name in sorted(self.contexts, key=lambda name: (name != GLOBAL, name)))

    @property
    def context_classes(self) -> Mapping[str, type]:
        return {name: context.context_class for name, context in self.contexts.items() if context.context_class}

    @property
    def commands(self) -> tuple[CommandDef, ...]:
        """Every command once, in the order of its qualified name; core commands last."""
        own = {
            command.qualified_name: command
            for context in self.contexts.values()
            for command in context.commands.values()
        }
        return (*(own[name] for name in sorted(own)), *self.core.values())

    def commands_in(self, context_name: str) -> Mapping[str, CommandDef]:
        """What can be run in that context itself, by simple name. A context nobody defined has the core commands."""
        context = self.contexts.get(context_name)
        return {**self.core, **(context.commands if context else {})}

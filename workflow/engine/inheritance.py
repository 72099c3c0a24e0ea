"""Which commands a context has when some of them are another context's. Pure, but for what it reports.

A context's own commands win over inherited ones, and of two bases the one that is named first.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from greenroom.workflow.compat.workflow import GLOBAL
from greenroom.workflow.engine.definition import CommandDef
from greenroom.workflow.engine.discovery import ContextModel, Report, line_in
from greenroom.workflow.engine.problems import Problem

Commands = dict[str, CommandDef]


def resolve_commands(
    own: Mapping[tuple[str, str], CommandDef], bases: ContextModel, file: Path, report: Report
) -> dict[str, Commands]:
    """Every context with the commands that it has in the end, by simple name. `file` is where `bases` came from."""
    contexts: dict[str, Commands] = {GLOBAL: {}, **{name: {} for name in bases}}
    for (context, name), command in own.items():
        contexts.setdefault(context, {})[name] = command
    usable = {name: _usable_bases(name, bases, contexts, file, report) for name in contexts}
    return {name: _effective(name, contexts, usable) for name in contexts}


def _usable_bases(
    name: str, bases: ContextModel, contexts: Mapping[str, Commands], file: Path, report: Report
) -> tuple[str, ...]:
    usable = []
    for base in bases.get(name, ()):
        if base not in contexts:
            report(Problem(file, f"the base {base!r} of the context {name!r} does not exist", _line(file, name)))
        elif (cycle := _way_back(name, base, bases)) is not None:
            way = " -> ".join((name, *cycle))
            report(Problem(file, f"the context {name!r} inherits from itself: {way}", _line(file, name)))
        else:
            usable.append(base)
    return tuple(usable)


def _way_back(name: str, base: str, bases: ContextModel) -> tuple[str, ...] | None:
    """How one gets from a base to the context that it is a base of, if at all."""
    ways: list[tuple[str, ...]] = [(base,)]
    seen = {base}
    while ways:
        way = ways.pop(0)
        if way[-1] == name:
            return way
        for following in bases.get(way[-1], ()):
            if following not in seen:
                seen.add(following)
                ways.append((*way, following))
    return None


def _effective(name: str, contexts: Mapping[str, Commands], bases: Mapping[str, tuple[str, ...]]) -> Commands:
    # No cycle is left among the usable bases, so this ends.
    commands = dict(contexts[name])
    for base in bases[name]:
        for inherited, command in _effective(base, contexts, bases).items():
            commands.setdefault(inherited, command)
    return commands


def _line(file: Path, name: str) -> int:
    # The entry may come from a base workflow's file.
    return line_in(file, name) if file.is_file() else 1

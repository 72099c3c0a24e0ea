"""The command line: arguments in, a frozen value out. It reads nothing else and starts nothing.

A flag of `serve` or `check` is a configuration variable by another name and ends up in `overrides` under that name, so
that it is judged, together with all other values, by `load_settings`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from greenroom.config import forms

if TYPE_CHECKING:
    _Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]


@attrs.frozen
class Serve:
    overrides: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Check:
    overrides: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Export:
    output: Path | None = None
    """None is the standard output."""


@attrs.frozen
class Import:
    file: Path


@attrs.frozen
class Purge:
    user_id: str


@attrs.frozen
class Forget:
    older_than: float
    """In days."""


@attrs.frozen
class Doctor:
    repair: bool = False


Administration = Export | Import | Purge | Forget | Doctor
"""What is done to the conversations that are kept, while no server has them open."""

Command = Serve | Check | Administration
_Make = Callable[[dict[str, Any]], Command]

_FLAGS = (
    ("--workflow", "WORKFLOW_PATH", "NAME_OR_FOLDER", "the workflow to serve"),
    ("--host", "GREENROOM_HOST", "ADDRESS", "the address to listen on"),
    ("--port", "GREENROOM_PORT", "NUMBER", "the port to listen on; 0 takes any free port"),
)


def parse(argv: Sequence[str], *, version: str = "of unknown version") -> Command:
    """What was asked for. Help, `--version` and mistakes end in `SystemExit`, as argparse has it."""
    arguments = vars(_parser(version).parse_args(argv))
    make: _Make = arguments.pop("make")
    return make(arguments)


def _parser(version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="greenroom",
        description="Serve a workflow to AI clients over MCP Streamable HTTP.",
        epilog="Everything is configured by environment variables (see README.md); a flag wins over its variable.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"greenroom {version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_serving(commands)
    _add_moving(commands)
    _add_removing(commands)
    _add_doctor(commands)
    return parser


def _add_serving(commands: _Commands) -> None:
    serve = _add_command(
        commands,
        "serve",
        lambda given: Serve(_overrides(given)),
        "Serve the workflow until stopped.",
        "greenroom serve --port 8080",
    )
    check = _add_command(
        commands,
        "check",
        lambda given: Check(_overrides(given)),
        "Show the effective configuration, and whether the workflow can be loaded.",
        "greenroom check --workflow ./my_workflow",
    )
    for parser in (serve, check):
        for flag, variable, metavar, meaning in _FLAGS:
            parser.add_argument(flag, dest=variable, metavar=metavar, help=f"{meaning} (wins over {variable})")


def _add_moving(commands: _Commands) -> None:
    export = _add_command(
        commands,
        "export",
        lambda given: Export(**given),
        "Write all conversations that are kept, one JSON object per line. The server must not be running.",
        "greenroom export --output conversations.jsonl",
    )
    export.add_argument("--output", metavar="FILE", type=Path, help="where to write it (default: standard output)")
    importing = _add_command(
        commands,
        "import",
        lambda given: Import(**given),
        "Add conversations from a file that `greenroom export` wrote; what is kept already stays as it is.",
        "greenroom import conversations.jsonl",
    )
    importing.add_argument("file", metavar="FILE", type=Path, help="the file to read")


def _add_removing(commands: _Commands) -> None:
    purge = _add_command(
        commands,
        "purge",
        lambda given: Purge(given["user_id"]),
        "Remove everything that is kept of a user, for good.",
        "greenroom purge alice --yes",
    )
    purge.add_argument("user_id", metavar="USER_ID", help="the user, exactly as it was given to the server")
    purge.add_argument("--yes", action="store_true", required=True, help="say that you mean it: there is no way back")
    forget = _add_command(
        commands,
        "forget",
        lambda given: Forget(**given),
        "Delete the conversations, of all users, whose last turn is longer ago than that.",
        "greenroom forget --older-than 90",
    )
    forget.add_argument(
        "--older-than", metavar="DAYS", type=_days, required=True, help=f"how long ago: {forms.DAYS.accepted}"
    )


def _add_doctor(commands: _Commands) -> None:
    doctor = _add_command(
        commands,
        "doctor",
        lambda given: Doctor(**given),
        "Examine all that is kept. The exit code is 0 if all is well and 1 if a problem was found, mended or not.",
        "greenroom doctor --repair",
    )
    doctor.add_argument("--repair", action="store_true", help="mend what can be mended; nothing is thrown away")


def _add_command(commands: _Commands, name: str, make: _Make, summary: str, example: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"Example: {example}", allow_abbrev=False
    )
    parser.set_defaults(make=make)
    return parser


def _overrides(given: Mapping[str, str | None]) -> dict[str, str]:
    return {variable: text for variable, text in given.items() if text is not None}


def _days(text: str) -> float:
    try:
        days: float = forms.DAYS.parse(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {forms.DAYS.accepted}") from None
    return days

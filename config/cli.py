"""The command line: arguments in, a frozen value out. It reads nothing else and starts nothing.

A flag is a configuration variable by another name and ends up in `overrides` under that name, so that it is judged,
together with all other values, by `load_settings`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import attrs


@attrs.frozen
class Serve:
    overrides: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Check:
    overrides: Mapping[str, str] = attrs.field(factory=dict)


Command = Serve | Check

_FLAGS = (
    ("--workflow", "WORKFLOW_PATH", "NAME_OR_FOLDER", "the workflow to serve"),
    ("--host", "GREENROOM_HOST", "ADDRESS", "the address to listen on"),
    ("--port", "GREENROOM_PORT", "NUMBER", "the port to listen on; 0 takes any free port"),
)


def parse(argv: Sequence[str], *, version: str = "of unknown version") -> Command:
    """What was asked for. Help, `--version` and mistakes end in `SystemExit`, as argparse has it."""
    arguments = vars(_parser(version).parse_args(argv))
    command: type[Serve] | type[Check] = arguments.pop("command")
    return command({variable: text for variable, text in arguments.items() if text is not None})


def _parser(version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="greenroom",
        description="Serve a workflow to AI clients over MCP Streamable HTTP.",
        epilog="Everything is configured by environment variables (see README.md); a flag wins over its variable.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"greenroom {version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_command(commands, "serve", Serve, "Serve the workflow until stopped.", "greenroom serve --port 8080")
    _add_command(
        commands,
        "check",
        Check,
        "Show the effective configuration, and whether the workflow can be loaded.",
        "greenroom check --workflow ./my_workflow",
    )
    return parser


def _add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    command: type[Serve] | type[Check],
    summary: str,
    example: str,
) -> None:
    parser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"Example: {example}", allow_abbrev=False
    )
    parser.set_defaults(command=command)
    for flag, variable, metavar, meaning in _FLAGS:
        parser.add_argument(flag, dest=variable, metavar=metavar, help=f"{meaning} (wins over {variable})")

"""From arguments to a command. Help, `--version` and mistakes end in `SystemExit`, as argparse has it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from greenroom.config.cli import clients, keeping, workflows
from greenroom.config.cli.building import Parser, suggestion
from greenroom.config.cli.values import Command

_EPILOG = (
    "`greenroom COMMAND --help` shows an example of each. Everything is configured by environment variables "
    "(see README.md); a flag wins over its variable."
)


def parse(argv: Sequence[str], *, version: Callable[[], str] = lambda: "greenroom") -> Command:
    """What was asked for. `version` is asked for its text only when somebody wants to read it."""
    parser, commands = make_parser(version)
    if not argv or argv[0].startswith("-"):
        parser.parse_args(argv)
        parser.error(f"say what to do, one of: {', '.join(commands)}")
    name, *rest = argv
    chosen = commands.get(name)
    if chosen is None:
        parser.error(f"there is no command {name!r}{suggestion(name, commands)} `greenroom --help` lists them")
    # Intermixed where there may be flags between a list of words, which argparse does not expect otherwise.
    words = any(action.nargs == "*" for action in chosen._actions)
    known, unknown = chosen.parse_known_intermixed_args(rest) if words else chosen.parse_known_args(rest)
    if unknown:
        chosen.refuse(unknown)
    try:
        return chosen.make(vars(known))
    except argparse.ArgumentTypeError as error:
        chosen.error(str(error))


def make_parser(version: Callable[[], str] = lambda: "greenroom") -> tuple[Parser, Mapping[str, Parser]]:
    """The parser of the whole line, and those of the commands by name."""

    class _ShowVersion(argparse.Action):
        def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
            print(version())
            parser.exit()

    parser = Parser(
        prog="greenroom",
        description="Serve a workflow to AI clients over MCP Streamable HTTP.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the versions of all that matters")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    workflows.add_to(commands)
    clients.add_to(commands)
    keeping.add_to(commands)
    return parser, commands.choices

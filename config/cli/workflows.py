"""The arguments of the commands that begin, check and serve a workflow.

A flag of `serve`, `dev` or `check` is a configuration variable by another name and ends up in `overrides` under that
name, so that it is judged, together with all other values, by `load_settings`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from greenroom.config.cli.building import Parser, add_command
from greenroom.config.cli.values import Check, Dev, New, Serve, Version

if TYPE_CHECKING:
    from greenroom.config.cli.building import Commands

_WORKFLOW = "WORKFLOW_PATH"
_FLAGS = (
    ("--workflow", _WORKFLOW, "WORKFLOW", "the same, as a flag"),
    ("--host", "GREENROOM_HOST", "ADDRESS", "the address to listen on"),
    ("--port", "GREENROOM_PORT", "NUMBER", "the port to listen on; 0 takes any free port"),
)


def add_to(commands: Commands) -> None:
    _add_serving(commands)
    new = add_command(
        commands,
        "new",
        lambda given: New(**given),
        "Write a small workflow that runs at once, to begin your own from.",
        "greenroom new shop && greenroom serve shop",
    )
    new.add_argument("folder", metavar="NAME", type=Path, help="the folder to make; it must be empty or not there yet")
    new.add_argument("--plain", action="store_true", help="one app.py with plain functions, instead of a folder")
    add_command(
        commands,
        "version",
        lambda given: Version(),
        "Show the versions of Greenroom and of what it stands on.",
        "greenroom version",
    )


def _add_serving(commands: Commands) -> None:
    serve = add_command(
        commands,
        "serve",
        lambda given: Serve(_overrides(given)),
        "Serve the workflow until stopped.",
        "greenroom serve shop --port 8080",
    )
    dev = add_command(
        commands,
        "dev",
        lambda given: Dev(_overrides(given)),
        "Serve the workflow, and begin again whenever its files or the configuration files change.",
        "greenroom dev shop --port 8080",
    )
    check = add_command(
        commands,
        "check",
        lambda given: Check(_overrides(given)),
        "Show the effective configuration, and whether the workflow can be loaded.",
        "greenroom check ./shop",
    )
    for parser in (serve, dev, check):
        _add_settings(parser)


def _add_settings(parser: Parser) -> None:
    parser.add_argument(
        "workflow", metavar="WORKFLOW", nargs="?", help=f"a folder, a Python file or a name (wins over {_WORKFLOW})"
    )
    for flag, variable, metavar, meaning in _FLAGS:
        parser.add_argument(flag, dest=variable, metavar=metavar, help=f"{meaning} (wins over {variable})")


def _overrides(given: Mapping[str, str | None]) -> dict[str, str]:
    said = {variable: text for variable, text in given.items() if text is not None}
    workflow = said.pop("workflow", None)
    if workflow is None:
        return said
    if said.get(_WORKFLOW, workflow) != workflow:
        raise argparse.ArgumentTypeError(
            f"two workflows are named, {workflow!r} and {said[_WORKFLOW]!r}: leave one out"
        )
    return {_WORKFLOW: workflow, **said}

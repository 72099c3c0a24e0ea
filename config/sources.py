"""Where configuration values come from, and which of them wins.

Command line, then the process's environment, then the passwords file, then the env file. This module knows how to
read the two files and how to lay the four over one another; it does not know what any variable means.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

import attrs
from dotenv import dotenv_values

ENV_FILE = "ENV_FILE_PATH"
PASSWORDS_FILE = "PASSWORDS_FILE_PATH"


class Origin(enum.Enum):
    COMMAND_LINE = "command line"
    ENVIRONMENT = "environment"
    PASSWORDS_FILE = "passwords file"
    ENV_FILE = "env file"
    DEFAULT = "default"


@attrs.frozen
class Given:
    """A value as somebody wrote it, and who that was."""

    text: str
    origin: Origin


@attrs.frozen
class Gathered:
    """The winning value of every variable that was given at all, and what went wrong on the way."""

    values: Mapping[str, Given]
    problems: tuple[str, ...] = ()


def gather(environ: Mapping[str, str], overrides: Mapping[str, str]) -> Gathered:
    """Lay all sources over one another, the strongest last.

    The passwords file may be named in the env file; the env file can only be named by the process.
    """
    problems: list[str] = []
    stronger: dict[str, Given] = {}
    _lay(stronger, environ, Origin.ENVIRONMENT)
    _lay(stronger, overrides, Origin.COMMAND_LINE)

    merged: dict[str, Given] = {}
    _lay(merged, _read(ENV_FILE, stronger, problems), Origin.ENV_FILE)
    named = {**merged, **stronger}
    _lay(merged, _read(PASSWORDS_FILE, named, problems), Origin.PASSWORDS_FILE)
    merged.update(stronger)
    # An empty value wins over a weaker source like any other, and then means "the default".
    return Gathered({name: given for name, given in merged.items() if given.text.strip()}, tuple(problems))


def _lay(target: MutableMapping[str, Given], source: Mapping[str, str | None], origin: Origin) -> None:
    # In a dotenv file a name without "=" has no value at all: nothing was said.
    target.update({name: Given(text, origin) for name, text in source.items() if text is not None})


def _read(variable: str, known: Mapping[str, Given], problems: list[str]) -> Mapping[str, str | None]:
    given = known.get(variable)
    if given is None or not given.text.strip():
        return {}
    path = Path(os.path.expanduser(given.text.strip()))
    if not os.path.isfile(path):
        problems.append(f"{variable} is {given.text!r}, but there is no such file: create it, or unset {variable}.")
        return {}
    try:
        return dotenv_values(path)
    except (OSError, UnicodeDecodeError) as error:
        problems.append(f"{variable} is {given.text!r}, but that file cannot be read as UTF-8 text: {error}.")
        return {}

"""What the descriptions of the commands are made with: argparse, kinder to whoever mistypes."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from greenroom.config import forms
from greenroom.config.cli.values import Command

Make: TypeAlias = Callable[[dict[str, Any]], Command]
"""From what argparse found to the command."""

if TYPE_CHECKING:
    Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class Parser(argparse.ArgumentParser):
    make: Make
    example: str

    @property
    def flags(self) -> list[str]:
        return [flag for flag in self._option_string_actions if flag.startswith("--")]

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Arguments that mean nothing, with the flag that the first of them may have been meant for."""
        written = unknown[0].partition("=")[0]
        self.error(f"{written!r} is not understood{suggestion(written, self.flags)}")


def suggestion(written: str, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(written, list(known), n=1)
    return f": did you mean {nearest[0]}?" if nearest else ""


def add_command(commands: Commands, name: str, make: Make, summary: str, example: str) -> Parser:
    parser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"Example: {example}", allow_abbrev=False
    )
    parser.make, parser.example = make, example
    return parser


def of_form(form: forms.Form) -> Callable[[str], Any]:
    """A value of that form, or a usage error that says what the form is."""

    def parse(text: str) -> Any:
        try:
            return form.parse(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {form.accepted}") from None

    return parse

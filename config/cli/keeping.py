"""The arguments of the commands that look after the conversations that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from greenroom.config import forms
from greenroom.config.cli.building import add_command, of_form
from greenroom.config.cli.values import Doctor, Export, Forget, Import, Purge

if TYPE_CHECKING:
    from greenroom.config.cli.building import Commands


def add_to(commands: Commands) -> None:
    _add_doctor(commands)
    _add_moving(commands)
    _add_removing(commands)


def _add_doctor(commands: Commands) -> None:
    doctor = add_command(
        commands,
        "doctor",
        lambda given: Doctor(**given),
        "Examine all that is kept. The exit code is 0 if all is well, or is by now, and 1 if a problem is left.",
        "greenroom doctor --repair",
    )
    doctor.add_argument("--repair", action="store_true", help="mend what can be mended; nothing is thrown away")


def _add_moving(commands: Commands) -> None:
    export = add_command(
        commands,
        "export",
        lambda given: Export(**given),
        "Write all conversations that are kept, one JSON object per line. The server must not be running.",
        "greenroom export --output conversations.jsonl",
    )
    export.add_argument("--output", metavar="FILE", type=Path, help="where to write it (default: standard output)")
    importing = add_command(
        commands,
        "import",
        lambda given: Import(**given),
        "Add conversations from a file that `greenroom export` wrote; what is kept already stays as it is.",
        "greenroom import conversations.jsonl",
    )
    importing.add_argument("file", metavar="FILE", type=Path, help="the file to read")


def _add_removing(commands: Commands) -> None:
    purge = add_command(
        commands,
        "purge",
        lambda given: Purge(given["user_id"]),
        "Remove everything that is kept of a user, for good.",
        "greenroom purge alice --yes",
    )
    purge.add_argument("user_id", metavar="USER_ID", help="the user, exactly as it was given to the server")
    purge.add_argument("--yes", action="store_true", required=True, help="say that you mean it: there is no way back")
    forget = add_command(
        commands,
        "forget",
        lambda given: Forget(**given),
        "Delete the conversations, of all users, whose last turn is longer ago than that.",
        "greenroom forget --older-than 90",
    )
    forget.add_argument(
        "--older-than",
        metavar="DAYS",
        type=of_form(forms.DAYS),
        required=True,
        help=f"how long ago: {forms.DAYS.accepted}",
    )

"""Why a command was not run, or did not end well, in words for the client.

`CommandRefused` and its kin are the caller's to mend (422): nothing of the command has run. `CommandFailed` is the
workflow's own fault (500): the log has the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from greenroom.config.errors import GreenroomError


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


class CommandRefused(GreenroomError):
    code, name = 422, "command_refused"


class UnknownCommand(CommandRefused):
    """No such command here. If it lives in another context, that is said and not guessed away."""

    name = "unknown_command"

    def __init__(self, wanted: str, context: str, *, lives_in: Sequence[str], candidates: Sequence[str]) -> None:
        problem = f"There is no command {_cut(wanted)!r} in the context '{context}'."
        if lives_in:
            places = " and ".join(f"'{place}'" for place in lives_in)
            advice = f"It belongs to {places}: go there first, then run it."
        elif candidates:
            advice = f"Did you mean {' or '.join(candidates)}? The command what_can_i_do lists what there is."
        else:
            advice = "The command what_can_i_do lists what there is."
        super().__init__(f"{problem} {advice}", errors=[problem], lives_in=list(lives_in), candidates=list(candidates))


class MalformedCommand(CommandRefused):
    name = "malformed_command"

    def __init__(self, problem: str, position: int, *, correct_form: str | None) -> None:
        write = f" Write it like this: {correct_form}" if correct_form else ""
        super().__init__(
            f"{problem} (at character {position + 1}).{write}",
            errors=[{"problem": problem, "position": position}],
            correct_form=correct_form,
        )


class InvalidParameters(CommandRefused):
    name = "invalid_parameters"

    def __init__(self, command: str, errors: Sequence[dict[str, Any]], *, correct_form: str) -> None:
        listed = "\n".join(f"- {error['problem']}" for error in errors)
        super().__init__(
            f"The command {command} was not run:\n{listed}\nWrite it like this: {correct_form}",
            errors=list(errors),
            correct_form=correct_form,
        )


class CommandFailed(GreenroomError):
    """The command's own code failed. Its exception may hold secrets, so a client hears its kind alone."""

    code, name = 500, "command_failed"

    def __init__(self, command: str, error: BaseException) -> None:
        kind = type(error).__name__
        super().__init__(
            f"The command {command} failed with {kind}. The session is where it was before. The details are in the "
            "server's log.",
            command=command,
            error=kind,
        )


class WrongAnswer(CommandFailed):
    """The command ran, but what it returned is no `CommandOutput`."""

    name = "wrong_answer"

    def __init__(self, command: str, found: str) -> None:
        GreenroomError.__init__(
            self,
            f"The command {command} returned {found} where a CommandOutput is due. That is a fault of the workflow.",
            command=command,
        )

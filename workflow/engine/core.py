"""The commands that every context has: where am I, what is there, and how do I get out.

They are written like any command, for the same executor. `abort` and `you_misunderstood` exist because clients of
FastWorkflow send them; nothing here can get stuck, so they have nothing to undo, and discovery does not show them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from greenroom.workflow.compat.types import CommandOutput, CommandResponse
from greenroom.workflow.engine.definition import CORE, CommandDef, shown
from greenroom.workflow.engine.metadata import display_text
from greenroom.workflow.engine.whereabouts import SessionWorkflow


def _says(response: str, **artifacts: Any) -> CommandOutput:
    return CommandOutput(command_responses=[CommandResponse(response=response, artifacts=artifacts)])


class WhatCanIDo:
    """List the commands that can be run here, with their parameters."""

    def __call__(self, workflow: SessionWorkflow, command: str) -> CommandOutput:
        return _says(display_text(workflow))


class WhatIsCurrentContext:
    """Say which context the session is in."""

    def __call__(self, workflow: SessionWorkflow, command: str) -> CommandOutput:
        return _says(f"Current context is '{shown(workflow.current_command_context_name)}'")


class GoUp:
    """Go to the context around the current one. Other commands may be available there."""

    def __call__(self, workflow: SessionWorkflow, command: str) -> CommandOutput:
        if workflow.is_current_command_context_root:
            return _says("Already at the top-level 'global' context.")
        workflow.current_command_context = workflow.get_parent(workflow.current_command_context)
        return _says(f"Context is now '{workflow.current_command_context_displayname}'")


class ResetContext:
    """Go back to the context that the session began in. Other commands may be available there."""

    def __call__(self, workflow: SessionWorkflow, command: str) -> CommandOutput:
        workflow.current_command_context = workflow.root_command_context
        return _says(f"Context is now '{shown(workflow.current_command_context_name)}'")


class Abort:
    """Drop what was being asked for."""

    def __call__(self, workflow: SessionWorkflow, command: str) -> CommandOutput:
        return _says("command aborted", command=command, command_name="abort")


class YouMisunderstood:
    """Say that the wrong command was chosen, and see which ones there are."""

    def __call__(self, workflow: SessionWorkflow, command: str) -> CommandOutput:
        names = sorted(found.command.name for found in workflow.reachable() if not found.command.hidden)
        listed = "\n".join(names)
        return _says(
            f"These are the commands that can be run here:\n{listed}\n\nSay which one is meant, or put it differently.",
            valid_command_names=names,
        )


def _command(name: str, generator: type, *, hidden: bool = False) -> CommandDef:
    return CommandDef(
        context=CORE,
        name=name,
        description=inspect.getdoc(generator) or "",
        hidden=hidden,
        response_generator=generator,
    )


COMMANDS: Mapping[str, CommandDef] = {
    command.name: command
    for command in (
        _command("what_can_i_do", WhatCanIDo),
        _command("what_is_current_context", WhatIsCurrentContext),
        _command("go_up", GoUp),
        _command("reset_context", ResetContext),
        _command("abort", Abort, hidden=True),
        _command("you_misunderstood", YouMisunderstood, hidden=True),
    )
}

"""Loads FastWorkflow folders and runs their commands: deterministic, with no model and no network of its own.

`load_workflow` makes a definition, which all sessions share; an `Instance` is one session's copy. What a command
may be given is decided in `parameters` and `coercion`, which are pure; where a session stands, in `whereabouts`.
Who asks, over what protocol and in which thread, is decided above.
"""

from greenroom.workflow.engine.coercion import build_input
from greenroom.workflow.engine.definition import (
    CommandDef,
    ContextDef,
    ParameterDef,
    StartupAction,
    WorkflowDefinition,
)
from greenroom.workflow.engine.errors import (
    CommandFailed,
    CommandRefused,
    InvalidParameters,
    MalformedCommand,
    UnknownCommand,
    WrongAnswer,
)
from greenroom.workflow.engine.instance import Instance, PreparedCall
from greenroom.workflow.engine.load import load_workflow
from greenroom.workflow.engine.metadata import (
    commands_metadata,
    correct_form,
    display_text,
    example_of,
    workflow_info,
)
from greenroom.workflow.engine.outcome import CommandResult, Response
from greenroom.workflow.engine.parameters import format_command
from greenroom.workflow.engine.problems import Problem, WorkflowProblems
from greenroom.workflow.engine.whereabouts import Found, SessionWorkflow

__all__ = [
    "CommandDef",
    "CommandFailed",
    "CommandRefused",
    "CommandResult",
    "ContextDef",
    "Found",
    "Instance",
    "InvalidParameters",
    "MalformedCommand",
    "ParameterDef",
    "PreparedCall",
    "Problem",
    "Response",
    "SessionWorkflow",
    "StartupAction",
    "UnknownCommand",
    "WorkflowDefinition",
    "WorkflowProblems",
    "WrongAnswer",
    "build_input",
    "commands_metadata",
    "correct_form",
    "display_text",
    "example_of",
    "format_command",
    "load_workflow",
    "workflow_info",
]

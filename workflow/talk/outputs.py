"""What the tools of a workflow answer: FastWorkflow's `CommandOutput`, as structure and as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from greenroom.workflow.engine.outcome import CommandResult
from greenroom.workflow.events import Trace
from greenroom.workflow.values import Text, ToolResult

TRACE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "timestamp": {"type": "integer", "description": "Milliseconds since 1970"},
        "direction": {"enum": ["agent_to_workflow", "workflow_to_agent"]},
        "raw_command": {"type": ["string", "null"]},
        "command_name": {"type": ["string", "null"]},
        "parameters": {"type": ["object", "null"]},
        "response_text": {"type": ["string", "null"]},
        "success": {"type": ["boolean", "null"]},
    },
    "required": ["timestamp", "direction"],
}

_RESPONSE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "response": {"type": "string"},
        "success": {"type": "boolean"},
        "artifacts": {"type": "object"},
        "next_actions": {"type": "array"},
        "recommendations": {"type": "array"},
    },
    "required": ["response"],
}

OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "response_text": {"type": "string", "description": "The answer in words"},
        "success": {"type": "boolean"},
        "status": {
            "enum": ["completed", "awaiting_user", "failed"],
            "description": "awaiting_user: the next call answers the question in response_text",
        },
        "workflow_name": {"type": "string"},
        "context": {"type": "string", "description": "Where the session is now"},
        "command_name": {"type": ["string", "null"], "description": "The command that was run last"},
        "command_parameters": {"type": ["object", "null"]},
        "command_responses": {"type": "array", "items": _RESPONSE_SCHEMA},
        "candidates": {
            "type": "array",
            "description": "Commands that may have been meant; run one with execute_command",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "description": {"type": "string"}},
                "required": ["name", "description"],
            },
        },
        "missing_parameters": {"type": "array", "items": {"type": "string"}},
        "traces": {"type": "array", "items": TRACE_SCHEMA},
    },
    "required": ["response_text", "success", "status", "workflow_name", "context", "command_responses"],
}


@attrs.frozen
class Said:
    """What there is to say at the end of a turn."""

    text: str
    success: bool = True
    status: str = "completed"
    last: CommandResult | None = None
    candidates: Sequence[Mapping[str, str]] = ()
    missing: Sequence[str] = ()


def of_command(result: CommandResult) -> Said:
    return Said(result.text, result.success, "completed" if result.success else "failed", result)


def tool_result(said: Said, *, workflow_name: str, context: str, traces: Sequence[Trace]) -> ToolResult:
    """The answer of a turn. What went wrong in it is said in it; an error result is for calls that were refused."""
    own = {key: value for key, value in said.last.as_json().items() if key not in _SAID_ELSEWHERE} if said.last else {}
    if said.last is not None and said.text != said.last.text:
        own.pop("command_responses")
    structured: dict[str, Any] = {
        "response_text": said.text,
        "success": said.success,
        "status": said.status,
        "workflow_name": workflow_name,
        "context": context,
        "command_name": None,
        "command_parameters": None,
        "command_responses": [{"response": said.text, "success": said.success}],
        **own,
    }
    if said.candidates:
        structured["candidates"] = [dict(each) for each in said.candidates]
    if said.missing:
        structured["missing_parameters"] = list(said.missing)
    return ToolResult([Text(said.text or "Done.")], structured, traces=tuple(traces))


_SAID_ELSEWHERE = frozenset({"success", "workflow_name", "context"})

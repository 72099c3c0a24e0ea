"""The server's own tools, for MCP and for REST: opening a session, looking after turns that outlive their call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from greenroom.actors.session import SessionActor
from greenroom.actors.supervisor import Supervisor
from greenroom.workflow.port import Caller
from greenroom.workflow.values import Tool, ToolHints

DEFAULT_USER = "default_user"

_SESSION_ID = {
    "type": "string",
    "description": "The session_id that the tool `initialize` returned.",
    "x-mcp-header": "Session",
}
_TURN_ID = {"type": "string", "description": "The turn_id that came with the answer that the turn takes longer."}

INITIALIZE = Tool(
    name="initialize",
    title="Open a session",
    description="Open a session of this workflow. Pass the session_id that it returns to every other tool.",
    input_schema={
        "type": "object",
        "properties": {
            "user_id": {
                "type": "string",
                "minLength": 1,
                "maxLength": 256,
                "description": f"Whose session it is; {DEFAULT_USER} if left out.",
            },
            "conversation_id": {
                "type": ["string", "null"],
                "description": "The conversation to go on with; the last one if left out or unknown.",
            },
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "session_id": {"type": "string"},
            "workflow_info": {
                "type": "object",
                "properties": {"workflow_name": {"type": "string"}, "description": {"type": "string"}},
                "required": ["workflow_name", "description"],
            },
            "conversation": {"type": "object", "description": "The conversation that the session goes on with"},
        },
        "required": ["session_id", "workflow_info"],
    },
    hints=ToolHints(read_only=False, destructive=False, idempotent=False),
)

GET_TURN = Tool(
    name="get_turn",
    title="Fetch the result of a turn",
    description='The result of a turn that took longer than its call waited (on_timeout "defer").',
    input_schema={
        "type": "object",
        "properties": {
            "turn_id": _TURN_ID,
            "session_id": _SESSION_ID,
            "wait_seconds": {"type": "number", "minimum": 0, "maximum": 600, "default": 0},
        },
        "required": ["turn_id"],
        "additionalProperties": False,
    },
    hints=ToolHints(read_only=True),
)

CANCEL_TURN = Tool(
    name="cancel_turn",
    title="Stop a turn",
    description="Stop a turn that is running or waiting for an answer, so that the session is free again.",
    input_schema={
        "type": "object",
        "properties": {"turn_id": _TURN_ID, "session_id": _SESSION_ID},
        "required": ["turn_id"],
        "additionalProperties": False,
    },
    hints=ToolHints(read_only=False, destructive=True, idempotent=True),
)

HOUSE_TOOLS = (INITIALIZE, GET_TURN, CANCEL_TURN)


def open_session(supervisor: Supervisor, arguments: Mapping[str, Any]) -> tuple[SessionActor, dict[str, Any]]:
    """A session for checked arguments of `initialize`, and what its caller is told of it."""
    actor = supervisor.open(
        Caller(arguments.get("user_id", DEFAULT_USER)), conversation_id=arguments.get("conversation_id")
    )
    workflow = supervisor.workflow
    info = {"workflow_name": workflow.name, "description": workflow.description}
    return actor, {"session_id": actor.handle, "workflow_info": info, **supervisor.about(actor)}

"""The schemas of what REST says beside what the tools say: errors, events of a stream, turns, conversations. Pure."""

from __future__ import annotations

from typing import Any

from greenroom.workflow.talk.outputs import TRACE_SCHEMA

_TEXT: dict[str, Any] = {"type": "string"}
_MILLISECONDS: dict[str, Any] = {"type": "integer", "description": "Milliseconds since 1970"}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


ERROR = _object(
    {
        "error": _object(
            {
                "code": {"type": "string", "description": "A stable name, such as turn_in_progress"},
                "message": {"type": "string", "description": "What is wrong and what to do about it"},
                "details": {"type": ["object", "null"]},
            },
            "code",
            "message",
            "details",
        )
    },
    "error",
)

CONVERSATION = _object(
    {
        "conversation_id": _TEXT,
        "topic": _TEXT,
        "summary": _TEXT,
        "created_at": _MILLISECONDS,
        "updated_at": _MILLISECONDS,
        "turn_count": {"type": "integer"},
    },
    "conversation_id",
    "topic",
    "summary",
    "created_at",
    "updated_at",
    "turn_count",
)

_FEEDBACK: dict[str, Any] = {
    "type": ["object", "null"],
    "properties": {
        "binary_or_numeric_score": {"type": ["boolean", "number", "null"]},
        "nl_feedback": {"type": ["string", "null"]},
        "given_at": _MILLISECONDS,
    },
}

KEPT_TURN = _object(
    {
        "turn_id": _TEXT,
        "number": {"type": "integer", "description": "Its place in the conversation, from 1"},
        "tool": _TEXT,
        "input": {"type": "object", "description": "What was asked"},
        "text": {"type": "string", "description": "The answer in words"},
        "output": {"type": ["object", "null"], "description": "The whole answer"},
        "is_error": {"type": "boolean"},
        "status": {"enum": ["completed", "awaiting_user", "failed", "cancelled", "abandoned"]},
        "started_at": _MILLISECONDS,
        "duration_ms": {"type": "integer"},
        "traces": {"type": "array", "items": TRACE_SCHEMA},
        "feedback": _FEEDBACK,
    },
    "turn_id",
    "number",
    "tool",
    "input",
    "text",
    "output",
    "is_error",
    "status",
    "started_at",
    "duration_ms",
    "traces",
    "feedback",
)

CONVERSATIONS = _object(
    {"conversations": {"type": "array", "items": CONVERSATION}, "next_cursor": _TEXT}, "conversations"
)

CONVERSATION_WITH_TURNS = _object(
    {
        "conversation": CONVERSATION,
        "turns": {"type": "array", "items": KEPT_TURN, "description": "The oldest of the page first"},
        "next_cursor": {"type": "string", "description": "For the page before this one; absent at the beginning"},
    },
    "conversation",
    "turns",
)

TURN = _object(
    {
        "turn_id": _TEXT,
        "status": {"enum": ["finished", "running", "awaiting_input"]},
        "output": {"type": "object", "description": "The answer of the call that began the turn, once it is finished"},
    },
    "turn_id",
    "status",
)

CANCELLED = _object(
    {
        "status": {
            "enum": ["cancelled", "finished", "idle"],
            "description": "finished: it was too late; idle: there was nothing to stop",
        },
        "turn_id": {"type": ["string", "null"]},
    },
    "status",
    "turn_id",
)


_DROPPED = _object(
    {"count": {"type": "integer", "description": "Events lost because they were not read in time"}}, "count"
)

_PROGRESS = _object(
    {
        "progress": {"type": "number"},
        "total": {"type": ["number", "null"]},
        "message": {"type": ["string", "null"]},
    },
    "progress",
)


def lines(output: Any) -> dict[str, Any]:
    """An NDJSON stream that ends in such an output: a list of its lines."""
    kinds = {"trace": TRACE_SCHEMA, "progress": _PROGRESS, "dropped": _DROPPED, "output": output, "error": ERROR}
    line = [_object({"type": {"const": kind}, "data": data}, "type", "data") for kind, data in kinds.items()]
    return {"type": "array", "items": {"oneOf": line}}


EVENT = _object(
    {
        "event": {"enum": ["trace", "progress", "dropped", "output", "error"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "event",
    "data",
)
"""One server-sent event; its data is what a line of NDJSON has as its data."""

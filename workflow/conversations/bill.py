"""The tools for conversations, described for a model. Pure values."""

from __future__ import annotations

from typing import Any

from greenroom.workflow.values import Tool, ToolHints

_STATUS: dict[str, Any] = {"type": "string", "const": "ok"}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_CONVERSATION = {
    "type": "object",
    "properties": {
        "conversation_id": {"type": "string"},
        "topic": {"type": "string"},
        "summary": {"type": "string"},
        "created_at": {"type": "integer"},
        "updated_at": {"type": "integer", "description": "Milliseconds since 1970"},
        "turn_count": {"type": "integer"},
    },
    "required": ["conversation_id", "topic", "summary", "updated_at"],
}

NEW_CONVERSATION = Tool(
    name="new_conversation",
    title="Begin a new conversation",
    description="Give the current conversation a topic and a summary, put it away, and begin a new one. Call it when "
    "the user turns to something else.",
    input_schema=_object({}),
    output_schema={
        "type": "object",
        "properties": {"status": _STATUS, "new_conversation_id": {"type": "string"}},
        "required": ["status", "new_conversation_id"],
    },
    hints=ToolHints(read_only=False, destructive=False, idempotent=False, open_world=False),
)

LIST_CONVERSATIONS = Tool(
    name="list_conversations",
    title="List earlier conversations",
    description="The user's conversations, the newest first, with their topics and summaries. Pass next_cursor as "
    "cursor for more; pass a conversation_id to activate_conversation to go on with one.",
    input_schema=_object(
        {
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "cursor": {"type": "string", "description": "The next_cursor of an earlier answer."},
        }
    ),
    output_schema={
        "type": "object",
        "properties": {
            "conversations": {"type": "array", "items": _CONVERSATION},
            "next_cursor": {"type": "string"},
        },
        "required": ["conversations"],
    },
    hints=ToolHints(read_only=True, idempotent=True, open_world=False),
)

ACTIVATE_CONVERSATION = Tool(
    name="activate_conversation",
    title="Go on with an earlier conversation",
    description="Switch this session to one of the user's earlier conversations, as list_conversations names them.",
    input_schema=_object({"conversation_id": {"type": "string"}}, "conversation_id"),
    output_schema={"type": "object", "properties": {"status": _STATUS}, "required": ["status"]},
    hints=ToolHints(read_only=False, destructive=False, idempotent=True, open_world=False),
)

POST_FEEDBACK = Tool(
    name="post_feedback",
    title="Rate an answer",
    description="Keep what the user thought of the latest turn of the conversation, or of the turn named by turn_id: "
    "a score, words, or both.",
    input_schema=_object(
        {
            "binary_or_numeric_score": {"type": ["boolean", "number", "null"]},
            "nl_feedback": {"type": ["string", "null"]},
            "turn_id": {"type": "string"},
        }
    ),
    output_schema={
        "type": "object",
        "properties": {"status": _STATUS, "turn_id": {"type": "string"}},
        "required": ["status"],
    },
    hints=ToolHints(read_only=False, destructive=False, idempotent=True, open_world=False),
)

TOOLS = (NEW_CONVERSATION, LIST_CONVERSATIONS, ACTIVATE_CONVERSATION, POST_FEEDBACK)

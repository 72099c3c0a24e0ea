"""Turns between the stage and the store: what is kept of one, and what can be read back from it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from greenroom.config.errors import GreenroomError
from greenroom.persistence.records import Conversation, Turn, TurnStatus
from greenroom.workflow.conversations.naming import Exchange
from greenroom.workflow.events import Trace
from greenroom.workflow.values import CallTool, Text, ToolResult


def outputs_of(result: ToolResult) -> dict[str, Any]:
    return {"text": text_of(result), "structured": result.structured, "is_error": result.is_error}


def outputs_of_error(error: GreenroomError) -> dict[str, Any]:
    described = {"code": error.code, "name": error.name, "message": error.message}
    return {"text": error.message, "structured": {"error": described}, "is_error": True}


def result_of(turn: Turn) -> ToolResult:
    """The answer again, as it was given; without its traces, which are told once."""
    kept = turn.outputs
    return ToolResult([Text(kept["text"])], kept["structured"], is_error=kept["is_error"])


def status_of(result: ToolResult) -> TurnStatus:
    said = (result.structured or {}).get("status")
    if said in (TurnStatus.COMPLETED, TurnStatus.AWAITING_USER, TurnStatus.FAILED):
        return TurnStatus(said)
    return TurnStatus.FAILED if result.is_error else TurnStatus.COMPLETED


def text_of(result: ToolResult) -> str:
    return "\n".join(each.text for each in result.content if isinstance(each, Text))


def traces_of(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    return [{**attrs.asdict(trace), "direction": trace.direction.value} for trace in traces]


def asked_in(order: CallTool) -> str:
    """What the user wanted, in whatever words the tool took it."""
    said = order.arguments.get("user_query") or order.arguments.get("command")
    return str(said) if said is not None else order.name


def exchange_of(turn: Turn) -> Exchange:
    arguments = turn.input if isinstance(turn.input, dict) else {}
    return Exchange(asked_in(CallTool(turn.tool, arguments)), str(turn.outputs.get("text", "")))


def shown(conversation: Conversation) -> dict[str, Any]:
    return {
        "conversation_id": conversation.id,
        "topic": conversation.topic,
        "summary": conversation.summary,
        "created_at": conversation.created_at,
        "updated_at": conversation.updated_at,
        "turn_count": conversation.turn_count,
    }


def as_markdown(conversation: Conversation, turns: Sequence[Turn]) -> str:
    lines = [f"# {conversation.topic or conversation.id}", ""]
    lines += [conversation.summary, ""] if conversation.summary else []
    for turn in turns:
        exchange = exchange_of(turn)
        lines += [f"## {turn.number}. {exchange.asked}", "", exchange.answered, ""]
        if turn.feedback is not None:
            said = [turn.feedback.binary_or_numeric_score, turn.feedback.nl_feedback]
            lines += [f"*Feedback: {', '.join(str(each) for each in said if each is not None)}*", ""]
    return "\n".join(lines)

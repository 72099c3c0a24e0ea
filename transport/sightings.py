"""Sessions, turns and what happens to them, as an operator sees them in JSON. Pure.

A handle is a secret that opens a session, so none leaves here: a session is known by the beginning of its digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from greenroom.actors.lookout import kind_of, name_of, result_of
from greenroom.actors.messages import Failed, Outcome
from greenroom.actors.session import SessionActor
from greenroom.actors.sights import (
    Missed,
    PhaseChanged,
    SessionClosed,
    SessionOpened,
    Sight,
    TurnEnded,
    TurnReported,
    TurnStarted,
)
from greenroom.persistence.journal import TurnRecord
from greenroom.persistence.records import Turn, handle_digest
from greenroom.workflow.conversations.session import KeptSession
from greenroom.workflow.conversations.turns import text_of, traces_of
from greenroom.workflow.events import ConnectionReleased, EventsDropped, Note, Progress, Trace, TurnEvent
from greenroom.workflow.values import Order, PromptResult, ReadResource, Text, ToolResult

ID_LENGTH = 12


def public_id(handle: str) -> str:
    return handle_digest(handle)[:ID_LENGTH]


# --- a session ---------------------------------------------------------------------------------------------


def session_shown(actor: SessionActor, last_used: float, recent: Sequence[TurnRecord], now: float) -> dict[str, Any]:
    return {
        "id": public_id(actor.handle),
        "user_id": actor.user_id,
        "phase": actor.phase.value,
        "turn": running_shown(actor, now),
        "opened_seconds_ago": round(now - actor.opened_at, 3),
        "used_seconds_ago": round(max(now - last_used, 0.0), 3),
        "queue_depth": actor.queue_depth,
        "callers": actor.callers,
        "walk_on": actor.walk_on,
        "context": context_of(recent),
        "conversation_id": conversation_of(actor),
    }


def running_shown(actor: SessionActor, now: float) -> dict[str, Any] | None:
    turn = actor.turn
    if turn is None:
        return None
    return {
        "id": turn.id,
        "kind": kind_of(turn.order),
        "name": name_of(turn.order),
        "seconds": round(now - turn.began, 3),
    }


def conversation_of(actor: SessionActor) -> str | None:
    session = actor.workflow_session
    return session.conversation_id if isinstance(session, KeptSession) else None


def context_of(recent: Sequence[TurnRecord]) -> str | None:
    """Where the workflow stands, as far as its newest answers say."""
    for record in reversed(recent):
        result = getattr(record.outcome, "result", None)
        structured = (result.structured or {}) if isinstance(result, ToolResult) else {}
        if isinstance(context := structured.get("context"), str):
            return context
    return None


# --- turns -------------------------------------------------------------------------------------------------


def turns_shown(
    actor: SessionActor, kept: Sequence[Turn], recent: Sequence[TurnRecord], *, now: float, wall_clock: float
) -> list[dict[str, Any]]:
    """The newest first: the one on stage, those that the conversation keeps, and those that only the session knows."""
    shown = {turn.id: _kept_shown(turn) for turn in kept}
    # The newest of equals first, too: turns may begin within the same millisecond.
    for record in reversed(recent):
        if record.turn_id not in shown:
            shown[record.turn_id] = _recent_shown(record, now, wall_clock)
    if (turn := actor.turn) is not None:
        shown[turn.id] = {
            **_blank(turn.id, kind_of(turn.order), name_of(turn.order)),
            "input": input_of(turn.order),
            "status": actor.phase.value,
            "started_at": _started(turn.began, now, wall_clock),
        }
    return sorted(shown.values(), key=lambda each: each["started_at"] or 0, reverse=True)


def _blank(turn_id: str, kind: str, name: str) -> dict[str, Any]:
    return {
        "id": turn_id,
        "kind": kind,
        "name": name,
        "input": None,
        "status": "",
        "started_at": None,
        "duration_ms": None,
        "text": None,
        "error": None,
        "traces": [],
        "feedback": None,
        "conversation_id": None,
    }


def _kept_shown(turn: Turn) -> dict[str, Any]:
    outputs = turn.outputs if isinstance(turn.outputs, dict) else {}
    structured = outputs.get("structured")
    return {
        **_blank(turn.id, "tool", turn.tool),
        "input": turn.input,
        "status": turn.status.value,
        "started_at": turn.started_at,
        "duration_ms": turn.duration_ms,
        "text": outputs.get("text"),
        "error": structured.get("error") if isinstance(structured, dict) else None,
        "traces": list(turn.traces),
        "feedback": attrs.asdict(turn.feedback) if turn.feedback is not None else None,
        "conversation_id": turn.conversation_id,
    }


def _recent_shown(record: TurnRecord, now: float, wall_clock: float) -> dict[str, Any]:
    return {
        **_blank(record.turn_id, record.kind, record.name),
        **ending(record.outcome, record.seconds),
        "started_at": _started(record.began, now, wall_clock),
        "traces": traces_of(getattr(getattr(record.outcome, "result", None), "traces", ())),
    }


def _started(began: float, now: float, wall_clock: float) -> int:
    return round((wall_clock - (now - began)) * 1000)


def ending(outcome: Outcome, seconds: float) -> dict[str, Any]:
    ended: dict[str, Any] = {"status": result_of(outcome), "duration_ms": round(seconds * 1000, 3), "error": None}
    if isinstance(outcome, Failed):
        error = outcome.error
        described = {"code": error.code, "name": error.name, "message": error.message}
        return {**ended, "text": error.message, "error": described}
    return {**ended, "text": _text(outcome.result)}


def _text(result: object) -> str | None:
    match result:
        case ToolResult():
            return text_of(result)
        case PromptResult(messages):
            return "\n".join(each.content.text for each in messages if isinstance(each.content, Text))
        case _:
            return None


def input_of(order: Order) -> dict[str, Any]:
    return {"uri": order.uri} if isinstance(order, ReadResource) else dict(order.arguments)


# --- what happens ------------------------------------------------------------------------------------------


def sight_shown(sight: Sight | Missed, at: int, *, closely: bool) -> dict[str, Any]:
    """`closely` is for whoever watches this session: with what was asked and what was answered."""
    if isinstance(sight, Missed):
        return {"type": "missed", "at": at, "count": sight.count}
    about = {"at": at, "session": public_id(sight.session)}
    match sight:
        case SessionOpened(_, user_id, walk_on):
            return {"type": "session_opened", **about, "user_id": user_id, "walk_on": walk_on}
        case SessionClosed(_, crashed):
            return {"type": "session_closed", **about, "crashed": crashed}
        case PhaseChanged(_, phase):
            return {"type": "phase", **about, "phase": phase}
        case TurnStarted(_, turn_id, order):
            asked = {"input": input_of(order)} if closely else {}
            return {"type": "turn_started", **about, **_turn(turn_id, order), **asked}
        case TurnReported(_, turn_id, event):
            return {**about, "turn_id": turn_id, **event_shown(event)}
        case TurnEnded(_, turn_id, order, outcome, seconds):
            ended = ending(outcome, seconds)
            told = ended if closely else {key: ended[key] for key in ("status", "duration_ms")}
            return {"type": "turn_finished", **about, **_turn(turn_id, order), **told}


def _turn(turn_id: str, order: Order) -> dict[str, Any]:
    return {"turn_id": turn_id, "kind": kind_of(order), "name": name_of(order)}


def event_shown(event: TurnEvent) -> dict[str, Any]:
    match event:
        case Trace():
            return {"type": "trace", "trace": traces_of([event])[0]}
        case Progress(progress, total, message):
            return {"type": "progress", "progress": progress, "total": total, "message": message}
        case Note(level, data, logger):
            return {"type": "note", "level": level.value, "data": data, "logger": logger}
        case EventsDropped(count):
            return {"type": "missed", "count": count}
        case ConnectionReleased():
            return {"type": "connection_released"}

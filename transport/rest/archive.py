"""Reading what is kept of a user's conversations, a page at a time.

It reads the store and takes no turn, so that one can read while the session is on stage. A search looks through a
bounded part of what there is in short steps and says where to go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import trio.lowlevel

from greenroom.persistence.errors import ConversationNotFound, InvalidCursor
from greenroom.persistence.records import Conversation, Turn
from greenroom.persistence.store import UserStore
from greenroom.workflow.conversations import turns

STEP = 50
"""How many are looked at between two checkpoints; the store belongs to the loop's own thread."""

MAX_LOOKED_AT = 1000
"""Of one search. The cursor leads on from there."""


async def list_conversations(user: UserStore, limit: int, cursor: str | None, words: str | None) -> dict[str, Any]:
    found: list[Conversation] = []
    looked_at = 0
    while True:
        # Never more than are still wanted, so that the cursor behind them is the cursor behind the page.
        page = user.list_conversations(min(limit - len(found), STEP), cursor)
        cursor = page.cursor
        looked_at += len(page.conversations)
        found += [each for each in page.conversations if _has(words, each.topic, each.summary)]
        if cursor is None or len(found) >= limit or looked_at >= MAX_LOOKED_AT:
            break
        await trio.lowlevel.checkpoint()
    return _page({"conversations": [turns.shown(each) for each in found]}, cursor)


async def read_conversation(
    user: UserStore, conversation_id: str, limit: int, cursor: str | None, words: str | None
) -> dict[str, Any]:
    conversation = user.get_conversation(conversation_id)
    if conversation is None:
        raise ConversationNotFound(conversation_id)
    before = _number(cursor)
    found: list[Turn] = []
    looked_at = 0
    while True:
        some = user.turns(conversation_id, limit=min(limit - len(found), STEP), before=before)
        looked_at += len(some)
        found += [each for each in some if _has(words, *_words_of(each))]
        before = some[-1].number if some else 1
        if before <= 1 or len(found) >= limit or looked_at >= MAX_LOOKED_AT:
            break
        await trio.lowlevel.checkpoint()
    shown = {"conversation": turns.shown(conversation), "turns": [shown_turn(each) for each in reversed(found)]}
    return _page(shown, str(before) if before > 1 else None)


def shown_turn(turn: Turn) -> dict[str, Any]:
    outputs = turn.outputs if isinstance(turn.outputs, dict) else {}
    return {
        "turn_id": turn.id,
        "number": turn.number,
        "tool": turn.tool,
        "input": turn.input if isinstance(turn.input, dict) else {},
        "text": str(outputs.get("text", "")),
        "output": outputs.get("structured"),
        "is_error": bool(outputs.get("is_error")),
        "status": turn.status.value,
        "started_at": turn.started_at,
        "duration_ms": turn.duration_ms,
        "traces": list(turn.traces),
        "feedback": attrs.asdict(turn.feedback) if turn.feedback is not None else None,
    }


def _page(value: dict[str, Any], cursor: str | None) -> dict[str, Any]:
    return value if cursor is None else {**value, "next_cursor": cursor}


def _words_of(turn: Turn) -> Sequence[str]:
    exchange = turns.exchange_of(turn)
    return exchange.asked, exchange.answered


def _has(words: str | None, *texts: str) -> bool:
    return words is None or any(words.casefold() in text.casefold() for text in texts)


def _number(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= 18):
        raise InvalidCursor
    return int(cursor)

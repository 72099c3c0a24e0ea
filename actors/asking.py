"""Asking an actor from a request's task: post, follow the events, take the answer, or leave properly.

This is the only way from the outside into a session. Whatever ends the wait early (the client hung up, the
server is stopping, patience ran out), the actor is told, so that nothing runs on for a listener who has left
unless it was meant to.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Awaitable, Callable

import trio

from greenroom.actors.messages import Asking, Heard
from greenroom.actors.reply import Reply
from greenroom.actors.session import SessionActor
from greenroom.workflow.events import TurnEvent

EVENTS_KEPT = 256
"""How many unread events a watcher may be behind before the oldest are dropped."""

OnEvent = Callable[[TurnEvent], Awaitable[None]]


def new_turn_id(idempotency_key: str | None = None, session: str = "") -> str:
    """An id for a turn. The same key in the same session gives the same id, so that a repeated call finds its turn."""
    if idempotency_key is None:
        return f"turn-{secrets.token_hex(8)}"
    return f"turn-{hashlib.sha256(f'{session} {idempotency_key}'.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


async def ask(
    actor: SessionActor,
    make: Callable[[Reply], Asking],
    *,
    on_event: OnEvent | None = None,
    patience: float = math.inf,
    cancels: bool = False,
) -> Heard | None:
    """Ask and wait. None means that patience ran out and the turn goes on without us.

    `cancels` says that the turn is ours: if this task is cancelled, so is the turn.
    """
    reply = Reply(events=EVENTS_KEPT if on_event else 0)
    message = make(reply)
    actor.ask(message, reply)
    return await follow(actor, message.turn_id, reply, on_event=on_event, patience=patience, cancels=cancels)


async def follow(
    actor: SessionActor,
    turn_id: str,
    reply: Reply,
    *,
    on_event: OnEvent | None = None,
    patience: float = math.inf,
    cancels: bool = False,
) -> Heard | None:
    """Wait for the answer to what was asked before."""
    patient = True
    try:
        with trio.move_on_after(patience) as waiting:
            while (event := await reply.next_event()) is not None:
                assert on_event is not None
                await on_event(event)
            return await reply.wait()
        patient = not waiting.cancelled_caught
    finally:
        if not reply.settled:
            actor.leave(turn_id, reply, cancels=cancels and patient)
    # It may have come while an event was being passed on.
    return await reply.wait() if reply.settled else None

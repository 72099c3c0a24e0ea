"""A call that becomes a turn: under which id, for how long, and whose it is. The same for MCP and for REST. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from greenroom.actors.asking import new_turn_id
from greenroom.actors.lookout import name_of
from greenroom.actors.messages import Asking, TurnRequested
from greenroom.actors.reply import Reply
from greenroom.actors.session import SessionActor
from greenroom.actors.supervisor import Limits
from greenroom.transport.bill import StageOptions
from greenroom.workflow.port import Caller
from greenroom.workflow.questions import Ability, Answer
from greenroom.workflow.values import Order


@attrs.frozen
class TurnPlan:
    turn_id: str
    request: Callable[[Reply], Asking]
    patience: float | None
    """How long its caller waits; None is until it ends, which the turn's own deadline sees to."""
    owner: bool
    """Whether the turn goes when its caller does."""


def plan_turn(
    actor: SessionActor,
    order: Order,
    options: StageOptions,
    limits: Limits,
    abilities: frozenset[Ability] = frozenset(),
    answers: Mapping[str, Answer] | None = None,
) -> TurnPlan:
    wait = options.timeout_seconds or limits.turn_timeout
    deferring = options.on_timeout == "defer"
    caller = Caller(actor.user_id, abilities)
    # A key is repeated with its call: the same one with another tool is another turn, or its answer would not fit.
    turn_id = new_turn_id(options.idempotency_key, f"{actor.handle} {name_of(order)}")
    timeout = limits.max_turn_timeout if deferring else wait

    def request(reply: Reply) -> Asking:
        return TurnRequested(turn_id, order, caller, reply, timeout, answers or {})

    # A caller with a key means to come back for its turn if the connection is lost; so the turn goes on.
    return TurnPlan(turn_id, request, wait if deferring else None, owner=options.idempotency_key is None)

"""What the supervisor and the actors tell about themselves: counts, always; sights, to whoever watches.

Every method is called in the middle of somebody's turn, so none of them waits, raises or makes anything that
nobody asked for. It does not act on what it hears.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Protocol

import attrs

from greenroom.actors.messages import Failed, Outcome
from greenroom.actors.sights import (
    Gallery,
    PhaseChanged,
    SessionClosed,
    SessionOpened,
    TurnEnded,
    TurnReported,
    TurnStarted,
)
from greenroom.persistence.meter import COARSE, Meter
from greenroom.workflow.conversations.turns import status_of
from greenroom.workflow.events import TurnEvent
from greenroom.workflow.spans import Tracer, TurnSpan
from greenroom.workflow.values import CallTool, GetPrompt, Order, ReadResource, ToolResult

OTHER = "other"
MAX_NAME = 200


def kind_of(order: Order) -> str:
    match order:
        case CallTool():
            return "tool"
        case GetPrompt():
            return "prompt"
        case _:
            return "resource"


def name_of(order: Order) -> str:
    """Of what is wanted. A client may have made it up, at any length."""
    return (order.uri if isinstance(order, ReadResource) else order.name)[:MAX_NAME]


def result_of(outcome: Outcome) -> str:
    """One word for how a turn ended, out of a bounded set: an error's name is that of its class."""
    if isinstance(outcome, Failed):
        return outcome.error.name
    result = outcome.result
    if not isinstance(result, ToolResult) or (result.structured is None and not result.is_error):
        return "completed"
    return status_of(result).value


class Tally:
    """Plain numbers that only grow."""

    def __init__(self) -> None:
        self.opened = 0
        self.walk_ons = 0
        self.closed = 0
        self.crashed = 0
        self.turns: dict[tuple[str, str, str], int] = {}
        """By kind, name of the tool, and result."""
        self.seconds: dict[str, Meter] = {kind: Meter(COARSE) for kind in ("tool", "prompt", "resource")}
        self.tools: Container[str] = frozenset()
        """Those that are counted by name. Whatever else a client may call one is counted as another."""

    def turn_ended(self, order: Order, outcome: Outcome, seconds: float) -> None:
        kind, tool = self.labels_of(order)
        key = (kind, tool, result_of(outcome))
        self.turns[key] = self.turns.get(key, 0) + 1
        self.seconds[kind].note(seconds)

    def labels_of(self, order: Order) -> tuple[str, str]:
        """What kind it is and, of a tool, which."""
        if not isinstance(order, CallTool):
            return kind_of(order), ""
        return "tool", order.name if order.name in self.tools else OTHER

    def knows(self, tool: str) -> bool:
        return tool in self.tools


class Played(Protocol):
    """A turn, as far as it is of interest here."""

    span: TurnSpan | None

    @property
    def id(self) -> str: ...

    @property
    def order(self) -> Order: ...

    @property
    def parent(self) -> object: ...


@attrs.define(eq=False)
class Lookout:
    tally: Tally = attrs.field(factory=Tally)
    gallery: Gallery = attrs.field(factory=Gallery)
    tracer: Tracer | None = None
    """Only where spans are exported."""

    def session_opened(self, handle: str, user_id: str, *, walk_on: bool) -> None:
        self.tally.opened += 1
        self.tally.walk_ons += walk_on
        if self.gallery.anyone:
            self.gallery.show(SessionOpened(handle, user_id, walk_on))

    def session_closed(self, handle: str, *, crashed: bool) -> None:
        self.tally.closed += 1
        self.tally.crashed += crashed
        if self.gallery.anyone:
            self.gallery.show(SessionClosed(handle, crashed))

    def phase_changed(self, handle: str, phase: str) -> None:
        if self.gallery.anyone:
            self.gallery.show(PhaseChanged(handle, phase))

    def turn_started(self, handle: str, turn: Played) -> None:
        if self.tracer is not None:
            kind, tool = self.tally.labels_of(turn.order)
            turn.span = self.tracer.begin_turn(turn.parent, handle, turn.id, kind, tool)
        if self.gallery.anyone:
            self.gallery.show(TurnStarted(handle, turn.id, turn.order))

    def turn_reported(self, handle: str, turn_id: str, event: TurnEvent) -> None:
        if self.gallery.anyone:
            self.gallery.show(TurnReported(handle, turn_id, event))

    def turn_ended(self, handle: str, turn: Played, outcome: Outcome, seconds: float) -> None:
        self.tally.turn_ended(turn.order, outcome, seconds)
        if turn.span is not None:
            turn.span.end(result_of(outcome))
        if self.gallery.anyone:
            self.gallery.show(TurnEnded(handle, turn.id, turn.order, outcome, seconds))

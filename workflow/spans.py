"""Where a turn's spans come from, seen from where the work is done: protocols, and the one for the task at hand.

Nobody records anything unless an exporter is configured. Then the turn's own task carries its recorder in `CURRENT`,
and so do its children and its threads; it never travels through an actor's mailbox, where the parent of a turn is a
field of the message. What is noted of a step is what it was and how it ended, never an argument, a token or a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import Context, ContextVar
from typing import Protocol

Fact = str | int | float | bool


class Step(Protocol):
    """A part of a turn while it lasts. It ends by itself, well or with the error that ended it."""

    def rename(self, name: str) -> None: ...

    def note(self, facts: Mapping[str, Fact]) -> None: ...

    def failed(self, why: str) -> None:
        """It ended without an exception, and not well."""


class Recorder(Protocol):
    def step(self, name: str, facts: Mapping[str, Fact]) -> AbstractContextManager[Step]: ...


class TurnSpan(Recorder, Protocol):
    def enter(self) -> None:
        """This task plays the turn."""

    def end(self, result: str) -> None:
        """Once is enough, and a second time harmless."""


class Tracer(Protocol):
    def parent(self) -> object:
        """What this task works for, to be sent along with an order; None if nothing is known."""

    def begin_turn(self, parent: object, session: str, turn_id: str, kind: str, tool: str) -> TurnSpan: ...


CURRENT: ContextVar[Recorder | None] = ContextVar("greenroom_recorder", default=None)
"""Of the turn that this task plays."""

REQUEST: ContextVar[object] = ContextVar("greenroom_request", default=None)
"""The span of the request that this task serves. Not OpenTelemetry's own variable: a library on the way may put the
client's span there."""


def clean_context() -> Context:
    """For a task that may outlive the request it was made for: a context that keeps none of it alive but its name."""
    clean = Context()
    if (request := REQUEST.get()) is not None:
        clean.run(REQUEST.set, request)
    return clean

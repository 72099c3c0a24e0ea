"""Everything that can happen to a session, and everything a session can have done about it.

Messages are facts in the past tense, effects are orders in the imperative. Both are closed unions of frozen
values: the core matches on them, the shell carries them out. An `asker` is opaque here: the core only hands it
back, so that the same table works with a reply that waits and with a plain string in a test.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from greenroom.config.errors import GreenroomError
from greenroom.workflow.port import Caller
from greenroom.workflow.questions import Answer, Question
from greenroom.workflow.values import Order, Result

Asker = object


# --- what an asker may hear --------------------------------------------------------------------------------


@attrs.frozen
class Finished:
    result: Result


@attrs.frozen
class Failed:
    error: GreenroomError


Outcome = Finished | Failed


@attrs.frozen
class InputRequired:
    """Not the end: the turn has questions and waits in the session until they are answered."""

    turn_id: str
    questions: Mapping[str, Question]


Heard = Finished | Failed | InputRequired


# --- messages ----------------------------------------------------------------------------------------------


@attrs.frozen
class TurnRequested:
    turn_id: str
    order: Order
    caller: Caller
    asker: Asker
    timeout: float
    answers: Mapping[str, Answer] = attrs.field(factory=dict)
    """Answers that came along with the order, for questions it is known to ask."""
    parent: object = attrs.field(default=None, repr=False)
    """The span that the turn belongs under, where spans are recorded."""
    fresh: bool = False
    """The id was made for this request, so that there cannot have been a turn of it before."""


@attrs.frozen
class InputProvided:
    turn_id: str
    answers: Mapping[str, Answer]
    asker: Asker


@attrs.frozen
class TurnAwaited:
    """Somebody wants the outcome of a turn that another call began."""

    turn_id: str
    asker: Asker


@attrs.frozen
class CancelRequested:
    turn_id: str
    asker: Asker


@attrs.frozen
class CallerGone:
    """Whoever was listening has left; `cancels` says whether the turn goes with them."""

    turn_id: str
    asker: Asker
    cancels: bool


@attrs.frozen
class InputRequested:
    turn_id: str
    questions: Mapping[str, Question]


@attrs.frozen
class InputWithdrawn:
    """The turn does not wait for its answers any more."""

    turn_id: str


@attrs.frozen
class TurnFinished:
    turn_id: str
    outcome: Outcome
    thread_busy: bool = False
    """Its command is still in a thread that cannot be stopped."""


@attrs.frozen
class ThreadReturned:
    turn_id: str


@attrs.frozen
class CloseRequested:
    pass


Message = (
    TurnRequested
    | InputProvided
    | TurnAwaited
    | CancelRequested
    | CallerGone
    | InputRequested
    | InputWithdrawn
    | TurnFinished
    | ThreadReturned
    | CloseRequested
)


Asking = TurnRequested | InputProvided | TurnAwaited | CancelRequested
"""The messages that somebody waits for the answer of."""


# --- effects -----------------------------------------------------------------------------------------------


@attrs.frozen
class StartTurn:
    request: TurnRequested


@attrs.frozen
class ResumeTurn:
    turn_id: str
    answers: Mapping[str, Answer]


@attrs.frozen
class CancelTurn:
    turn_id: str
    reason: GreenroomError


@attrs.frozen
class CommitTurn:
    """Make the outcome durable. Always stands before the `Tell` that lets a client see it."""

    turn_id: str
    outcome: Outcome


@attrs.frozen
class Tell:
    asker: Asker
    heard: Heard


@attrs.frozen
class Recall:
    """Tell the asker how an earlier turn ended, if that is still known."""

    asker: Asker
    turn_id: str


Effect = StartTurn | ResumeTurn | CancelTurn | CommitTurn | Tell | Recall

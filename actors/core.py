"""The session core: `step(session, message) -> (session, effects)`. No Trio, no clock, no I/O.

Rules of this file:

* One turn at a time. A second one is refused, and told which turn is in the way. The same one again (the
  same id, from a caller that repeats itself) joins it; it is never run twice.
* Every asker is told something, exactly once. A message that comes late or makes no sense in its phase is
  normal; if somebody waits for its answer, they are refused rather than forgotten.
* A turn that somebody has seen the end of was committed first: `CommitTurn` stands before `Tell`.
* A turn belongs to those who wait for it: it goes when the last of them leaves, not when one of them does.
* A turn that was cancelled still occupies the session until it has really stopped, and so does a thread that
  outlived its turn. Two pieces of workflow code never run side by side in one session.

Every pair of phase and message that means something is a row of `TABLE`; `_refuse` is the row for the rest.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from greenroom.actors.messages import (
    Asker,
    CallerGone,
    CancelRequested,
    CancelTurn,
    CloseRequested,
    CommitTurn,
    Effect,
    Failed,
    InputProvided,
    InputRequested,
    InputRequired,
    InputWithdrawn,
    Message,
    Recall,
    ResumeTurn,
    StartTurn,
    Tell,
    ThreadReturned,
    TurnAwaited,
    TurnFinished,
    TurnRequested,
)
from greenroom.config.errors import (
    GreenroomError,
    LateAnswer,
    SessionNotFound,
    TurnCancelled,
    TurnInProgress,
    TurnStopping,
    UnansweredQuestion,
)
from greenroom.workflow.questions import Answer, Question, accepts

MAX_ROUNDS = 8
"""How often one question may be put again after an unusable answer. A client that answers without a human
could otherwise go round for ever."""


class Phase(enum.Enum):
    IDLE = "idle"
    RUNNING = "running"
    AWAITING_INPUT = "awaiting_input"
    STOPPING = "stopping"
    """The turn is over, its thread is not."""
    CLOSING = "closing"
    CLOSED = "closed"


@attrs.frozen
class Session:
    phase: Phase = Phase.IDLE
    turn_id: str = ""
    waiting: tuple[Asker, ...] = ()
    questions: Mapping[str, Question] = attrs.field(factory=dict)
    answers: Mapping[str, Answer] = attrs.field(factory=dict)
    rounds: int = 0
    stopping: bool = False
    """The turn has been told to stop; nothing that it still asks is passed on."""


IDLE = Session()
CLOSED = Session(Phase.CLOSED)

Step = tuple[Session, list[Effect]]


def step(session: Session, message: Message) -> Step:
    row = TABLE.get((session.phase, type(message)), _refuse)
    return row(session, message)


# --- the rows ----------------------------------------------------------------------------------------------


def _start(session: Session, message: TurnRequested) -> Step:
    running = Session(Phase.RUNNING, message.turn_id, (message.asker,))
    return running, [StartTurn(message)]


def _finish(session: Session, message: TurnFinished) -> Step:
    if message.turn_id != session.turn_id:
        return session, []
    told: list[Effect] = [Tell(asker, message.outcome) for asker in session.waiting]
    after = Session(Phase.STOPPING, session.turn_id) if message.thread_busy else IDLE
    return after, [CommitTurn(message.turn_id, message.outcome), *told]


def _finish_and_close(session: Session, message: TurnFinished) -> Step:
    _, effects = _finish(session, message)
    return (CLOSED, effects) if effects else (session, [])


def _question(session: Session, message: InputRequested) -> Step:
    if message.turn_id != session.turn_id or session.stopping:
        return session, []
    asked = attrs.evolve(
        session, phase=Phase.AWAITING_INPUT, waiting=(), questions=message.questions, answers={}, rounds=0
    )
    required = InputRequired(message.turn_id, message.questions)
    return asked, [Tell(asker, required) for asker in session.waiting]


def _answer(session: Session, message: InputProvided) -> Step:
    if message.turn_id != session.turn_id:
        return session, [Tell(message.asker, Failed(LateAnswer(message.turn_id)))]
    usable = {
        key: message.answers[key]
        for key, question in session.questions.items()
        if accepts(question, message.answers.get(key))
    }
    answers = {**session.answers, **usable}
    missing = {key: question for key, question in session.questions.items() if key not in answers}
    if not missing:
        return Session(Phase.RUNNING, session.turn_id, (message.asker,)), [ResumeTurn(session.turn_id, answers)]
    if session.rounds + 1 >= MAX_ROUNDS:
        given_up = attrs.evolve(session, phase=Phase.RUNNING, waiting=(*session.waiting, message.asker), stopping=True)
        return given_up, [CancelTurn(session.turn_id, UnansweredQuestion(session.turn_id))]
    again = attrs.evolve(session, answers=answers, rounds=session.rounds + 1)
    return again, [Tell(message.asker, InputRequired(session.turn_id, missing))]


def _join_or_refuse(session: Session, message: TurnRequested) -> Step:
    return _await(session, message) if message.turn_id == session.turn_id else _refuse(session, message)


def _recall(session: Session, message: TurnAwaited | CancelRequested | TurnRequested) -> Step:
    return session, [Recall(message.asker, message.turn_id)]


def _await(session: Session, message: TurnAwaited | TurnRequested) -> Step:
    if message.turn_id != session.turn_id:
        return _recall(session, message)
    if session.phase is Phase.AWAITING_INPUT:
        missing = {key: question for key, question in session.questions.items() if key not in session.answers}
        return session, [Tell(message.asker, InputRequired(session.turn_id, missing))]
    return attrs.evolve(session, waiting=(*session.waiting, message.asker)), []


def _cancel(session: Session, message: CancelRequested) -> Step:
    if message.turn_id != session.turn_id:
        return _recall(session, message)
    waiting = (*session.waiting, message.asker)
    stopping = attrs.evolve(session, phase=Phase.RUNNING, waiting=waiting, stopping=True)
    return stopping, [CancelTurn(session.turn_id, TurnCancelled(session.turn_id))]


def _caller_gone(session: Session, message: CallerGone) -> Step:
    if message.turn_id != session.turn_id:
        return session, []
    left = attrs.evolve(session, waiting=tuple(asker for asker in session.waiting if asker is not message.asker))
    if not message.cancels or left.waiting:
        return left, []
    return attrs.evolve(left, stopping=True), [CancelTurn(session.turn_id, TurnCancelled(session.turn_id))]


def _withdraw(session: Session, message: InputWithdrawn) -> Step:
    if message.turn_id != session.turn_id:
        return session, []
    return attrs.evolve(session, phase=Phase.RUNNING, questions={}, answers={}), []


def _thread_back(session: Session, message: ThreadReturned) -> Step:
    return (IDLE, []) if message.turn_id == session.turn_id else (session, [])


def _close_at_once(session: Session, message: CloseRequested) -> Step:
    return CLOSED, []


def _close_after_turn(session: Session, message: CloseRequested) -> Step:
    cancel = CancelTurn(session.turn_id, TurnCancelled(session.turn_id))
    return attrs.evolve(session, phase=Phase.CLOSING), [cancel]


def _refuse(session: Session, message: Any) -> Step:
    """The row for every pair that is not in the table: no change, and whoever asked is told why not."""
    asker = getattr(message, "asker", None)
    if asker is None or isinstance(message, CallerGone):
        return session, []
    return session, [Tell(asker, Failed(_reason(session, message)))]


def _reason(session: Session, message: Message) -> GreenroomError:
    match session.phase, message:
        case ((Phase.CLOSING | Phase.CLOSED), _):
            return SessionNotFound()
        case _, InputProvided(turn_id=turn_id):
            return LateAnswer(turn_id)
        case Phase.STOPPING, _:
            return TurnStopping(session.turn_id)
        case phase, _:
            return TurnInProgress(session.turn_id, awaiting_input=phase is Phase.AWAITING_INPUT)


TABLE: Mapping[tuple[Phase, type], Callable[[Session, Any], Step]] = {
    (Phase.IDLE, TurnRequested): _start,
    (Phase.IDLE, TurnAwaited): _recall,
    (Phase.IDLE, CancelRequested): _recall,
    (Phase.IDLE, CloseRequested): _close_at_once,
    (Phase.RUNNING, TurnRequested): _join_or_refuse,
    (Phase.RUNNING, TurnFinished): _finish,
    (Phase.RUNNING, InputRequested): _question,
    (Phase.RUNNING, TurnAwaited): _await,
    (Phase.RUNNING, CancelRequested): _cancel,
    (Phase.RUNNING, CallerGone): _caller_gone,
    (Phase.RUNNING, CloseRequested): _close_after_turn,
    (Phase.AWAITING_INPUT, TurnRequested): _join_or_refuse,
    (Phase.AWAITING_INPUT, InputProvided): _answer,
    (Phase.AWAITING_INPUT, InputWithdrawn): _withdraw,
    (Phase.AWAITING_INPUT, TurnFinished): _finish,
    (Phase.AWAITING_INPUT, TurnAwaited): _await,
    (Phase.AWAITING_INPUT, CancelRequested): _cancel,
    (Phase.AWAITING_INPUT, CallerGone): _caller_gone,
    (Phase.AWAITING_INPUT, CloseRequested): _close_after_turn,
    (Phase.STOPPING, ThreadReturned): _thread_back,
    (Phase.STOPPING, TurnAwaited): _recall,
    (Phase.STOPPING, CancelRequested): _recall,
    (Phase.STOPPING, CloseRequested): _close_at_once,
    (Phase.CLOSING, TurnFinished): _finish_and_close,
}

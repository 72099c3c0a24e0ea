"""The session core: every row of its table, and what holds for any history whatsoever."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections import Counter
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.actors import core, messages
from greenroom.actors.core import CLOSED, IDLE, MAX_ROUNDS, Phase, Session, step
from greenroom.actors.messages import (
    CallerGone,
    CancelRequested,
    CancelTurn,
    CloseRequested,
    CommitTurn,
    Effect,
    Failed,
    Finished,
    InputProvided,
    InputRequested,
    InputRequired,
    InputWithdrawn,
    Message,
    Outcome,
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
    InternalFault,
    LateAnswer,
    SessionNotFound,
    TurnCancelled,
    TurnInProgress,
    TurnStopping,
    UnansweredQuestion,
)
from greenroom.workflow.port import Caller
from greenroom.workflow.values import CallTool
from tests.actors.stage import AGE, ALICE, DONE, FORTY, NAME, NAMELESS

FINISHED = Finished(DONE)
FAILED = Failed(InternalFault("t1"))
BOTH = {"name": NAME, "age": AGE}

RUNNING = Session(Phase.RUNNING, "t1", ("anna",))
AWAITING = Session(Phase.AWAITING_INPUT, "t1", (), BOTH)
HALF_ANSWERED = attrs.evolve(AWAITING, answers={"name": ALICE}, rounds=1)
LAST_ROUND = attrs.evolve(AWAITING, rounds=MAX_ROUNDS - 1)
STOPPING = Session(Phase.STOPPING, "t1")
CLOSING = Session(Phase.CLOSING, "t1", ("anna",))


def requested(turn_id: str = "t2", asker: str = "bert") -> TurnRequested:
    return TurnRequested(turn_id, CallTool("x"), Caller("u"), asker, 60.0)


def refused(error: GreenroomError) -> list[Effect]:
    return [Tell("bert", Failed(error))]


def stop(reason: GreenroomError) -> list[Effect]:
    return [CancelTurn("t1", reason)]


def waits_too(session: Session) -> Session:
    return attrs.evolve(session, phase=Phase.RUNNING, waiting=(*session.waiting, "bert"))


def stops(session: Session) -> Session:
    return attrs.evolve(session, stopping=True)


Row = tuple[Session, Message, Session, list[Effect]]

ROWS: list[Row] = [
    # Idle: a turn may begin, and earlier ones may be asked for.
    (IDLE, requested(), Session(Phase.RUNNING, "t2", ("bert",)), [StartTurn(requested())]),
    (IDLE, InputProvided("t1", {"name": ALICE}, "bert"), IDLE, refused(LateAnswer("t1"))),
    (IDLE, TurnAwaited("t1", "bert"), IDLE, [Recall("bert", "t1")]),
    (IDLE, CancelRequested("t1", "bert"), IDLE, [Recall("bert", "t1")]),
    (IDLE, CallerGone("t1", "bert", True), IDLE, []),
    (IDLE, InputRequested("t1", BOTH), IDLE, []),
    (IDLE, TurnFinished("t1", FINISHED), IDLE, []),
    (IDLE, ThreadReturned("t1"), IDLE, []),
    (IDLE, CloseRequested(), CLOSED, []),
    # Running.
    (RUNNING, requested(), RUNNING, refused(TurnInProgress("t1"))),
    (RUNNING, requested("t1"), waits_too(RUNNING), []),
    (RUNNING, InputProvided("t1", {"name": ALICE}, "bert"), RUNNING, refused(LateAnswer("t1"))),
    (RUNNING, TurnAwaited("t1", "bert"), waits_too(RUNNING), []),
    (RUNNING, TurnAwaited("t0", "bert"), RUNNING, [Recall("bert", "t0")]),
    (RUNNING, CancelRequested("t1", "bert"), stops(waits_too(RUNNING)), stop(TurnCancelled("t1"))),
    (RUNNING, CancelRequested("t0", "bert"), RUNNING, [Recall("bert", "t0")]),
    (RUNNING, CallerGone("t1", "anna", False), attrs.evolve(RUNNING, waiting=()), []),
    (RUNNING, CallerGone("t1", "anna", True), stops(attrs.evolve(RUNNING, waiting=())), stop(TurnCancelled("t1"))),
    (waits_too(RUNNING), CallerGone("t1", "bert", True), RUNNING, []),
    (stops(RUNNING), InputRequested("t1", BOTH), stops(RUNNING), []),
    (RUNNING, InputWithdrawn("t1"), RUNNING, []),
    (RUNNING, CallerGone("t1", "bert", False), RUNNING, []),
    (RUNNING, CallerGone("t0", "anna", True), RUNNING, []),
    (RUNNING, InputRequested("t1", BOTH), AWAITING, [Tell("anna", InputRequired("t1", BOTH))]),
    (RUNNING, InputRequested("t0", BOTH), RUNNING, []),
    (RUNNING, TurnFinished("t1", FINISHED), IDLE, [CommitTurn("t1", FINISHED), Tell("anna", FINISHED)]),
    (RUNNING, TurnFinished("t1", FAILED), IDLE, [CommitTurn("t1", FAILED), Tell("anna", FAILED)]),
    (
        RUNNING,
        TurnFinished("t1", FAILED, thread_busy=True),
        STOPPING,
        [CommitTurn("t1", FAILED), Tell("anna", FAILED)],
    ),
    (
        waits_too(RUNNING),
        TurnFinished("t1", FINISHED),
        IDLE,
        [CommitTurn("t1", FINISHED), Tell("anna", FINISHED), Tell("bert", FINISHED)],
    ),
    (RUNNING, TurnFinished("t0", FINISHED), RUNNING, []),
    (RUNNING, ThreadReturned("t1"), RUNNING, []),
    (RUNNING, CloseRequested(), CLOSING, stop(TurnCancelled("t1"))),
    # Awaiting input: the turn is parked, nobody waits for it, everybody who asks is given the questions.
    (AWAITING, requested(), AWAITING, refused(TurnInProgress("t1", awaiting_input=True))),
    (AWAITING, requested("t1"), AWAITING, [Tell("bert", InputRequired("t1", BOTH))]),
    (
        AWAITING,
        InputProvided("t1", {"name": ALICE, "age": FORTY}, "bert"),
        Session(Phase.RUNNING, "t1", ("bert",)),
        [ResumeTurn("t1", {"name": ALICE, "age": FORTY})],
    ),
    (
        AWAITING,
        InputProvided("t1", {"name": ALICE, "age": NAMELESS, "more": FORTY}, "bert"),
        HALF_ANSWERED,
        [Tell("bert", InputRequired("t1", {"age": AGE}))],
    ),
    (
        HALF_ANSWERED,
        InputProvided("t1", {"age": FORTY}, "bert"),
        Session(Phase.RUNNING, "t1", ("bert",)),
        [ResumeTurn("t1", {"name": ALICE, "age": FORTY})],
    ),
    (
        AWAITING,
        InputProvided("t1", {}, "bert"),
        attrs.evolve(AWAITING, rounds=1),
        [Tell("bert", InputRequired("t1", BOTH))],
    ),
    (
        LAST_ROUND,
        InputProvided("t1", {"name": NAMELESS}, "bert"),
        stops(waits_too(LAST_ROUND)),
        stop(UnansweredQuestion("t1")),
    ),
    (AWAITING, InputProvided("t0", {"name": ALICE}, "bert"), AWAITING, refused(LateAnswer("t0"))),
    (AWAITING, TurnAwaited("t1", "bert"), AWAITING, [Tell("bert", InputRequired("t1", BOTH))]),
    (HALF_ANSWERED, TurnAwaited("t1", "bert"), HALF_ANSWERED, [Tell("bert", InputRequired("t1", {"age": AGE}))]),
    (AWAITING, TurnAwaited("t0", "bert"), AWAITING, [Recall("bert", "t0")]),
    (AWAITING, CancelRequested("t1", "bert"), stops(waits_too(AWAITING)), stop(TurnCancelled("t1"))),
    (AWAITING, CancelRequested("t0", "bert"), AWAITING, [Recall("bert", "t0")]),
    (AWAITING, CallerGone("t1", "anna", False), AWAITING, []),
    (AWAITING, CallerGone("t1", "anna", True), stops(AWAITING), stop(TurnCancelled("t1"))),
    (HALF_ANSWERED, InputWithdrawn("t1"), Session(Phase.RUNNING, "t1", rounds=1), []),
    (AWAITING, InputWithdrawn("t0"), AWAITING, []),
    (IDLE, InputWithdrawn("t1"), IDLE, []),
    (STOPPING, InputWithdrawn("t1"), STOPPING, []),
    (CLOSING, InputWithdrawn("t1"), CLOSING, []),
    (CLOSED, InputWithdrawn("t1"), CLOSED, []),
    (AWAITING, CallerGone("t0", "anna", True), AWAITING, []),
    (AWAITING, InputRequested("t1", {"name": NAME}), AWAITING, []),
    (AWAITING, InputRequested("t0", BOTH), AWAITING, []),
    (AWAITING, TurnFinished("t1", FAILED), IDLE, [CommitTurn("t1", FAILED)]),
    (AWAITING, TurnFinished("t0", FAILED), AWAITING, []),
    (AWAITING, ThreadReturned("t1"), AWAITING, []),
    (AWAITING, CloseRequested(), attrs.evolve(AWAITING, phase=Phase.CLOSING), stop(TurnCancelled("t1"))),
    # Stopping: the turn is over and can be recalled, but its thread still holds the stage.
    (STOPPING, requested(), STOPPING, refused(TurnStopping("t1"))),
    (STOPPING, requested("t1"), STOPPING, refused(TurnStopping("t1"))),
    (STOPPING, InputProvided("t1", {"name": ALICE}, "bert"), STOPPING, refused(LateAnswer("t1"))),
    (STOPPING, TurnAwaited("t1", "bert"), STOPPING, [Recall("bert", "t1")]),
    (STOPPING, CancelRequested("t1", "bert"), STOPPING, [Recall("bert", "t1")]),
    (STOPPING, CallerGone("t1", "anna", True), STOPPING, []),
    (STOPPING, InputRequested("t1", BOTH), STOPPING, []),
    (STOPPING, TurnFinished("t1", FINISHED), STOPPING, []),
    (STOPPING, ThreadReturned("t1"), IDLE, []),
    (STOPPING, ThreadReturned("t0"), STOPPING, []),
    (STOPPING, CloseRequested(), CLOSED, []),
    # Closing: the last turn ends, then the session does.
    (CLOSING, requested(), CLOSING, refused(SessionNotFound())),
    (CLOSING, InputProvided("t1", {"name": ALICE}, "bert"), CLOSING, refused(SessionNotFound())),
    (CLOSING, TurnAwaited("t1", "bert"), CLOSING, refused(SessionNotFound())),
    (CLOSING, CancelRequested("t1", "bert"), CLOSING, refused(SessionNotFound())),
    (CLOSING, CallerGone("t1", "anna", True), CLOSING, []),
    (CLOSING, InputRequested("t1", BOTH), CLOSING, []),
    (CLOSING, TurnFinished("t1", FAILED), CLOSED, [CommitTurn("t1", FAILED), Tell("anna", FAILED)]),
    (
        CLOSING,
        TurnFinished("t1", FAILED, thread_busy=True),
        CLOSED,
        [CommitTurn("t1", FAILED), Tell("anna", FAILED)],
    ),
    (CLOSING, TurnFinished("t0", FAILED), CLOSING, []),
    (CLOSING, ThreadReturned("t1"), CLOSING, []),
    (CLOSING, CloseRequested(), CLOSING, []),
    # Closed.
    (CLOSED, requested(), CLOSED, refused(SessionNotFound())),
    (CLOSED, InputProvided("t1", {"name": ALICE}, "bert"), CLOSED, refused(SessionNotFound())),
    (CLOSED, TurnAwaited("t1", "bert"), CLOSED, refused(SessionNotFound())),
    (CLOSED, CancelRequested("t1", "bert"), CLOSED, refused(SessionNotFound())),
    (CLOSED, CallerGone("t1", "anna", True), CLOSED, []),
    (CLOSED, InputRequested("t1", BOTH), CLOSED, []),
    (CLOSED, TurnFinished("t1", FINISHED), CLOSED, []),
    (CLOSED, ThreadReturned("t1"), CLOSED, []),
    (CLOSED, CloseRequested(), CLOSED, []),
]


def comparable(value: Any) -> Any:
    """Errors have no equality of their own: compare what a client would see of them."""
    if isinstance(value, GreenroomError):
        return type(value), value.message, dict(value.data)
    if isinstance(value, Failed | CancelTurn | Tell | CommitTurn):
        return type(value), [comparable(getattr(value, field.name)) for field in attrs.fields(type(value))]
    return value


@pytest.mark.parametrize(
    ("before", "message", "after", "effects"),
    ROWS,
    ids=[f"{n}-{row[0].phase.value}-{type(row[1]).__name__}" for n, row in enumerate(ROWS)],
)
def test_a_message_in_a_phase_leads_to_the_next_phase_and_its_effects(
    before: Session, message: Message, after: Session, effects: list[Effect]
) -> None:
    session, done = step(before, message)
    assert session == after
    assert [comparable(effect) for effect in done] == [comparable(effect) for effect in effects]


def test_every_pair_of_a_phase_and_a_message_is_told_of_above() -> None:
    told = {(before.phase, type(message)) for before, message, _, _ in ROWS}
    possible = {(phase, kind) for phase in Phase for kind in get_args(Message)}
    assert possible - told == set()
    assert set(core.TABLE) <= told


def test_a_refusal_says_whether_the_turn_in_the_way_runs_or_waits_for_an_answer() -> None:
    [running], [awaiting] = step(RUNNING, requested())[1], step(AWAITING, requested())[1]
    assert isinstance(running, Tell)
    assert isinstance(awaiting, Tell)
    assert isinstance(running.heard, Failed)
    assert isinstance(awaiting.heard, Failed)
    assert "t1 is still running" in running.heard.error.message
    assert "t1 is waiting for an answer" in awaiting.heard.error.message


def test_a_question_is_put_at_most_so_often_and_then_the_turn_is_stopped() -> None:
    session: Session = AWAITING
    for _ in range(MAX_ROUNDS - 1):
        session, [effect] = step(session, InputProvided("t1", {}, "bert"))
        assert isinstance(effect, Tell)
    session, [effect] = step(session, InputProvided("t1", {}, "bert"))
    assert isinstance(effect, CancelTurn)
    assert isinstance(effect.reason, UnansweredQuestion)
    assert session.phase is Phase.RUNNING


def test_a_new_question_of_the_same_turn_starts_from_the_first_round() -> None:
    session, _ = step(HALF_ANSWERED, InputProvided("t1", {"age": FORTY}, "bert"))
    session, _ = step(session, InputRequested("t1", {"name": NAME}))
    assert (session.rounds, dict(session.answers)) == (0, {})


def test_whoever_stops_a_turn_hears_of_its_end_and_not_of_its_questions() -> None:
    cancelled, _ = step(RUNNING, CancelRequested("t1", "bert"))
    _, effects = step(cancelled, InputRequested("t1", BOTH))
    assert "bert" not in [effect.asker for effect in effects if isinstance(effect, Tell)]


# --- any history -------------------------------------------------------------------------------------------

TURNS = st.sampled_from([None, None, None, "t1", "t2"])
"""None is the turn that the session is busy with, or else t1: chance alone would seldom hit it."""
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from([FINISHED, FAILED])
ANSWERS = st.sampled_from([{}, {"name": ALICE}, {"name": NAMELESS}, {"age": FORTY}, {"name": ALICE, "age": FORTY}])

BEGINNING = st.tuples(st.just("request"), TURNS)
ASKING = st.tuples(st.just("ask"), TURNS)
HAPPENINGS = st.one_of(
    # More than once, so that histories do not idle.
    BEGINNING,
    BEGINNING,
    BEGINNING,
    ASKING,
    ASKING,
    st.tuples(st.just("provide"), TURNS, ANSWERS),
    st.tuples(st.just("await"), TURNS),
    st.tuples(st.just("cancel"), TURNS),
    st.tuples(st.just("gone"), TURNS, st.integers(0, 30), st.booleans()),
    st.tuples(st.just("finish"), TURNS, OUTCOMES, st.booleans()),
    st.tuples(st.just("thread"), TURNS),
)
HISTORIES = st.lists(HAPPENINGS, min_size=5, max_size=40)


class Witness:
    """Lives through a history, gives every asker a name of its own, and checks what must always hold."""

    def __init__(self) -> None:
        self.session: Session = IDLE
        self.asked: list[str] = []
        self.told: Counter[object] = Counter()
        self.gone: set[object] = set()
        self.running: str | None = None

    def live(self, what: str, turn: str | None = None, *details: Any) -> None:
        message = self._message((what, turn or self.session.turn_id or "t1", *details))
        before = self.session
        self.session, effects = step(before, message)
        self._check_effects(before, message, effects)
        self._check_askers()
        if before is CLOSED:
            assert self.session is CLOSED
        if self.session.phase in (Phase.IDLE, Phase.STOPPING, Phase.CLOSED):
            assert self.running is None
            assert self.session.waiting == ()
        else:
            assert self.running == self.session.turn_id

    def _message(self, happening: tuple[Any, ...]) -> Message:
        match happening:
            case ("request", turn):
                return requested(turn, self._asker())
            case ("provide", turn, answers):
                return InputProvided(turn, answers, self._asker())
            case ("await", turn):
                return TurnAwaited(turn, self._asker())
            case ("cancel", turn):
                return CancelRequested(turn, self._asker())
            case ("gone", turn, number, cancels):
                asker = f"asker-{number}"
                self.gone.add(asker)
                return CallerGone(turn, asker, cancels)
            case ("ask", turn):
                return InputRequested(turn, BOTH)
            case ("finish", turn, outcome, busy):
                return TurnFinished(turn, outcome, busy)
            case ("thread", turn):
                return ThreadReturned(turn)
        return CloseRequested()

    def _asker(self) -> str:
        # Nobody can have left before they came.
        while f"asker-{len(self.asked)}" in self.gone:
            self.asked.append("never")
        self.asked.append(f"asker-{len(self.asked)}")
        return self.asked[-1]

    def _check_effects(self, before: Session, message: Message, effects: list[Effect]) -> None:
        committed: list[Outcome] = []
        for effect in effects:
            match effect:
                case StartTurn(request):
                    assert before.phase is Phase.IDLE
                    assert self.running is None
                    self.running = request.turn_id
                case CommitTurn(turn_id, outcome):
                    assert self.running == turn_id
                    committed.append(outcome)
                    self.running = None
                case Tell(asker, heard):
                    self.told[asker] += 1
                    if isinstance(heard, Finished) or heard is FAILED:
                        assert heard in committed
                case Recall(asker, _):
                    self.told[asker] += 1
                case ResumeTurn(turn_id) | CancelTurn(turn_id):
                    assert self.running == turn_id

    def _check_askers(self) -> None:
        waiting = self.session.waiting
        assert len(set(waiting)) == len(waiting)
        assert all(count == 1 for count in self.told.values())
        assert not set(waiting) & set(self.told)
        forgotten = {*self.asked} - {"never"} - set(waiting) - set(self.told)
        assert forgotten <= self.gone


@settings(max_examples=300)
@given(HISTORIES, HISTORIES)
def test_in_any_history_everybody_is_told_once_and_no_two_turns_run(
    history: list[tuple[Any, ...]], after_closing: list[tuple[Any, ...]]
) -> None:
    witness = Witness()
    for happening in [*history, ("close",), *after_closing]:
        witness.live(*happening)


@settings(max_examples=300)
@given(HISTORIES)
def test_whatever_happened_a_session_that_is_closed_and_whose_turn_ends_has_told_everybody(
    history: list[tuple[Any, ...]],
) -> None:
    witness = Witness()
    for happening in history:
        witness.live(*happening)
    witness.live("close")
    if witness.running is not None:
        witness.live("finish", witness.running, FINISHED, False)
    assert witness.session is CLOSED
    assert {*witness.asked} - {"never"} - set(witness.told) <= witness.gone


# --- purity ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [core, messages], ids=["core", "messages"])
def test_the_core_imports_values_and_nothing_that_waits(module: Any) -> None:
    imported = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert imported <= {
        "__future__",
        "attrs",
        "collections.abc",
        "enum",
        "typing",
        "greenroom.actors.messages",
        "greenroom.config.errors",
        "greenroom.workflow.port",
        "greenroom.workflow.questions",
        "greenroom.workflow.values",
    }


def test_the_core_can_be_had_without_trio_or_a_server() -> None:
    program = (
        "import sys, greenroom.actors.core; print(sorted({'trio', 'quart', 'hypercorn', 'mcp'} & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"

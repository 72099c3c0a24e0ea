"""A running turn by itself: its questions, its clock and its end, with lists in the place of an actor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.actors.messages import InputRequested, InputWithdrawn, Message, TurnRequested
from greenroom.actors.threads import Crew
from greenroom.actors.turn import RunningTurn
from greenroom.config.errors import MissingClientCapability, TurnCancelled, UnansweredQuestion
from greenroom.workflow.events import Change, Progress, ToolsChanged, TurnEvent
from greenroom.workflow.port import Caller, Turn
from greenroom.workflow.questions import (
    Ability,
    Answer,
    Answers,
    Elicit,
    Elicited,
    ListRoots,
    Questions,
    Root,
    Roots,
    Sample,
    Sampled,
)
from greenroom.workflow.values import CallTool
from tests.actors.stage import AGE, ALICE, EVERYTHING, FORTY, NAME, NAMELESS


@attrs.define
class Actor:
    """What a turn needs of its actor: it remembers what it was told."""

    told: list[Message] = attrs.field(factory=list)
    published: list[TurnEvent] = attrs.field(factory=list)
    announced: list[Change] = attrs.field(factory=list)

    def hear(self, message: Message) -> None:
        self.told.append(message)

    def turn(
        self,
        *,
        timeout: float = 60.0,
        input_timeout: float = 600.0,
        answers: Mapping[str, Answer] | None = None,
        abilities: frozenset[Ability] = EVERYTHING,
    ) -> RunningTurn:
        request = TurnRequested("t1", CallTool("x"), Caller("anna", abilities), object(), timeout, answers or {})
        return RunningTurn(
            request,
            Crew(trio.CapacityLimiter(1)),
            input_timeout=input_timeout,
            tell=self.hear,
            publish=self.published.append,
            announce=self.announced.append,
        )


@pytest.fixture
def actor() -> Actor:
    return Actor()


class Asking:
    """One `turn.ask` in a task of its own, and what it came to."""

    def __init__(self, turn: RunningTurn, questions: Questions) -> None:
        self.turn, self.questions = turn, questions
        self.answers: Answers | None = None
        self.ended = trio.Event()

    async def __call__(self) -> None:
        with self.turn.scope:
            self.answers = await self.turn.ask(self.questions)
        self.ended.set()


async def begin(nursery: trio.Nursery, turn: RunningTurn, **questions: Elicit) -> Asking:
    asking = Asking(turn, questions)
    nursery.start_soon(asking)
    await wait_all_tasks_blocked()
    return asking


async def test_it_is_what_the_workflow_port_calls_a_turn(actor: Actor) -> None:
    turn: Turn = actor.turn()
    assert turn.id == "t1"
    assert turn.caller == Caller("anna", EVERYTHING)


async def test_reports_and_announcements_go_out_at_once(actor: Actor) -> None:
    turn = actor.turn()
    turn.report(Progress(1))
    turn.announce(ToolsChanged())
    assert actor.published == [Progress(1)]
    assert actor.announced == [ToolsChanged()]


async def test_blocking_code_runs_in_the_crew_of_the_turn(actor: Actor) -> None:
    turn = actor.turn()
    assert await turn.run_blocking(sum, [1, 2]) == 3
    assert not turn.crew.busy


async def test_its_deadline_counts_from_its_beginning(actor: Actor, autojump_clock: MockClock) -> None:
    turn = actor.turn(timeout=5)
    began = trio.current_time()
    with turn.scope:
        await trio.sleep_forever()
    assert trio.current_time() - began == 5
    assert turn.stop_reason is None


async def test_a_question_is_told_to_the_actor_and_waits_for_its_answers(actor: Actor, nursery: trio.Nursery) -> None:
    turn = actor.turn()
    asking = await begin(nursery, turn, name=NAME, age=AGE)
    assert actor.told == [InputRequested("t1", {"name": NAME, "age": AGE})]
    assert asking.answers is None
    turn.resume({"name": ALICE, "age": FORTY})
    await asking.ended.wait()
    assert asking.answers == {"name": ALICE, "age": FORTY}


async def test_the_clock_stands_still_while_a_human_thinks(
    actor: Actor, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    turn = actor.turn(timeout=10)
    await trio.sleep(4)
    asking = await begin(nursery, turn, name=NAME)
    await trio.sleep(500)
    turn.resume({"name": ALICE})
    await asking.ended.wait()
    assert asking.answers == {"name": ALICE}
    assert turn.scope.deadline == trio.current_time() + 6


async def test_a_question_that_nobody_answers_stops_the_turn_after_the_time_for_input(
    actor: Actor, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    turn = actor.turn(timeout=10, input_timeout=30)
    began = trio.current_time()
    asking = await begin(nursery, turn, name=NAME)
    await asking.ended.wait()
    assert trio.current_time() - began == 30
    assert turn.scope.cancelled_caught
    assert isinstance(turn.stop_reason, UnansweredQuestion)
    assert turn.stop_reason.data == {"turn_id": "t1"}


async def test_a_turn_that_is_stopped_while_it_asks_keeps_the_reason_it_was_given(
    actor: Actor, nursery: trio.Nursery
) -> None:
    turn = actor.turn()
    asking = await begin(nursery, turn, name=NAME)
    turn.stop(TurnCancelled("t1"))
    await asking.ended.wait()
    assert isinstance(turn.stop_reason, TurnCancelled)


async def test_the_first_reason_for_stopping_counts(actor: Actor) -> None:
    turn = actor.turn()
    turn.stop(UnansweredQuestion("t1"))
    turn.stop(TurnCancelled("t1"))
    assert isinstance(turn.stop_reason, UnansweredQuestion)
    assert turn.scope.cancel_called


async def test_answers_that_came_along_spare_the_client_the_question(actor: Actor) -> None:
    turn = actor.turn(answers={"name": ALICE, "other": FORTY})
    assert await turn.ask({"name": NAME}) == {"name": ALICE}
    assert actor.told == []


async def test_of_the_answers_that_came_along_only_the_usable_ones_count(actor: Actor, nursery: trio.Nursery) -> None:
    turn = actor.turn(answers={"name": NAMELESS, "age": FORTY})
    asking = await begin(nursery, turn, name=NAME, age=AGE)
    assert actor.told == [InputRequested("t1", {"name": NAME})]
    turn.resume({"name": ALICE})
    await asking.ended.wait()
    assert asking.answers == {"name": ALICE, "age": FORTY}


async def test_answers_at_hand_still_let_others_have_a_go(actor: Actor) -> None:
    turn = actor.turn(answers={"name": ALICE})
    with trio.testing.assert_checkpoints():
        await turn.ask({"name": NAME})


async def test_a_client_is_never_asked_what_it_cannot_do(actor: Actor) -> None:
    turn = actor.turn(abilities=frozenset({Ability.SAMPLE}))
    with pytest.raises(MissingClientCapability) as caught:
        await turn.ask({"a": NAME, "b": Sample("Rhyme?", 10), "c": ListRoots(), "d": AGE})
    assert caught.value.capabilities == ("elicitation", "roots")
    assert actor.told == []


ANSWERED: list[tuple[Callable[[], Questions], Answer]] = [
    (lambda: {"q": NAME}, ALICE),
    (lambda: {"q": NAME}, Elicited("decline")),
    (lambda: {"q": NAME}, Elicited("cancel")),
    (lambda: {"q": Sample("Rhyme?", 10)}, Sampled("time")),
    (lambda: {"q": ListRoots()}, Roots([Root("file:///tmp")])),
]


@pytest.mark.parametrize(("questions", "given"), ANSWERED)
async def test_every_kind_of_question_takes_an_answer_of_its_kind(
    actor: Actor, questions: Callable[[], Questions], given: Answer
) -> None:
    assert await actor.turn(answers={"q": given}).ask(questions()) == {"q": given}


async def test_resuming_a_turn_that_asks_nothing_is_harmless(actor: Actor) -> None:
    actor.turn().resume({"name": ALICE})


async def test_an_answer_is_not_taken_for_another_question_of_the_same_name(
    actor: Actor, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    sure = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    turn = actor.turn()
    asking = await begin(nursery, turn, sure=Elicit("Delete the draft?", sure))
    turn.resume({"sure": Elicited("accept", {"sure": True})})
    await asking.ended.wait()
    with trio.move_on_after(0.1):
        await turn.ask({"sure": Elicit("Delete the archive too?", sure)})
    assert [type(message) for message in actor.told] == [InputRequested, InputRequested, InputWithdrawn]


async def test_answers_that_came_along_are_still_at_hand_after_a_question(
    actor: Actor, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    turn = actor.turn(answers={"age": FORTY})
    asking = await begin(nursery, turn, name=NAME)
    turn.resume({"name": ALICE})
    await asking.ended.wait()
    with trio.move_on_after(0.1):
        await turn.ask({"age": AGE})
    assert actor.told == [InputRequested("t1", {"name": NAME})]


async def test_a_workflow_may_give_up_on_its_own_question_and_go_on_under_the_old_clock(
    actor: Actor, autojump_clock: MockClock
) -> None:
    turn = actor.turn(timeout=10)
    with turn.scope:
        with trio.move_on_after(5):
            await turn.ask({"name": NAME})
        gave_up = trio.current_time()
        await trio.sleep_forever()
    assert trio.current_time() - gave_up == 10
    assert turn.stop_reason is None

"""A turn that asks: parked, answered, asked again, given up."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.actors.core import MAX_ROUNDS
from greenroom.actors.messages import Finished
from greenroom.actors.reply import Reply
from greenroom.config.errors import (
    InternalFault,
    LateAnswer,
    MissingClientCapability,
    TurnCancelled,
    TurnTimedOut,
    UnansweredQuestion,
)
from greenroom.workflow.port import Turn
from greenroom.workflow.questions import Elicit, Elicited
from greenroom.workflow.values import (
    ToolResult,
)
from tests.actors.stage import (
    AGE,
    ALICE,
    DONE,
    FORTY,
    NAME,
    NAMELESS,
    OpenSession,
    answer,
    error_of,
    for_ever,
    join,
    play,
    questions_of,
    result_of,
)


async def test_a_question_parks_the_turn_until_it_is_answered(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    assert questions_of(await play(actor, "asks").wait()) == {"name"}
    assert actor.parked
    assert result_of(await answer(actor, name=ALICE).wait()) == "accept Alice"
    assert not actor.parked


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_human_may_decline_or_dismiss_a_question(
    open_session: OpenSession, autojump_clock: MockClock, action: str
) -> None:
    actor = await open_session()
    await play(actor, "asks").wait()
    assert result_of(await answer(actor, name=Elicited(action)).wait()) == action


async def test_the_clock_of_a_turn_stands_still_while_it_is_parked(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def asks_in_the_middle(turn: Turn) -> ToolResult:
        await trio.sleep(4)
        await turn.ask({"name": NAME})
        await trio.sleep(5)
        await turn.ask({"age": AGE})
        return await for_ever(turn)

    actor = await open_session(asks_in_the_middle=asks_in_the_middle)
    await play(actor, "asks_in_the_middle", timeout=10).wait()
    await trio.sleep(100)
    assert questions_of(await answer(actor, name=ALICE).wait()) == {"age"}
    assert trio.current_time() == 109
    await trio.sleep(100)
    error = error_of(await answer(actor, age=FORTY).wait())
    assert isinstance(error, TurnTimedOut)
    assert trio.current_time() == 210


async def test_a_question_that_nobody_answers_in_time_ends_the_turn_and_frees_the_session(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(input_timeout=30)
    await play(actor, "asks", timeout=5).wait()
    await trio.sleep(29)
    assert actor.parked
    await trio.sleep(1)
    await wait_all_tasks_blocked()
    assert actor.idle
    assert isinstance(error_of(await join(actor).wait()), UnansweredQuestion)
    late = error_of(await answer(actor, name=ALICE).wait())
    assert isinstance(late, LateAnswer)
    assert late.data == {"turn_id": "turn-1"}


async def test_whoever_joins_a_parked_turn_is_given_the_questions(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    await play(actor, "asks").wait()
    assert questions_of(await join(actor).wait()) == {"name"}


async def test_a_wrong_answer_is_asked_again_and_at_most_so_often(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    await play(actor, "asks").wait()
    for _ in range(MAX_ROUNDS - 1):
        assert questions_of(await answer(actor, name=NAMELESS).wait()) == {"name"}
    assert isinstance(error_of(await answer(actor, name=NAMELESS).wait()), UnansweredQuestion)
    assert actor.idle


async def test_right_answers_are_kept_while_the_others_are_asked_again(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def asks_two(turn: Turn) -> ToolResult:
        answers = await turn.ask({"name": NAME, "age": AGE})
        assert answers == {"name": ALICE, "age": FORTY}
        return DONE

    actor = await open_session(asks_two=asks_two)
    assert questions_of(await play(actor, "asks_two").wait()) == {"name", "age"}
    assert questions_of(await answer(actor, name=ALICE, age=NAMELESS).wait()) == {"age"}
    assert await answer(actor, age=FORTY).wait() == Finished(DONE)


async def test_answers_that_come_along_with_the_order_are_used_without_asking(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    assert result_of(await play(actor, "asks", answers={"name": ALICE}).wait()) == "accept Alice"


async def test_an_unusable_answer_that_came_along_is_asked_for(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    assert questions_of(await play(actor, "asks", answers={"name": NAMELESS}).wait()) == {"name"}


async def test_an_answer_to_another_turn_or_to_no_question_is_late(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    assert isinstance(error_of(await answer(actor, name=ALICE).wait()), LateAnswer)
    await play(actor, "asks").wait()
    assert isinstance(error_of(await answer(actor, "turn-0", name=ALICE).wait()), LateAnswer)
    assert actor.parked


async def test_a_client_that_cannot_be_asked_fails_the_turn(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    error = error_of(await play(actor, "asks", abilities=frozenset()).wait())
    assert isinstance(error, MissingClientCapability)
    assert error.capabilities == ("elicitation",)


async def test_a_parked_turn_whose_caller_leaves_for_good_is_stopped(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    await play(actor, "asks").wait()
    actor.leave("turn-1", Reply(), cancels=True)
    await wait_all_tasks_blocked()
    assert actor.idle
    assert isinstance(error_of(await join(actor).wait()), TurnCancelled)


async def test_a_question_with_a_faulty_schema_fails_its_turn_and_not_the_session(
    open_session: OpenSession, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def asks_badly(turn: Turn) -> ToolResult:
        await turn.ask({"name": Elicit("Your name?", {"type": "strnig"})})
        return DONE

    actor = await open_session(asks_badly=asks_badly)
    heard = await play(actor, "asks_badly").wait()
    if not isinstance(heard, Finished) and not hasattr(heard, "error"):
        heard = await answer(actor, name=ALICE).wait()
    assert isinstance(error_of(heard), InternalFault)
    assert await play(actor, "at_once", "turn-2").wait() == Finished(DONE)


async def test_questions_asked_side_by_side_are_all_put_and_answered(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def asks_side_by_side(turn: Turn) -> ToolResult:
        async with trio.open_nursery() as asking:
            asking.start_soon(turn.ask, {"name": NAME})
            asking.start_soon(turn.ask, {"age": AGE})
        return DONE

    actor = await open_session(asks_side_by_side=asks_side_by_side)
    heard = await play(actor, "asks_side_by_side").wait()
    for _ in range(2):
        if not isinstance(heard, Finished):
            questions_of(heard)
            heard = await answer(actor, name=ALICE, age=FORTY).wait()
    assert heard == Finished(DONE)

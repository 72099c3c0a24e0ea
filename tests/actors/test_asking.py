"""Asking a session from outside: turns that outlive their call, ways to leave, events on the way."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.actors.asking import EVENTS_KEPT, ask, new_turn_id
from greenroom.actors.messages import Finished, Heard, TurnAwaited
from greenroom.config.errors import (
    TurnCancelled,
    TurnInProgress,
    TurnNotFound,
)
from greenroom.persistence.journal import MemoryJournal
from greenroom.workflow.events import EventsDropped, Progress, TurnEvent
from greenroom.workflow.port import Turn
from greenroom.workflow.values import (
    ToolResult,
)
from tests.actors.stage import (
    ANNA,
    DONE,
    OpenSession,
    cancel,
    error_of,
    for_ever,
    for_ten_seconds,
    join,
    open_house,
    play,
    questions_of,
    request,
)

# --- turns that outlive their call -------------------------------------------------------------------------


async def test_a_turn_goes_on_without_an_impatient_caller_and_can_be_joined_and_recalled(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    began = trio.current_time()
    assert await ask(actor, request("turn-1", "slow"), patience=3, cancels=True) is None
    assert trio.current_time() - began == 3
    assert await join(actor).wait() == Finished(DONE)
    assert trio.current_time() - began == 10
    assert await join(actor).wait() == Finished(DONE)


async def test_all_who_joined_a_turn_hear_of_its_end(open_session: OpenSession, autojump_clock: MockClock) -> None:
    actor = await open_session(slow=for_ten_seconds)
    replies = [play(actor, "slow"), join(actor), join(actor)]
    assert [await reply.wait() for reply in replies] == [Finished(DONE)] * 3


async def test_an_impatient_caller_may_try_joining_again_and_again(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    play(actor, "slow")
    for _ in range(3):
        assert await ask(actor, lambda reply: TurnAwaited("turn-1", reply), patience=2) is None
    assert await ask(actor, lambda reply: TurnAwaited("turn-1", reply), patience=20) == Finished(DONE)


async def test_a_turn_that_is_unknown_or_too_old_cannot_be_recalled(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(journal=MemoryJournal(depth=2))
    for number in range(3):
        await play(actor, "at_once", f"turn-{number}").wait()
    for forgotten in ("turn-0", "turn-99"):
        error = error_of(await join(actor, forgotten).wait())
        assert isinstance(error, TurnNotFound)
        assert error.data == {"turn_id": forgotten}
    assert await join(actor, "turn-1").wait() == Finished(DONE)


async def test_one_session_cannot_recall_the_turns_of_another(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery)
    mine, other = house.open(ANNA), house.open(ANNA)
    await play(mine, "at_once", "turn-1").wait()
    assert isinstance(error_of(await join(other, "turn-1").wait()), TurnNotFound)


# --- stopping a turn ---------------------------------------------------------------------------------------


async def test_a_turn_that_is_cancelled_tells_everybody_who_waited(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    replies = [play(actor, "for_ever"), join(actor), cancel(actor)]
    errors = [error_of(await reply.wait()) for reply in replies]
    assert all(isinstance(error, TurnCancelled) for error in errors)
    assert await play(actor, "at_once", "turn-2").wait() == Finished(DONE)


async def test_cancelling_comes_too_late_for_a_turn_that_is_over(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    await play(actor, "at_once").wait()
    assert await cancel(actor).wait() == Finished(DONE)


async def test_a_turn_that_takes_long_to_clean_up_occupies_the_session_until_it_is_done(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def tidy(turn: Turn) -> ToolResult:
        try:
            return await for_ever(turn)
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(3)

    actor = await open_session(tidy=tidy)
    play(actor, "tidy")
    cancelled = cancel(actor)
    await wait_all_tasks_blocked()
    assert isinstance(error_of(await play(actor, "at_once", "turn-2").wait()), TurnInProgress)
    assert isinstance(error_of(await cancelled.wait()), TurnCancelled)
    assert await play(actor, "at_once", "turn-3").wait() == Finished(DONE)


async def test_a_parked_turn_can_be_cancelled(open_session: OpenSession, autojump_clock: MockClock) -> None:
    actor = await open_session()
    await play(actor, "asks").wait()
    assert isinstance(error_of(await cancel(actor).wait()), TurnCancelled)
    assert actor.idle


@pytest.mark.parametrize("cancels", [True, False])
async def test_a_caller_who_leaves_takes_the_turn_along_or_not(
    open_session: OpenSession, nursery: trio.Nursery, autojump_clock: MockClock, cancels: bool
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    with trio.move_on_after(2):
        await ask(actor, request("turn-1", "slow"), cancels=cancels)
    heard = await join(actor).wait()
    if cancels:
        assert isinstance(error_of(heard), TurnCancelled)
        assert trio.current_time() == 2
    else:
        assert heard == Finished(DONE)
        assert trio.current_time() == 10


async def test_somebody_who_only_listened_leaves_the_turn_running(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    owner = play(actor, "slow")
    with trio.move_on_after(2):
        await ask(actor, lambda reply: TurnAwaited("turn-1", reply))
    assert await owner.wait() == Finished(DONE)


async def test_a_session_is_idle_again_once_the_turn_that_everybody_left_is_over(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    assert await ask(actor, request("turn-1", "slow"), patience=1) is None
    await wait_all_tasks_blocked()
    assert not actor.idle
    await join(actor).wait()
    assert actor.idle


async def test_a_failing_listener_counts_as_a_caller_who_left(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def reports(turn: Turn) -> ToolResult:
        turn.report(Progress(1))
        return await for_ever(turn)

    async def broken(event: TurnEvent) -> None:
        raise OSError("the line is dead")

    actor = await open_session(reports=reports)
    with pytest.raises(OSError, match="line is dead"):
        await ask(actor, request("turn-1", "reports"), on_event=broken, cancels=True)
    assert isinstance(error_of(await join(actor).wait()), TurnCancelled)


async def test_an_answer_that_is_there_when_patience_runs_out_is_given(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def reports(turn: Turn) -> ToolResult:
        turn.report(Progress(1))
        return DONE

    async def slow_line(event: TurnEvent) -> None:
        await trio.sleep(10)

    actor = await open_session(reports=reports)
    assert await ask(actor, request("turn-1", "reports"), on_event=slow_line, patience=5) == Finished(DONE)


async def test_a_call_that_is_repeated_joins_its_turn_and_later_hears_how_it_ended(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    played: list[str] = []

    async def counted(turn: Turn) -> ToolResult:
        played.append(turn.id)
        return await for_ten_seconds(turn)

    actor = await open_session(counted=counted)
    first = play(actor, "counted", "turn-k")
    await trio.sleep(3)
    assert await play(actor, "counted", "turn-k").wait() == Finished(DONE)
    assert await first.wait() == Finished(DONE)
    assert await play(actor, "counted", "turn-k").wait() == Finished(DONE)
    assert played == ["turn-k"]
    assert trio.current_time() == 10


async def test_a_call_that_is_repeated_while_its_turn_waits_for_an_answer_is_given_the_questions(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    await play(actor, "asks", "turn-k").wait()
    assert questions_of(await play(actor, "asks", "turn-k").wait()) == {"name"}


async def test_one_of_two_callers_of_the_same_turn_may_leave_without_taking_it_along(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    first = play(actor, "slow", "turn-k")
    with trio.move_on_after(2):
        await ask(actor, request("turn-k", "slow"), cancels=True)
    assert await first.wait() == Finished(DONE)


def test_the_same_key_gives_the_same_turn_and_any_other_another() -> None:
    assert new_turn_id("order-7") == new_turn_id("order-7")
    assert len({new_turn_id(key) for key in ("order-7", "order-8", "", "\ud800", "Grüße")}) == 5
    assert "order" not in new_turn_id("order-7")


def test_turn_ids_are_not_to_be_guessed_or_repeated() -> None:
    ids = {new_turn_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(each) >= len("turn-") + 16 for each in ids)


async def test_the_last_word_of_a_turn_is_heard_however_it_ends(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def undecided(turn: Turn) -> ToolResult:
        await trio.sleep(5)
        return DONE

    heard: list[Heard] = []
    actor = await open_session(undecided=undecided)
    for number in range(20):
        turn_id = f"turn-{number}"
        reply = play(actor, "undecided", turn_id)
        await trio.sleep(5)
        heard += [await cancel(actor, turn_id).wait(), await reply.wait()]
        assert heard[-1] == heard[-2]
    for each in heard:
        assert each == Finished(DONE) or isinstance(error_of(each), TurnCancelled)


# --- events on the way -------------------------------------------------------------------------------------


async def test_a_watcher_sees_every_event_in_order_and_then_the_result(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def counts(turn: Turn) -> ToolResult:
        for number in range(5):
            turn.report(Progress(number))
            await trio.sleep(1)
        return DONE

    seen: list[TurnEvent] = []

    async def watch(event: TurnEvent) -> None:
        seen.append(event)

    actor = await open_session(counts=counts)
    assert await ask(actor, request("turn-1", "counts"), on_event=watch) == Finished(DONE)
    assert seen == [Progress(number) for number in range(5)]


async def test_whoever_joins_sees_the_events_from_then_on(open_session: OpenSession, autojump_clock: MockClock) -> None:
    async def counts(turn: Turn) -> ToolResult:
        for number in range(4):
            turn.report(Progress(number))
            await trio.sleep(2)
        return DONE

    seen: list[TurnEvent] = []

    async def watch(event: TurnEvent) -> None:
        seen.append(event)

    actor = await open_session(counts=counts)
    play(actor, "counts")
    await trio.sleep(3)
    await ask(actor, lambda reply: TurnAwaited("turn-1", reply), on_event=watch)
    assert seen == [Progress(2), Progress(3)]


async def test_a_slow_reader_loses_the_oldest_events_is_told_how_many_and_never_loses_the_result(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    many = EVENTS_KEPT + 44

    async def floods(turn: Turn) -> ToolResult:
        turn.report(Progress(0))
        await trio.sleep(1)
        for number in range(1, many + 1):
            turn.report(Progress(number))
        return DONE

    seen: list[TurnEvent] = []

    async def watch(event: TurnEvent) -> None:
        seen.append(event)
        if event == Progress(0):
            await trio.sleep(10)

    actor = await open_session(floods=floods)
    assert await ask(actor, request("turn-1", "floods"), on_event=watch) == Finished(DONE)
    kept = [Progress(number) for number in range(many - EVENTS_KEPT + 1, many + 1)]
    assert seen == [Progress(0), EventsDropped(44), *kept]


async def test_a_slow_reader_does_not_hold_up_the_turn_or_other_readers(
    open_session: OpenSession, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def reports(turn: Turn) -> ToolResult:
        turn.report(Progress(1))
        await trio.sleep(1)
        return DONE

    async def never_done(event: TurnEvent) -> None:
        await trio.sleep_forever()

    async def stuck() -> None:
        await ask(actor, request("turn-1", "reports"), on_event=never_done)

    actor = await open_session(reports=reports)
    nursery.start_soon(stuck)
    await wait_all_tasks_blocked()
    assert await join(actor).wait() == Finished(DONE)
    assert trio.current_time() == 1

"""The supervisor when something breaks, and when the server ends."""

from __future__ import annotations

from typing import NoReturn

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.actors.messages import Finished
from greenroom.actors.reply import Reply
from greenroom.actors.session import SessionActor
from greenroom.actors.supervisor import Limits, Supervisor
from greenroom.config.errors import (
    Draining,
    SessionCrashed,
    SessionNotFound,
    TurnCancelled,
)
from greenroom.persistence.journal import MemoryJournal, TurnRecord
from greenroom.workflow.port import Caller, Turn, WorkflowSession
from greenroom.workflow.values import ToolResult
from tests.actors.stage import (
    ANNA,
    BERT,
    DONE,
    Scripted,
    assert_gone,
    error_of,
    for_ever,
    for_ten_seconds,
    join,
    open_house,
    play,
)


class BrokenJournal(MemoryJournal):
    """Cannot keep the turns whose ids begin with `bad`, nor look for those that begin with `lost`."""

    def commit(self, record: TurnRecord) -> None:
        if record.turn_id.startswith("bad"):
            raise OSError("the disk is full")
        super().commit(record)

    def find(self, session: str, turn_id: str) -> TurnRecord | None:
        if turn_id.startswith("lost"):
            raise OSError("cannot read")
        return super().find(session, turn_id)


# --- when something breaks ---------------------------------------------------------------------------------


async def test_a_journal_that_raises_crashes_its_session_alone(
    nursery: trio.Nursery, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    house = await open_house(nursery, Scripted(slow=for_ten_seconds), BrokenJournal())
    crashing, sibling = house.open(ANNA), house.open(ANNA)
    replies = [play(crashing, "slow", "bad-1"), join(crashing, "bad-1")]
    unharmed = play(sibling, "slow", "turn-1", timeout=60)
    for reply in replies:
        error = error_of(await reply.wait())
        assert isinstance(error, SessionCrashed)
        assert "disk" not in error.message
    await wait_all_tasks_blocked()
    assert_gone(house, crashing)
    assert house.latest("anna") is sibling
    assert await unharmed.wait() == Finished(DONE)
    assert await play(house.open(BERT), "at_once").wait() == Finished(DONE)
    [record] = [each for each in caplog.records if each.name == "greenroom.actors.supervisor"]
    assert record.exc_info is not None
    assert vars(record)["session"] == crashing.handle[:8]
    assert "the disk is full" in caplog.text
    assert crashing.handle not in caplog.text


async def test_calls_that_are_still_unread_when_a_session_crashes_are_told_so(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    posted: list[SessionActor] = []

    class BusyJournal(MemoryJournal):
        def commit(self, record: TurnRecord) -> None:
            late.extend(join(actor, "bad-1") for actor in posted)
            raise OSError("the disk is full")

    late: list[Reply] = []
    house = await open_house(nursery, journal=BusyJournal())
    actor = house.open(ANNA)
    posted.append(actor)
    first = play(actor, "at_once", "bad-1")
    assert isinstance(error_of(await first.wait()), SessionCrashed)
    [reply] = late
    with trio.fail_after(5):
        assert isinstance(error_of(await reply.wait()), SessionCrashed)


async def test_a_journal_that_cannot_look_up_crashes_its_session_alone(
    nursery: trio.Nursery, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    house = await open_house(nursery, journal=BrokenJournal())
    actor, sibling = house.open(ANNA), house.open(ANNA)
    assert isinstance(error_of(await join(actor, "lost-1").wait()), SessionCrashed)
    await wait_all_tasks_blocked()
    assert_gone(house, actor)
    assert await play(sibling, "at_once").wait() == Finished(DONE)


async def test_a_session_that_crashes_takes_its_turn_along(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    ended = trio.Event()

    async def noticing(turn: Turn) -> ToolResult:
        try:
            return await for_ever(turn)
        finally:
            ended.set()

    house = await open_house(nursery, Scripted(noticing=noticing), BrokenJournal())
    actor = house.open(ANNA)
    owner = play(actor, "noticing")
    await wait_all_tasks_blocked()
    join(actor, "lost-1")
    assert isinstance(error_of(await owner.wait()), SessionCrashed)
    assert ended.is_set()


async def survives(house: Supervisor, break_it: str) -> bool:
    """Whether the supervisor lives on after a session has played this scene."""
    escaped = False
    try:
        async with trio.open_nursery() as outer:
            await outer.start(house.run)
            actor, sibling = house.open(ANNA), house.open(ANNA)
            reply = play(actor, break_it, "bad-1")
            await reply.wait()
            await wait_all_tasks_blocked()
            assert await play(sibling, "at_once").wait() == Finished(DONE)
            outer.cancel_scope.cancel()
    except BaseException:
        escaped = True
    return not escaped


async def test_a_journal_in_which_nothing_works_any_more_crashes_sessions_and_not_the_supervisor(
    autojump_clock: MockClock,
) -> None:
    class Dead(BrokenJournal):
        def forget(self, session: str) -> None:
            raise OSError("the disk is gone")

    assert await survives(Supervisor(Scripted(), Limits(), Dead()), "at_once")


async def test_a_journal_that_cannot_forget_does_not_keep_sessions_from_expiring(autojump_clock: MockClock) -> None:
    class Elephant(MemoryJournal):
        def forget(self, session: str) -> None:
            raise OSError("cannot forget")

    house = Supervisor(Scripted(), Limits(session_ttl=10), Elephant())
    escaped: list[BaseException] = []
    try:
        async with trio.open_nursery() as outer:
            await outer.start(house.run)
            house.open(ANNA)
            await trio.sleep(30)
            assert await play(house.open(ANNA), "at_once").wait() == Finished(DONE)
            outer.cancel_scope.cancel()
    except BaseException as exc:
        escaped.append(exc)
    assert escaped == []


async def test_a_workflow_that_calls_sys_exit_outside_a_thread_ends_its_turn_alone(autojump_clock: MockClock) -> None:
    async def exits(turn: Turn) -> ToolResult:
        raise SystemExit(3)

    assert await survives(Supervisor(Scripted(exits=exits), Limits()), "exits")


async def test_the_check_of_what_survives_passes_for_an_ordinary_failure(autojump_clock: MockClock) -> None:
    async def fails(turn: Turn) -> ToolResult:
        raise ValueError("ordinary")

    assert await survives(Supervisor(Scripted(fails=fails), Limits()), "fails")


async def test_a_workflow_that_cannot_open_a_session_leaves_no_trace(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    class Closed(Scripted):
        def open_session(self, caller: Caller) -> NoReturn:
            raise RuntimeError("closed today")

    house = await open_house(nursery, Closed())
    with pytest.raises(RuntimeError, match="closed today"):
        house.open(ANNA)
    assert len(house) == 0
    with pytest.raises(SessionNotFound):
        house.latest("anna")


async def test_every_session_has_a_copy_of_the_workflow_of_its_own(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    opened: list[Caller] = []

    class Counting(Scripted):
        def open_session(self, caller: Caller) -> WorkflowSession:
            opened.append(caller)
            return super().open_session(caller)

    house = await open_house(nursery, Counting())
    house.open(ANNA)
    house.open(BERT)
    assert opened == [ANNA, BERT]


# --- the end -----------------------------------------------------------------------------------------------


async def test_draining_refuses_new_sessions_and_returns_at_once_when_nothing_runs(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery)
    actor = house.open(ANNA)
    await play(actor, "at_once").wait()
    began = trio.current_time()
    await house.drain(30)
    assert trio.current_time() == began
    assert house.draining
    with pytest.raises(Draining) as caught:
        house.open(ANNA)
    assert (caught.value.code, caught.value.name, caught.value.retry_after) == (503, "draining", 5)
    with pytest.raises(SessionNotFound):
        play(actor, "at_once", "turn-2")


async def test_draining_lets_turns_finish_within_the_budget_and_no_longer_than_they_need(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def quick(turn: Turn) -> ToolResult:
        await trio.sleep(4)
        return DONE

    house = await open_house(nursery, Scripted(slow=for_ten_seconds, quick=quick))
    replies = [play(house.open(ANNA), "slow"), play(house.open(BERT), "quick")]
    await house.drain(30)
    assert trio.current_time() == 10
    assert [await reply.wait() for reply in replies] == [Finished(DONE)] * 2


async def test_draining_stops_what_is_left_when_the_budget_is_spent(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery)
    reply = play(house.open(ANNA), "for_ever")
    await house.drain(5)
    assert trio.current_time() == 5
    assert isinstance(error_of(await reply.wait()), TurnCancelled)
    assert trio.current_time() == 5


async def test_draining_does_not_wait_for_a_human(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery)
    actor = house.open(ANNA)
    await play(actor, "asks").wait()
    await house.drain(30)
    assert trio.current_time() == 0
    await wait_all_tasks_blocked()
    assert actor.idle


async def test_draining_does_not_wait_for_a_human_who_is_asked_only_then(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def asks_later(turn: Turn) -> ToolResult:
        await trio.sleep(3)
        return await house.workflow.scenes["asks"](turn)  # type: ignore[attr-defined, no-any-return]

    house = await open_house(nursery, Scripted(asks_later=asks_later))
    play(house.open(ANNA), "asks_later")
    await house.drain(30)
    assert trio.current_time() == 3


async def test_a_session_that_crashes_while_draining_is_not_waited_for(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery, Scripted(slow=for_ten_seconds), BrokenJournal())
    play(house.open(ANNA), "slow", "bad-1")
    await house.drain(30)
    assert trio.current_time() == 10


async def test_when_the_supervisor_is_cancelled_everybody_who_waits_is_told(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as outer:
        house = await open_house(outer)
        reply = play(house.open(ANNA), "for_ever")
        await wait_all_tasks_blocked()
        outer.cancel_scope.cancel()
    assert isinstance(error_of(await reply.wait()), SessionCrashed)

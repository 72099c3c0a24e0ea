"""A session between its turns: bounds, closing, and a task only when there is something to do."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.actors import session as session_module
from greenroom.actors.asking import ask, new_turn_id
from greenroom.actors.messages import Finished, TurnFinished
from greenroom.actors.reply import Reply
from greenroom.actors.session import SessionActor, Surroundings
from greenroom.actors.threads import Crew
from greenroom.config.errors import (
    Overloaded,
    SessionNotFound,
    TurnCancelled,
    TurnInProgress,
)
from greenroom.persistence.journal import MemoryJournal
from greenroom.workflow.port import Turn
from greenroom.workflow.values import (
    ToolResult,
)
from tests.actors.stage import (
    ALICE,
    ANNA,
    DONE,
    OpenSession,
    Scene,
    Scripted,
    ScriptedSession,
    answer,
    cancel,
    error_of,
    for_ten_seconds,
    join,
    open_house,
    play,
    request,
    result_of,
    tasks,
)

# --- bounds, closing, and giving the task back -------------------------------------------------------------


async def test_a_session_takes_only_so_many_open_calls_and_says_when_to_come_again(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(mailbox_size=3, slow=for_ten_seconds)
    replies = [play(actor, "slow"), join(actor), join(actor)]
    with pytest.raises(Overloaded) as caught:
        join(actor)
    assert caught.value.retry_after >= 1
    await wait_all_tasks_blocked()
    with pytest.raises(Overloaded):
        cancel(actor)
    assert [await reply.wait() for reply in replies] == [Finished(DONE)] * 3
    assert await play(actor, "at_once", "turn-2").wait() == Finished(DONE)


async def test_a_caller_who_left_does_not_count_any_more(open_session: OpenSession, autojump_clock: MockClock) -> None:
    actor = await open_session(mailbox_size=1, slow=for_ten_seconds)
    for _ in range(5):
        turn_id = new_turn_id()
        assert await ask(actor, request(turn_id, "slow"), patience=1) is None
        await wait_all_tasks_blocked()
        assert await join(actor, turn_id).wait() == Finished(DONE)


async def test_a_resting_session_is_closed_at_once(open_session: OpenSession, autojump_clock: MockClock) -> None:
    actor = await open_session()
    actor.close()
    with pytest.raises(SessionNotFound):
        play(actor, "at_once")
    assert actor.idle


async def test_a_session_that_is_closed_stops_its_turn_first_and_tells_its_asker(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    reply = play(actor, "for_ever")
    await wait_all_tasks_blocked()
    actor.close()
    actor.close()
    with pytest.raises(SessionNotFound):
        join(actor)
    assert isinstance(error_of(await reply.wait()), TurnCancelled)
    await wait_all_tasks_blocked()
    with pytest.raises(SessionNotFound):
        play(actor, "at_once", "turn-2")


async def test_calls_that_were_posted_before_the_session_closed_are_still_answered(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    replies = [play(actor, "for_ever"), join(actor), play(actor, "at_once", "turn-2")]
    actor.close()
    heard = [error_of(await reply.wait()) for reply in replies]
    assert [type(error) for error in heard] == [TurnCancelled, TurnCancelled, TurnInProgress]


async def test_an_idle_session_gives_its_task_back_and_gets_one_with_the_next_message(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(linger=2)
    at_rest = tasks()
    await play(actor, "at_once").wait()
    await wait_all_tasks_blocked()
    assert tasks() == at_rest + 1
    await trio.sleep(1.9)
    assert tasks() == at_rest + 1
    await trio.sleep(0.2)
    assert tasks() == at_rest
    assert actor.idle
    assert await play(actor, "at_once", "turn-2").wait() == Finished(DONE)
    assert await join(actor, "turn-1").wait() == Finished(DONE)
    await wait_all_tasks_blocked()
    assert tasks() == at_rest + 1


async def test_a_session_with_a_turn_keeps_its_task_however_long_it_is_silent(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(linger=2, input_timeout=1000)
    at_rest = tasks()
    await play(actor, "asks").wait()
    await trio.sleep(500)
    assert tasks() > at_rest
    assert result_of(await answer(actor, name=ALICE).wait()) == "accept Alice"


@pytest.mark.parametrize("steps", range(6))
async def test_no_message_is_lost_when_it_comes_just_as_the_task_is_given_back(
    open_session: OpenSession, autojump_clock: MockClock, steps: int
) -> None:
    actor = await open_session(linger=2)
    at_rest = tasks()
    for number in range(25):
        await play(actor, "at_once", f"turn-{number}").wait()
        await trio.sleep(2)
        for _ in range(steps):
            await trio.lowlevel.checkpoint()
        with trio.fail_after(30):
            assert await play(actor, "at_once", f"late-{number}").wait() == Finished(DONE)
            assert await join(actor, f"turn-{number}").wait() == Finished(DONE)
        await trio.sleep(10)
        assert tasks() == at_rest


@pytest.mark.parametrize("steps", range(4))
async def test_a_session_that_is_closed_just_as_it_lies_down_is_closed(
    nursery: trio.Nursery, autojump_clock: MockClock, steps: int
) -> None:
    house = await open_house(nursery, linger=2)
    at_rest = tasks()
    for number in range(10):
        actor = house.open(ANNA)
        await play(actor, "at_once", f"turn-{number}").wait()
        await trio.sleep(2)
        for _ in range(steps):
            await trio.lowlevel.checkpoint()
        house.close(actor)
        await trio.sleep(10)
        assert tasks() == at_rest
        with pytest.raises(SessionNotFound):
            play(actor, "at_once")


# --- in surroundings of our own ----------------------------------------------------------------------------


@attrs.define
class Alone:
    """An actor without a supervisor; what it reports goes to these functions."""

    nursery: trio.Nursery
    on_settled: Callable[[SessionActor], None] = lambda actor: None
    crashes: list[BaseException] = attrs.field(factory=list)

    def actor(self, *, mailbox_size: int = 64, **scenes: Scene) -> SessionActor:
        around = Surroundings(
            journal=MemoryJournal(),
            limiter=trio.CapacityLimiter(4),
            announce=lambda change: None,
            start=lambda actor: self.nursery.start_soon(self._run, actor),
            settled=lambda actor: self.on_settled(actor),
            mailbox_size=mailbox_size,
            input_timeout=600.0,
            linger=2.0,
        )
        return SessionActor("handle", "anna", ScriptedSession(Scripted(**scenes).scenes), around)

    async def _run(self, actor: SessionActor) -> None:
        try:
            await actor.run()
        except Exception as crash:
            self.crashes.append(crash)


async def test_an_actor_says_when_it_has_nothing_to_do_any_more(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    settled: list[float] = []
    actor = Alone(nursery, lambda actor: settled.append(trio.current_time())).actor(slow=for_ten_seconds)
    await play(actor, "slow").wait()
    await wait_all_tasks_blocked()
    assert settled == [10]


async def test_however_many_callers_leave_as_a_turn_ends_the_mailbox_has_room_for_the_next(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    size = 8
    came: list[Reply] = []
    refused: list[Exception] = []

    def settled(actor: SessionActor) -> None:
        """The turn is over and its callers are told; what they posted when they left is still unread."""
        if came:
            return
        try:
            for _ in range(size):
                came.append(join(actor, "turn-2"))
                actor.leave("turn-2", came[-1], cancels=False)
        except Exception as exc:
            refused.append(exc)

    async def ends_when_told(turn: Turn) -> ToolResult:
        await ending.wait()
        return DONE

    ending = trio.Event()
    actor = Alone(nursery, settled).actor(mailbox_size=size, ends_when_told=ends_when_told)
    replies = [play(actor, "ends_when_told"), *(join(actor) for _ in range(size - 1))]
    await wait_all_tasks_blocked()
    assert actor._mailbox is not None
    # As the turn's task does it: its end is in the mailbox, and then everybody leaves before it is read.
    actor._mailbox.send_nowait(TurnFinished("turn-1", Finished(DONE)))
    for reply in replies:
        actor.leave("turn-1", reply, cancels=False)
    await wait_all_tasks_blocked()
    assert len(came) == size
    assert refused == []


class SleepingCrew(Crew):
    """Has a thread that comes back when the test says so."""

    returned: trio.Event

    @property
    def busy(self) -> bool:
        return not type(self).returned.is_set()

    async def wait_until_returned(self) -> None:
        await type(self).returned.wait()


async def test_a_thread_that_returns_just_as_its_session_closes_is_no_incident(
    nursery: trio.Nursery, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "Crew", SleepingCrew)
    alone = Alone(nursery)
    for _ in range(20):
        SleepingCrew.returned = trio.Event()
        actor = alone.actor()
        await play(actor, "for_ever", timeout=5).wait()
        await wait_all_tasks_blocked()
        SleepingCrew.returned.set()
        actor.close()
        await wait_all_tasks_blocked()
    assert alone.crashes == []

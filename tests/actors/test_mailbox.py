"""The mailbox of a session, and who reads it while the session's own task is on stage."""

from __future__ import annotations

import contextvars

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.actors.mailbox import Mailbox
from greenroom.actors.messages import Finished
from greenroom.config.errors import TurnInProgress
from greenroom.workflow.port import Turn
from greenroom.workflow.values import ToolResult
from tests.actors.stage import DONE, OpenSession, cancel, error_of, for_ten_seconds, join, play, result_of, said, tasks


async def test_messages_are_taken_in_the_order_in_which_they_came() -> None:
    mailbox: Mailbox[int] = Mailbox(3)
    for number in range(3):
        mailbox.send_nowait(number)
    assert len(mailbox) == 3
    assert [mailbox.take() for _ in range(3)] == [0, 1, 2]


async def test_a_full_mailbox_takes_no_more() -> None:
    mailbox: Mailbox[int] = Mailbox(1)
    mailbox.send_nowait(1)
    with pytest.raises(trio.WouldBlock):
        mailbox.send_nowait(2)
    assert mailbox.take() == 1
    mailbox.send_nowait(3)


async def test_whoever_waits_is_woken_by_a_message_and_one_who_gave_up_is_not(autojump_clock: MockClock) -> None:
    mailbox: Mailbox[int] = Mailbox(2)
    with trio.move_on_after(1):
        await mailbox.wait()
    called: list[int] = []
    mailbox.when_unread = lambda: called.append(len(mailbox))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mailbox.wait)
        await wait_all_tasks_blocked()
        mailbox.send_nowait(1)
    assert called == []
    mailbox.send_nowait(2)
    assert called == [2]


async def test_only_the_first_message_that_nobody_waits_for_calls_for_a_reader() -> None:
    mailbox: Mailbox[int] = Mailbox(5)
    called: list[int] = []
    mailbox.when_unread = lambda: called.append(len(mailbox))
    for number in range(3):
        mailbox.send_nowait(number)
    assert called == [1]


# --- an actor that is on stage itself ----------------------------------------------------------------------


async def test_a_turn_that_nobody_disturbs_takes_no_task_but_the_actors_own(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    at_rest = tasks()
    reply = play(actor, "slow")
    await wait_all_tasks_blocked()
    assert tasks() == at_rest + 1
    assert await reply.wait() == Finished(DONE)


async def test_messages_that_come_while_a_turn_is_played_are_answered_at_once_and_cost_one_task_in_all(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    at_rest = tasks()
    first = play(actor, "slow", "turn-1")
    await wait_all_tasks_blocked()
    for number in range(2, 6):
        refused = await play(actor, "slow", f"turn-{number}").wait()
        assert isinstance(error_of(refused), TurnInProgress)
    assert trio.current_time() == 0
    assert tasks() == at_rest + 2
    joined = join(actor, "turn-1")
    assert await first.wait() == await joined.wait() == Finished(DONE)
    await wait_all_tasks_blocked()
    assert tasks() == at_rest + 1


@pytest.mark.parametrize("steps", range(6))
async def test_however_close_a_message_comes_to_the_end_of_a_turn_it_is_read_once(
    open_session: OpenSession, autojump_clock: MockClock, steps: int
) -> None:
    async def short(turn: Turn) -> ToolResult:
        for _ in range(3):
            await trio.lowlevel.checkpoint()
        return DONE

    actor = await open_session(short=short)
    for number in range(20):
        reply = play(actor, "short", f"turn-{number}")
        for _ in range(steps):
            await trio.lowlevel.checkpoint()
        joined, stopped = join(actor, f"turn-{number}"), cancel(actor, f"turn-{number}")
        with trio.fail_after(30):
            assert await reply.wait() == await joined.wait() == await stopped.wait()
        assert actor.callers == 0
        assert actor.queue_depth == 0


async def test_what_a_turn_leaves_in_context_variables_is_not_seen_by_the_next(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    variable = contextvars.ContextVar("variable", default="untouched")

    async def sets(turn: Turn) -> ToolResult:
        seen = variable.get()
        variable.set("touched")
        return said(seen)

    actor = await open_session(sets=sets)
    for number in range(3):
        assert result_of(await play(actor, "sets", f"turn-{number}").wait()) == "untouched"

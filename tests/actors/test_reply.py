"""A reply: one answer that cannot be lost, and a bounded buffer of events on the way to it."""

from __future__ import annotations

import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from greenroom.actors.messages import Failed, Finished, Heard
from greenroom.actors.reply import Reply
from greenroom.config.errors import SessionCrashed
from greenroom.workflow.events import EventsDropped, Progress, TurnEvent
from tests.actors.stage import DONE, said

FINISHED = Finished(DONE)


async def events_of(reply: Reply) -> list[TurnEvent]:
    events = []
    while (event := await reply.next_event()) is not None:
        events.append(event)
    return events


async def test_the_answer_wakes_whoever_waits_for_it(nursery: trio.Nursery) -> None:
    reply = Reply()
    heard: list[Heard] = []

    async def wait() -> None:
        heard.append(await reply.wait())

    nursery.start_soon(wait)
    await wait_all_tasks_blocked()
    assert heard == []
    reply.settle(FINISHED)
    await wait_all_tasks_blocked()
    assert heard == [FINISHED]


async def test_a_reply_is_settled_once_the_answer_is_there_even_if_nobody_has_read_it() -> None:
    settled, unsettled = Reply(), Reply()
    settled.settle(FINISHED)
    assert (settled.settled, unsettled.settled) == (True, False)


async def test_the_first_answer_counts_and_a_later_failure_is_ignored() -> None:
    reply = Reply()
    reply.settle(FINISHED)
    reply.fail(SessionCrashed())
    reply.settle(Finished(said("another")))
    assert await reply.wait() == FINISHED
    assert await reply.wait() == FINISHED


async def test_a_failure_is_an_answer_too() -> None:
    reply = Reply()
    error = SessionCrashed()
    reply.fail(error)
    assert await reply.wait() == Failed(error)


async def test_an_event_wakes_its_reader_before_the_answer_is_there(nursery: trio.Nursery) -> None:
    reply = Reply(events=4)
    seen: list[TurnEvent | None] = []

    async def read_one() -> None:
        seen.append(await reply.next_event())

    nursery.start_soon(read_one)
    await wait_all_tasks_blocked()
    reply.offer(Progress(1))
    await wait_all_tasks_blocked()
    assert seen == [Progress(1)]


async def test_events_that_were_kept_are_read_before_the_answer() -> None:
    reply = Reply(events=4)
    reply.offer(Progress(1))
    reply.offer(Progress(2))
    reply.settle(FINISHED)
    assert await events_of(reply) == [Progress(1), Progress(2)]
    assert await reply.wait() == FINISHED


async def test_waiting_for_the_answer_skips_the_events() -> None:
    reply = Reply(events=4)
    reply.offer(Progress(1))
    reply.settle(FINISHED)
    assert await reply.wait() == FINISHED


async def test_an_event_after_the_answer_is_not_kept() -> None:
    reply = Reply(events=4)
    reply.settle(FINISHED)
    reply.offer(Progress(1))
    assert await reply.next_event() is None


async def test_a_caller_who_wants_no_events_gets_none() -> None:
    reply = Reply()
    reply.offer(Progress(1))
    reply.settle(FINISHED)
    assert await reply.next_event() is None


async def test_a_reader_who_falls_behind_twice_is_told_twice() -> None:
    reply = Reply(events=1)
    reply.offer(Progress(1))
    reply.offer(Progress(2))
    assert await reply.next_event() == EventsDropped(1)
    assert await reply.next_event() == Progress(2)
    reply.offer(Progress(3))
    reply.offer(Progress(4))
    reply.offer(Progress(5))
    reply.settle(FINISHED)
    assert await events_of(reply) == [EventsDropped(2), Progress(5)]


@given(st.lists(st.one_of(st.just("read"), st.integers(1, 12)), max_size=30), st.integers(1, 6))
def test_whatever_the_pace_of_reading_events_arrive_in_order_or_are_counted_as_dropped(
    history: list[str | int], capacity: int
) -> None:
    async def live() -> None:
        reply = Reply(events=capacity)
        offered = 0
        read: list[TurnEvent] = []
        for happening in history:
            if isinstance(happening, int):
                for _ in range(happening):
                    offered += 1
                    reply.offer(Progress(offered))
            else:
                with trio.move_on_after(0):
                    event = await reply.next_event()
                    assert event is not None
                    read.append(event)
        reply.settle(FINISHED)
        read += await events_of(reply)
        accounted = 0
        for event in read:
            if isinstance(event, EventsDropped):
                assert event.count > 0
                accounted += event.count
            else:
                accounted += 1
                assert event == Progress(accounted)
        assert accounted == offered

    trio.run(live)

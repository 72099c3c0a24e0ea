"""The supervisor: who may have which session, for how long, and who hears the news."""

from __future__ import annotations

import contextvars

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.actors.messages import Finished
from greenroom.config.errors import (
    Overloaded,
    SessionNotFound,
)
from greenroom.persistence.journal import MemoryJournal
from greenroom.workflow.events import Change, PromptsChanged, ResourcesChanged, ResourceUpdated, ToolsChanged
from greenroom.workflow.port import Turn
from greenroom.workflow.values import ToolResult
from tests.actors.stage import (
    ALICE,
    ANNA,
    BERT,
    DONE,
    Scripted,
    answer,
    assert_gone,
    for_ten_seconds,
    join,
    open_house,
    play,
    result_of,
    said,
    tasks,
)

COLOUR = contextvars.ContextVar("COLOUR", default="none")


# --- whose session it is -----------------------------------------------------------------------------------


async def test_a_session_is_found_by_its_handle_again(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery)
    actor = house.open(ANNA)
    assert house.find(actor.handle) is actor
    assert house.find(actor.handle, "anna") is actor
    assert len(house) == 1


async def test_handles_are_long_and_never_repeat(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery)
    handles = {house.open(ANNA).handle for _ in range(200)}
    assert len(handles) == 200
    # 24 random bytes, 4 characters for every 3 of them.
    assert {len(handle) for handle in handles} == {32}


async def test_a_foreign_handle_and_an_unknown_one_look_the_same(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery)
    hers = house.open(ANNA)
    with pytest.raises(SessionNotFound) as foreign:
        house.find(hers.handle, "bert")
    with pytest.raises(SessionNotFound) as unknown:
        house.find("nonsense", "bert")
    assert foreign.value.message == unknown.value.message
    assert foreign.value.data == unknown.value.data == {}


async def test_a_handle_is_never_made_from_what_a_client_sends(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery)
    for wish in ("", "mine", "0" * 32):
        with pytest.raises(SessionNotFound):
            house.find(wish)
    assert len(house) == 0


async def test_the_latest_session_of_a_user_follows_use(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery)
    first, second = house.open(ANNA), house.open(ANNA)
    other = house.open(BERT)
    assert house.latest("anna") is second
    house.find(first.handle)
    assert house.latest("anna") is first
    house.close(first)
    assert house.latest("anna") is second
    assert house.latest("bert") is other
    house.close(second)
    for nobody in ("anna", "carla"):
        with pytest.raises(SessionNotFound):
            house.latest(nobody)


async def test_a_session_that_plays_one_turn_only_is_nobodys_latest(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery)
    walk_on = house.open(ANNA, walk_on=True)
    with pytest.raises(SessionNotFound):
        house.latest("anna")
    assert house.find(walk_on.handle) is walk_on
    with pytest.raises(SessionNotFound):
        house.latest("anna")


async def test_a_closed_session_is_gone_with_its_turns(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    journal = MemoryJournal()
    house = await open_house(nursery, journal=journal)
    actor = house.open(ANNA)
    await play(actor, "at_once").wait()
    assert journal.find(actor.handle, "turn-1") is not None
    house.close(actor)
    house.close(actor)
    assert_gone(house, actor)
    await wait_all_tasks_blocked()
    assert journal.find(actor.handle, "turn-1") is None


async def test_a_session_that_was_closed_in_mid_turn_leaves_nothing_in_the_journal(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    journal = MemoryJournal()
    house = await open_house(nursery, journal=journal)
    actor = house.open(ANNA)
    reply = play(actor, "for_ever")
    await wait_all_tasks_blocked()
    house.close(actor)
    await reply.wait()
    await wait_all_tasks_blocked()
    assert journal.find(actor.handle, "turn-1") is None


# --- time to live, and room --------------------------------------------------------------------------------


async def test_an_idle_session_goes_after_its_time_and_not_before(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery, session_ttl=100)
    await trio.sleep(33)
    actor = house.open(ANNA)
    await trio.sleep(99.9)
    assert len(house) == 1
    await trio.sleep(0.2)
    assert len(house) == 0
    assert_gone(house, actor)
    with pytest.raises(SessionNotFound):
        house.latest("anna")


async def test_looking_a_session_up_keeps_it_alive(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery, session_ttl=100)
    actor, forgotten = house.open(ANNA), house.open(ANNA)
    for _ in range(5):
        await trio.sleep(60)
        assert house.find(actor.handle) is actor
    assert_gone(house, forgotten)


async def test_a_session_with_a_turn_never_goes_and_its_time_counts_from_the_end_of_the_turn(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def long(turn: Turn) -> ToolResult:
        await trio.sleep(1050)
        return DONE

    house = await open_house(nursery, Scripted(long=long), session_ttl=100)
    actor = house.open(ANNA)
    assert await play(actor, "long", timeout=2000).wait() == Finished(DONE)
    await trio.sleep(99)
    assert len(house) == 1
    await trio.sleep(2)
    assert_gone(house, actor)


async def test_a_parked_session_does_not_go_either(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery, session_ttl=10, input_timeout=500)
    actor = house.open(ANNA)
    await play(actor, "asks").wait()
    await trio.sleep(400)
    assert result_of(await answer(house.find(actor.handle), name=ALICE).wait()) == "accept Alice"


async def test_over_the_maximum_the_least_recently_used_idle_session_goes(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery, max_sessions=3)
    busy, old, used = house.open(ANNA), house.open(ANNA), house.open(BERT)
    play(busy, "for_ever")
    await wait_all_tasks_blocked()
    await trio.sleep(1)
    house.find(old.handle)
    house.find(used.handle)
    newest = house.open(BERT)
    assert len(house) == 3
    assert_gone(house, old)
    assert [house.find(each.handle) for each in (busy, used, newest)] == [busy, used, newest]


async def test_if_nobody_idles_a_new_session_is_refused_and_told_when_to_come_again(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery, Scripted(slow=for_ten_seconds), max_sessions=2)
    first, second = house.open(ANNA), house.open(ANNA)
    play(first, "slow")
    await play(second, "asks").wait()
    with pytest.raises(Overloaded) as caught:
        house.open(BERT)
    assert (caught.value.code, caught.value.retry_after) == (503, 5)
    assert caught.value.data == {"retry_after": 5}
    assert len(house) == 2
    await join(first).wait()
    house.open(BERT)
    assert_gone(house, first)


async def test_a_session_whose_call_is_still_unread_is_not_idle(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house = await open_house(nursery, max_sessions=1)
    actor = house.open(ANNA)
    reply = play(actor, "at_once")
    with pytest.raises(Overloaded):
        house.open(BERT)
    assert await reply.wait() == Finished(DONE)


async def test_a_very_short_time_to_live_is_no_busy_loop(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery, session_ttl=1e-9)
    actor = house.open(ANNA)
    play(actor, "for_ever", timeout=5)
    await trio.sleep(1)
    assert house.find(actor.handle) is actor


# --- tasks -------------------------------------------------------------------------------------------------


async def test_sessions_at_rest_cost_no_task(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery, linger=2)
    before = tasks()
    actors = [house.open(ANNA) for _ in range(50)]
    assert tasks() == before
    for actor in actors:
        await play(actor, "at_once").wait()
    await trio.sleep(5)
    assert tasks() == before
    assert len(house) == 50
    assert await play(actors[7], "at_once", "turn-2").wait() == Finished(DONE)


async def test_the_context_variables_of_whoever_opened_the_session_are_not_visible_in_its_turns(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def look(turn: Turn) -> ToolResult:
        return said(COLOUR.get())

    house = await open_house(nursery, Scripted(look=look))
    COLOUR.set("red")
    actor = house.open(ANNA)
    assert result_of(await play(actor, "look").wait()) == "none"
    assert COLOUR.get() == "red"


# --- news --------------------------------------------------------------------------------------------------


async def test_what_a_turn_announces_reaches_every_listener_in_order(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    news: list[Change] = [ToolsChanged(), PromptsChanged(), ResourcesChanged(), ResourceUpdated("x://y")]

    async def announces(turn: Turn) -> ToolResult:
        for change in news:
            turn.announce(change)
        return DONE

    house = await open_house(nursery, Scripted(announces=announces))
    first: list[Change] = []
    second: list[Change] = []
    house.on_change(first.append)
    house.on_change(second.append)
    await play(house.open(ANNA), "announces").wait()
    assert first == second == news


async def test_a_listener_may_come_while_news_are_told(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    house = await open_house(nursery)
    heard: list[Change] = []
    house.on_change(lambda change: house.on_change(heard.append))
    house.announce(ToolsChanged())
    assert heard == []
    house.announce(PromptsChanged())
    assert heard == [PromptsChanged()]

"""A session actor at work: one turn at a time, under a deadline, on record, and data when it fails."""

from __future__ import annotations

import contextvars
import logging

import pytest
import trio
from trio.testing import MockClock

from greenroom.actors.messages import Finished
from greenroom.actors.reply import Reply
from greenroom.config.errors import (
    InternalFault,
    TurnInProgress,
    TurnTimedOut,
    UnknownName,
)
from greenroom.persistence.journal import MemoryJournal, TurnRecord
from greenroom.workflow.port import Turn
from greenroom.workflow.values import (
    GetPrompt,
    PromptResult,
    ReadResource,
    ResourceResult,
    ToolResult,
)
from tests.actors.stage import (
    DONE,
    OpenSession,
    error_of,
    for_ever,
    for_ten_seconds,
    join,
    play,
    result_of,
    said,
)

COLOUR = contextvars.ContextVar("COLOUR", default="none")


# --- one turn at a time ------------------------------------------------------------------------------------


async def test_a_turn_is_played_and_its_result_heard(open_session: OpenSession, autojump_clock: MockClock) -> None:
    actor = await open_session()
    assert await play(actor, "at_once").wait() == Finished(DONE)
    assert actor.idle


async def test_every_kind_of_order_finds_its_way_to_the_workflow(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    prompt = await play(actor, GetPrompt("rehearse")).wait()
    resource = await play(actor, ReadResource("x://y"), "turn-2").wait()
    assert isinstance(prompt, Finished)
    assert isinstance(prompt.result, PromptResult)
    assert isinstance(resource, Finished)
    assert isinstance(resource.result, ResourceResult)
    assert resource.result.contents[0].uri == "x://y"


async def test_a_second_turn_is_refused_and_told_which_one_is_in_the_way(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    first = play(actor, "slow", "turn-1")
    error = error_of(await play(actor, "at_once", "turn-2").wait())
    assert isinstance(error, TurnInProgress)
    assert error.data == {"turn_id": "turn-1"}
    assert await first.wait() == Finished(DONE)
    assert await play(actor, "at_once", "turn-3").wait() == Finished(DONE)


async def test_a_parked_turn_is_in_the_way_too_and_the_refusal_says_that_it_waits_for_an_answer(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    await play(actor, "asks").wait()
    assert actor.parked
    assert not actor.idle
    error = error_of(await play(actor, "at_once", "turn-2").wait())
    assert isinstance(error, TurnInProgress)
    assert "waiting for an answer" in error.message


async def test_of_many_turns_requested_at_once_exactly_one_is_played(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    on_stage: list[str] = []

    async def alone(turn: Turn) -> ToolResult:
        on_stage.append(turn.id)
        assert len(on_stage) == 1
        await trio.sleep(1)
        on_stage.remove(turn.id)
        return DONE

    actor = await open_session(alone=alone)
    replies = [play(actor, "alone", f"turn-{n}") for n in range(20)]
    heard = [await reply.wait() for reply in replies]
    assert heard[0] == Finished(DONE)
    assert all(isinstance(error_of(each), TurnInProgress) for each in heard[1:])


async def test_a_turn_is_on_record_before_its_asker_hears_of_its_end(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    replies: list[Reply] = []
    settled_at_commit: list[bool] = []

    class Watching(MemoryJournal):
        def commit(self, record: TurnRecord) -> None:
            settled_at_commit.append(replies[0].settled)
            super().commit(record)

    journal = Watching()
    actor = await open_session(journal=journal)
    replies.append(play(actor, "at_once"))
    heard = await replies[0].wait()
    assert settled_at_commit == [False]
    assert journal.find(actor.handle, "turn-1") == TurnRecord(actor.handle, "turn-1", heard)


async def test_the_turn_sees_nothing_of_the_context_of_whoever_asked(
    open_session: OpenSession, mock_clock: MockClock
) -> None:
    async def look(turn: Turn) -> ToolResult:
        return said(f"{COLOUR.get()} {await turn.run_blocking(COLOUR.get)}")

    COLOUR.set("red")
    actor = await open_session(look=look)
    assert result_of(await play(actor, "look").wait()) == "none none"


# --- deadlines ---------------------------------------------------------------------------------------------


async def test_a_turn_past_its_deadline_is_stopped_and_the_session_is_free_at_once(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    stopped = trio.Event()

    async def slow(turn: Turn) -> ToolResult:
        try:
            return await for_ever(turn)
        finally:
            stopped.set()

    actor = await open_session(slow=slow)
    began = trio.current_time()
    error = error_of(await play(actor, "slow", timeout=5).wait())
    assert isinstance(error, TurnTimedOut)
    assert error.data == {"turn_id": "turn-1", "deferred": False}
    assert "within 5 seconds" in error.message
    assert stopped.is_set()
    assert await play(actor, "at_once", "turn-2").wait() == Finished(DONE)
    assert trio.current_time() - began == 5


async def test_a_turn_that_ends_in_the_very_last_moment_counts(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session(slow=for_ten_seconds)
    assert await play(actor, "slow", timeout=10.001).wait() == Finished(DONE)


async def test_a_failed_turn_can_be_recalled_like_any_other(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    actor = await open_session()
    await play(actor, "for_ever", timeout=1).wait()
    assert isinstance(error_of(await join(actor).wait()), TurnTimedOut)


# --- workflows that fail -----------------------------------------------------------------------------------


async def test_what_a_workflow_raises_is_logged_with_its_trace_and_never_shown(
    open_session: OpenSession, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(turn: Turn) -> ToolResult:
        raise RuntimeError("the password is swordfish")

    actor = await open_session(fails=fails)
    error = error_of(await play(actor, "fails").wait())
    assert isinstance(error, InternalFault)
    assert "swordfish" not in error.message + repr(error.data)
    assert error.data == {"turn_id": "turn-1"}
    [record] = [each for each in caplog.records if each.name == "greenroom.actors.session"]
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert "swordfish" in str(record.exc_info[1])
    assert vars(record)["turn"] == "turn-1"
    assert actor.handle not in caplog.text
    assert await play(actor, "at_once", "turn-2").wait() == Finished(DONE)


async def test_an_error_that_was_written_for_the_client_reaches_it_and_is_no_incident(
    open_session: OpenSession, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuses(turn: Turn) -> ToolResult:
        raise UnknownName("tool", "x")

    actor = await open_session(refuses=refuses)
    assert isinstance(error_of(await play(actor, "refuses").wait()), UnknownName)
    assert caplog.records == []


async def test_a_turn_that_fails_while_it_is_being_stopped_counts_as_stopped(
    open_session: OpenSession, autojump_clock: MockClock
) -> None:
    async def breaks(turn: Turn) -> ToolResult:
        async with trio.open_nursery() as inner:
            inner.start_soon(trio.sleep_forever)
            return await for_ever(turn)

    actor = await open_session(breaks=breaks)
    assert isinstance(error_of(await play(actor, "breaks", timeout=2).wait()), TurnTimedOut)

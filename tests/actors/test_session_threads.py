"""Blocking code in a session: the thread outlives its turn, and nothing runs beside it."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from greenroom.actors import session as session_module
from greenroom.actors.messages import Finished
from greenroom.actors.session import SessionActor
from greenroom.actors.threads import Crew
from greenroom.config.errors import (
    InternalFault,
    SessionNotFound,
    TurnCancelled,
    TurnInProgress,
    TurnStopping,
    TurnTimedOut,
)
from greenroom.workflow.port import Turn
from greenroom.workflow.values import (
    ToolResult,
)
from tests.actors.stage import (
    DONE,
    Blocking,
    OpenSession,
    error_of,
    join,
    play,
    result_of,
)


async def test_blocking_code_runs_beside_the_loop_and_gives_its_result(
    open_session: OpenSession, mock_clock: MockClock
) -> None:
    blocking = Blocking()
    actor = await open_session(blocking=blocking)
    reply = play(actor, "blocking")
    await blocking.wait_until_entered()
    assert isinstance(error_of(await play(actor, "at_once", "turn-2").wait()), TurnInProgress)
    blocking.let_go.set()
    assert result_of(await reply.wait()) == "from the thread"
    assert await play(actor, "at_once", "turn-3").wait() == Finished(DONE)


async def test_blocking_code_past_its_deadline_holds_the_session_until_its_thread_returns(
    open_session: OpenSession, mock_clock: MockClock
) -> None:
    blocking = Blocking()
    actor = await open_session(blocking=blocking)
    reply = play(actor, "blocking", timeout=5)
    await blocking.wait_until_entered()
    mock_clock.jump(5)
    assert isinstance(error_of(await reply.wait()), TurnTimedOut)
    error = error_of(await play(actor, "at_once", "turn-2").wait())
    assert isinstance(error, TurnStopping)
    assert (error.code, error.name, error.data) == (409, "turn_stopping", {"turn_id": "turn-1"})
    assert not actor.idle
    assert isinstance(error_of(await join(actor).wait()), TurnTimedOut)
    blocking.let_go.set()
    await idle(actor)
    assert await play(actor, "at_once", "turn-3").wait() == Finished(DONE)
    assert isinstance(error_of(await join(actor).wait()), TurnTimedOut)


async def idle(actor: SessionActor) -> None:
    """Until a thread is back that nobody waits for."""
    with trio.fail_after(10):
        while not actor.idle:
            await trio.to_thread.run_sync(int)


async def test_a_session_whose_thread_never_returns_can_still_be_closed(
    open_session: OpenSession, mock_clock: MockClock
) -> None:
    blocking = Blocking()
    actor = await open_session(blocking=blocking)
    reply = play(actor, "blocking")
    await blocking.wait_until_entered()
    actor.close()
    assert isinstance(error_of(await reply.wait()), TurnCancelled)
    with pytest.raises(SessionNotFound):
        play(actor, "at_once", "turn-2")
    blocking.let_go.set()


async def test_code_that_exits_ends_its_turn_alone(
    open_session: OpenSession, mock_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    def leave() -> None:
        raise SystemExit(3)

    async def exits(turn: Turn) -> ToolResult:
        await turn.run_blocking(leave)
        return DONE

    actor = await open_session(exits=exits)
    assert isinstance(error_of(await play(actor, "exits").wait()), InternalFault)
    assert await play(actor, "at_once", "turn-2").wait() == Finished(DONE)
    assert "CommandExited" in caplog.text


class PunctualCrew(Crew):
    """Its thread comes back exactly while the end of its turn is on its way to the actor."""

    __slots__ = ("_looked",)

    def __init__(self, limiter: trio.CapacityLimiter) -> None:
        super().__init__(limiter)
        self._looked = 0

    @property
    def busy(self) -> bool:
        self._looked += 1
        return self._looked == 1


async def test_a_thread_that_returns_while_the_end_of_its_turn_is_posted_frees_the_session(
    open_session: OpenSession, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "Crew", PunctualCrew)
    actor = await open_session()
    await play(actor, "for_ever", timeout=5).wait()
    await trio.sleep(60)
    assert await play(actor, "at_once", "turn-2").wait() == Finished(DONE)

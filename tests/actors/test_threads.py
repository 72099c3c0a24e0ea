"""Worker threads, with real threads: they cannot be stopped, so everything else must be able to."""

from __future__ import annotations

import contextvars
import sys
import threading
from typing import NoReturn

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from greenroom.actors.threads import CommandExited, Crew

COLOUR = contextvars.ContextVar("COLOUR", default="none")


class Held:
    """Code that says when it is being run, and blocks until it is let go."""

    def __init__(self, result: str = "late") -> None:
        self.entered = threading.Event()
        self.let_go = threading.Event()
        self._result = result

    def __call__(self) -> str:
        self.entered.set()
        assert self.let_go.wait(10)
        return self._result

    async def wait_until_entered(self) -> None:
        assert await trio.to_thread.run_sync(self.entered.wait, 10)


@pytest.fixture
def limiter() -> trio.CapacityLimiter:
    return trio.CapacityLimiter(2)


async def test_a_call_runs_in_another_thread_and_its_value_comes_back(limiter: trio.CapacityLimiter) -> None:
    crew = Crew(limiter)
    ident, total = await crew.run(lambda *given: (threading.get_ident(), sum(given)), 1, 2, 3)
    assert ident != threading.get_ident()
    assert total == 6
    assert not crew.busy
    assert limiter.borrowed_tokens == 0


async def test_an_exception_comes_back_as_it_was_raised(limiter: trio.CapacityLimiter) -> None:
    crew = Crew(limiter)
    raised = KeyError("missing")

    def fail() -> NoReturn:
        raise raised

    with pytest.raises(KeyError) as caught:
        await crew.run(fail)
    assert caught.value is raised
    assert not crew.busy
    assert limiter.borrowed_tokens == 0


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
async def test_code_that_tries_to_end_the_process_ends_its_call_alone(
    limiter: trio.CapacityLimiter, kind: type[BaseException]
) -> None:
    def leave() -> NoReturn:
        raise kind

    with pytest.raises(CommandExited, match=kind.__name__) as caught:
        await Crew(limiter).run(leave)
    assert isinstance(caught.value.__cause__, kind)


async def test_sys_exit_in_a_command_becomes_an_ordinary_exception(limiter: trio.CapacityLimiter) -> None:
    with pytest.raises(CommandExited):
        await Crew(limiter).run(sys.exit, 3)
    assert issubclass(CommandExited, Exception)


async def test_a_cancelled_waiter_leaves_at_once_while_the_thread_is_held(limiter: trio.CapacityLimiter) -> None:
    crew, held = Crew(limiter), Held()
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crew.run, held)
            await held.wait_until_entered()
            scope.cancel()
    assert scope.cancelled_caught
    assert not held.let_go.is_set()
    assert crew.busy
    assert limiter.borrowed_tokens == 1
    held.let_go.set()
    await crew.wait_until_returned()
    assert limiter.borrowed_tokens == 0


async def test_a_crew_is_busy_until_the_last_of_its_abandoned_calls_is_back(
    limiter: trio.CapacityLimiter, nursery: trio.Nursery
) -> None:
    crew, first, second = Crew(limiter), Held(), Held()
    async with trio.open_nursery() as calls:
        calls.start_soon(crew.run, first)
        calls.start_soon(crew.run, second)
        await first.wait_until_entered()
        await second.wait_until_entered()
        calls.cancel_scope.cancel()
    returned = trio.Event()

    async def wait() -> None:
        await crew.wait_until_returned()
        returned.set()

    nursery.start_soon(wait)
    first.let_go.set()
    while limiter.borrowed_tokens > 1:
        await trio.lowlevel.checkpoint()
    await wait_all_tasks_blocked()
    assert crew.busy
    assert not returned.is_set()
    second.let_go.set()
    await returned.wait()
    assert not crew.busy


async def test_nobody_waits_for_a_crew_that_is_not_at_work(limiter: trio.CapacityLimiter) -> None:
    await Crew(limiter).wait_until_returned()


async def test_the_limit_holds_for_all_crews_together_and_counts_abandoned_calls(
    limiter: trio.CapacityLimiter, nursery: trio.Nursery
) -> None:
    abandoned, working, waiting = Held(), Held(), Held()
    first, second = Crew(limiter), Crew(limiter)
    async with trio.open_nursery() as calls:
        calls.start_soon(first.run, abandoned)
        await abandoned.wait_until_entered()
        calls.cancel_scope.cancel()
    nursery.start_soon(second.run, working)
    await working.wait_until_entered()
    nursery.start_soon(second.run, waiting)
    await wait_all_tasks_blocked()
    assert limiter.borrowed_tokens == 2
    assert not waiting.entered.is_set()
    abandoned.let_go.set()
    await waiting.wait_until_entered()
    working.let_go.set()
    waiting.let_go.set()
    await second.wait_until_returned()
    assert limiter.borrowed_tokens == 0


async def test_whoever_is_cancelled_while_waiting_for_a_thread_never_gets_one(nursery: trio.Nursery) -> None:
    limiter = trio.CapacityLimiter(1)
    crew, held, never = Crew(limiter), Held(), Held()
    nursery.start_soon(crew.run, held)
    await held.wait_until_entered()
    other = Crew(limiter)
    async with trio.open_nursery() as calls:
        calls.start_soon(other.run, never)
        await wait_all_tasks_blocked()
        assert not other.busy
        calls.cancel_scope.cancel()
    held.let_go.set()
    await crew.wait_until_returned()
    assert not never.entered.is_set()
    assert limiter.borrowed_tokens == 0


async def test_a_late_result_is_discarded_and_the_next_call_gets_its_own(limiter: trio.CapacityLimiter) -> None:
    crew, held = Crew(limiter), Held("late")
    async with trio.open_nursery() as calls:
        calls.start_soon(crew.run, held)
        await held.wait_until_entered()
        calls.cancel_scope.cancel()
    held.let_go.set()
    assert await crew.run(lambda: "mine") == "mine"
    await crew.wait_until_returned()


async def test_a_late_exception_is_discarded_too(limiter: trio.CapacityLimiter) -> None:
    crew, held = Crew(limiter), Held()

    def fail() -> NoReturn:
        held()
        raise RuntimeError("too late to matter")

    async with trio.open_nursery() as calls:
        calls.start_soon(crew.run, fail)
        await held.wait_until_entered()
        calls.cancel_scope.cancel()
    held.let_go.set()
    await crew.wait_until_returned()
    assert not crew.busy


def test_a_thread_that_comes_back_after_the_loop_has_gone_disturbs_nobody() -> None:
    held = Held()
    ended = threading.Event()

    def play() -> None:
        held()
        ended.set()

    async def live() -> None:
        async with trio.open_nursery() as calls:
            calls.start_soon(Crew(trio.CapacityLimiter(1)).run, play)
            await held.wait_until_entered()
            calls.cancel_scope.cancel()

    trio.run(live)
    held.let_go.set()
    # An exception in the thread would be a warning, and so an error, here.
    assert ended.wait(10)


async def test_the_code_sees_the_context_variables_of_its_turn_and_cannot_change_them(
    limiter: trio.CapacityLimiter,
) -> None:
    def look() -> str:
        seen = COLOUR.get()
        COLOUR.set("red")
        return seen

    COLOUR.set("green")
    assert await Crew(limiter).run(look) == "green"
    assert COLOUR.get() == "green"


async def test_a_thread_that_cannot_be_started_gives_its_place_back(
    limiter: trio.CapacityLimiter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more(*_: object) -> NoReturn:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(trio.lowlevel, "start_thread_soon", no_more)
    crew = Crew(limiter)
    with pytest.raises(RuntimeError, match="can't start"):
        await crew.run(int)
    assert not crew.busy
    assert limiter.borrowed_tokens == 0

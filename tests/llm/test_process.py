"""The life of the child and of its calls, with a stand-in that starts at once and does as it is told."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from greenroom.config.secret import Secret
from greenroom.workflow.llm import link
from greenroom.workflow.llm.errors import LlmNotConfigured, LlmRefused, LlmTimedOut, LlmUnavailable
from greenroom.workflow.llm.framing import FRAME_LIMIT
from greenroom.workflow.llm.port import Delta, Message, Purpose, Request
from greenroom.workflow.llm.process import Limits, LlmProcess
from greenroom.workflow.llm.routes import Routes
from tests.llm.waiting import is_gone, until

STAND_IN = (sys.executable, str(Path(__file__).with_name("stand_in.py")))
KEY = "sk-very-secret"
ROUTES = Routes({"LLM_AGENT": "some/model"}, {"LITELLM_API_KEY_AGENT": Secret(KEY)})


def saying(text: str) -> Request:
    return Request(Purpose.AGENT, [Message("user", text)])


@asynccontextmanager
async def running(mode: str = "normal", limits: Limits | None = None) -> AsyncIterator[LlmProcess]:
    llm = LlmProcess(ROUTES, limits or Limits(call_timeout=10), command=(*STAND_IN, mode), jitter=lambda: 0.0)
    async with trio.open_nursery() as nursery:
        await nursery.start(llm.run)
        yield llm
        nursery.cancel_scope.cancel()


def pid_of(llm: LlmProcess) -> int:
    assert llm.pid is not None
    return llm.pid


async def test_the_child_starts_with_the_first_call_and_not_before() -> None:
    async with running() as llm:
        await trio.testing.wait_all_tasks_blocked()
        assert llm.pid is None
        assert (await llm.complete(saying("hello"))).text == "hello"
        assert llm.pid is not None


async def test_calls_that_come_while_the_child_starts_share_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with running() as llm:
        answers: list[str] = []

        async def ask(text: str) -> None:
            answers.append((await llm.complete(saying(text))).text)

        async with trio.open_nursery() as callers:
            for number in range(20):
                callers.start_soon(ask, str(number))
        assert sorted(answers, key=int) == [str(number) for number in range(20)]
    assert caplog.text.count("language model process ready") == 1


async def test_stopping_ends_the_child() -> None:
    async with running() as llm:
        await llm.complete(saying("hello"))
        pid = pid_of(llm)
    assert is_gone(pid)
    with pytest.raises(LlmUnavailable, match="starting or stopping"):
        await llm.complete(saying("hello"))


async def test_a_child_that_does_not_hear_the_goodbye_is_killed() -> None:
    async with running() as llm:
        await llm.complete(saying("hello"))
        pid = pid_of(llm)
        os.kill(pid, signal.SIGSTOP)
    assert is_gone(pid)


async def test_the_calls_of_a_child_that_dies_fail_and_the_next_one_has_a_new_child() -> None:
    async with running() as llm:
        await llm.complete(saying("hello"))
        before = llm.pid
        async with trio.open_nursery() as callers:
            callers.start_soon(expect_lost, llm, "silence")
            callers.start_soon(expect_lost, llm, "silence")
            await trio.testing.wait_all_tasks_blocked()
            callers.start_soon(expect_lost, llm, "die")
        assert (await llm.complete(saying("hello again"))).text == "hello again"
        assert llm.pid != before


async def expect_lost(llm: LlmProcess, text: str) -> None:
    with pytest.raises(LlmUnavailable, match="stopped in the middle") as caught:
        await llm.complete(saying(text))
    assert caught.value.data == {"purpose": "agent", "retry_after": 1}


async def test_a_child_that_keeps_dying_rests_longer_each_time() -> None:
    async with running() as llm:
        await expect_lost(llm, "die")
        await expect_lost(llm, "die")
        with pytest.raises(LlmUnavailable, match="keeps stopping") as caught:
            await llm.complete(saying("hello"))
        assert caught.value.retry_after == 2


async def test_a_child_without_litellm_says_what_to_install() -> None:
    async with running("unready") as llm:
        for _ in range(2):
            with pytest.raises(LlmUnavailable, match="pip install litellm"):
                await llm.complete(saying("hello"))


async def test_a_program_that_is_not_there_is_no_crash() -> None:
    llm = LlmProcess(ROUTES, command=("/nowhere/python",))
    async with trio.open_nursery() as nursery:
        await nursery.start(llm.run)
        with pytest.raises(LlmUnavailable, match="could not be started"):
            await llm.complete(saying("hello"))
        nursery.cancel_scope.cancel()


async def test_a_child_that_is_never_ready_is_given_up() -> None:
    async with running("mute", Limits(start_timeout=0.2)) as llm:
        with pytest.raises(LlmUnavailable, match="not ready in time"):
            await llm.complete(saying("hello"))


async def test_a_child_that_sends_something_else_is_replaced() -> None:
    async with running() as llm:
        await llm.complete(saying("hello"))
        await expect_lost(llm, "garbage")
        assert (await llm.complete(saying("hello"))).text == "hello"


async def test_a_call_without_an_answer_ends_in_its_time_and_is_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    async with running(limits=Limits(call_timeout=0.5)) as llm:
        await llm.complete(saying("hello"))
        before = llm.pid
        with pytest.raises(LlmTimedOut) as caught:
            await llm.complete(saying("silence"))
        assert caught.value.code == 504
        await until(lambda: "cancelled 2" in caplog.text)
        assert llm.pid == before


async def test_a_child_that_is_stuck_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_PONG_SECONDS", 0.1)
    async with running(limits=Limits(call_timeout=0.5)) as llm:
        await llm.complete(saying("hello"))
        pid = pid_of(llm)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(LlmTimedOut):
            await llm.complete(saying("hello"))
        await until(lambda: llm.pid is None)
        assert (await llm.complete(saying("hello"))).text == "hello"
        assert is_gone(pid)


async def test_a_cancelled_call_tells_the_child(caplog: pytest.LogCaptureFixture) -> None:
    async with running() as llm:
        await llm.complete(saying("hello"))
        async with trio.open_nursery() as callers:
            callers.start_soon(llm.complete, saying("silence"))
            await trio.testing.wait_all_tasks_blocked()
            callers.cancel_scope.cancel()
        await until(lambda: "cancelled 2" in caplog.text)


async def test_no_more_calls_are_in_flight_than_there_are_places() -> None:
    async with running(limits=Limits(max_calls=1, call_timeout=0.5)) as llm:
        await llm.complete(saying("hello"))
        async with trio.open_nursery() as callers:
            callers.start_soon(expect_timeout, llm, "silence")
            await trio.testing.wait_all_tasks_blocked()
            await expect_timeout(llm, "hello")


async def expect_timeout(llm: LlmProcess, text: str) -> None:
    with pytest.raises(LlmTimedOut):
        await llm.complete(saying(text))


async def test_what_is_heard_is_complete_and_in_order() -> None:
    heard: list[Delta] = []
    async with running() as llm:
        await llm.complete(saying("deltas:500"), on_delta=heard.append)
    assert "".join(delta.text for delta in heard) == "".join(f"{index} " for index in range(500))
    assert {delta.attempt for delta in heard} == {1}


async def test_what_the_child_prints_is_logged_without_keys(caplog: pytest.LogCaptureFixture) -> None:
    async with running() as llm:
        await llm.complete(saying(f"print:the key is {KEY}"))
        await until(lambda: "language model process: the key is ***" in caplog.text)
    assert KEY not in caplog.text


async def test_a_request_that_is_too_large_is_refused_here() -> None:
    async with running() as llm:
        with pytest.raises(LlmRefused, match="too large to be sent"):
            await llm.complete(saying("x" * FRAME_LIMIT))
        assert (await llm.complete(saying("hello"))).text == "hello"


async def test_a_server_error_is_tried_three_times(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with running() as llm:
        with pytest.raises(LlmUnavailable, match="cannot be reached"):
            await llm.complete(saying("fail:502"))
    assert [vars(record)["tries"] for record in caplog.records if "provider failed" in record.message] == [1, 2, 3]


async def test_a_purpose_without_a_model_is_said_to_have_none() -> None:
    async with running() as llm:
        assert llm.configured(Purpose.AGENT)
        assert not llm.configured(Purpose.PARAM_EXTRACTION)
        with pytest.raises(LlmNotConfigured, match="set LLM_PARAM_EXTRACTION and restart"):
            await llm.complete(Request(Purpose.PARAM_EXTRACTION, [Message("user", "hello")]))
        assert llm.pid is None

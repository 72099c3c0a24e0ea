"""Sessions over a real socket: which one a call means, one turn at a time, and what happens when there are too many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import trio
import trio.testing

from greenroom.persistence.journal import MemoryJournal, TurnRecord
from greenroom.workflow.port import Turn
from greenroom.workflow.values import SessionUse
from tests.transport.playhouse import House, Script, answer, error_of, eventually, open_house


class Gate:
    """A play that a test can hold open and let go."""

    def __init__(self) -> None:
        self.entered = trio.Event()
        self.opened = trio.Event()
        self.ended: list[str] = []
        self.left = trio.Event()

    async def play(self, arguments: Mapping[str, Any], turn: Turn) -> str:
        self.entered.set()
        try:
            await self.opened.wait()
        except trio.Cancelled:
            self.ended.append("cancelled")
            raise
        else:
            self.ended.append("finished")
        finally:
            self.left.set()
        return "through"


async def hello(arguments: Mapping[str, Any], turn: Turn) -> str:
    return f"hello from {turn.caller.user_id}"


REQUIRED = {"hold": SessionUse.REQUIRED, "hello": SessionUse.REQUIRED}


async def test_a_session_tool_without_a_session_is_told_to_initialize() -> None:
    async with open_house(Script({"hello": hello}, REQUIRED)) as house:
        error = error_of(await house.call("hello"))
        assert (error["code"], error["name"]) == (404, "session_not_found")
        assert "`initialize`" in error["message"]


async def test_a_call_without_a_handle_means_the_callers_most_recent_session() -> None:
    async with open_house(Script({"hello": hello}, REQUIRED)) as house:
        await house.open_session(user_id="alice")
        assert (await house.call("hello", {"user_id": "alice"}))["content"][0]["text"] == "hello from alice"
        assert error_of(await house.call("hello"))["code"] == 404


async def test_a_foreign_handle_and_an_unknown_one_give_the_same_404() -> None:
    async with open_house(Script({"hello": hello}, REQUIRED)) as house:
        handle = await house.open_session(user_id="alice")
        foreign = error_of(await house.call("hello", {"session_id": handle, "user_id": "bob"}))
        unknown = error_of(await house.call("hello", {"session_id": "made-up"}))
        assert foreign == unknown
        assert foreign["code"] == 404


async def test_a_handle_is_never_created_from_what_a_client_supplies() -> None:
    async with open_house(Script({"hello": hello}, REQUIRED)) as house:
        for _ in range(2):
            assert error_of(await house.call("hello", {"session_id": "mine"}))["code"] == 404
        assert len(house.app.supervisor) == 0


async def test_a_legacy_connection_is_an_alias_of_the_session_it_opened() -> None:
    async with open_house(Script({"hello": hello}, REQUIRED)) as house:
        headers = await house.shake_hands()
        missing = answer(await house.legacy(headers, "tools/call", {"name": "hello"}))["result"]
        assert error_of(missing)["code"] == 404
        opening = {"name": "initialize", "arguments": {"user_id": "alice"}}
        assert answer(await house.legacy(headers, "tools/call", opening))["result"]["isError"] is False
        said = answer(await house.legacy(headers, "tools/call", {"name": "hello"}))["result"]
        assert said["content"][0]["text"] == "hello from alice"


async def test_a_legacy_connection_of_its_own_does_not_fall_into_somebody_elses_session() -> None:
    async with open_house(Script({"hello": hello}, REQUIRED)) as house:
        await house.open_session()
        headers = await house.shake_hands()
        assert error_of(answer(await house.legacy(headers, "tools/call", {"name": "hello"}))["result"])["code"] == 404


async def test_a_second_turn_gets_409_with_the_name_of_the_running_one() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play}, REQUIRED)) as house:
        handle = await house.open_session()
        first: list[dict[str, Any]] = []

        async def hold() -> None:
            first.append(await house.call("hold", {"session_id": handle}))

        async with trio.open_nursery() as calls:
            calls.start_soon(hold)
            await gate.entered.wait()
            error = error_of(await house.call("hold", {"session_id": handle}))
            assert (error["code"], error["name"]) == (409, "turn_in_progress")
            assert error["data"]["turn_id"] in error["message"]
            gate.opened.set()
        assert first[0]["content"][0]["text"] == "through"
        assert gate.ended == ["finished"]


async def _hold(house: House, arguments: dict[str, Any]) -> None:
    await house.call("hold", arguments)


async def test_sessions_over_the_maximum_push_out_the_least_recently_used_idle_one() -> None:
    async with open_house(Script({"hello": hello}, REQUIRED), max_sessions=2) as house:
        first, second = await house.open_session(), await house.open_session()
        await house.call("hello", {"session_id": first})
        third = await house.open_session()
        assert error_of(await house.call("hello", {"session_id": second}))["code"] == 404
        for kept in (first, third):
            assert (await house.call("hello", {"session_id": kept}))["isError"] is False


async def test_when_no_session_idles_the_answer_is_503_with_retry_after() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play}, REQUIRED), max_sessions=1) as house:
        handle = await house.open_session()
        async with trio.open_nursery() as calls:
            calls.start_soon(_hold, house, {"session_id": handle})
            await gate.entered.wait()
            response = await house.modern("tools/call", {"name": "initialize", "arguments": {}})
            error = error_of(answer(response)["result"])
            assert (error["code"], error["name"]) == (503, "overloaded")
            assert int(response.headers["retry-after"]) >= 1
            gate.opened.set()


async def test_when_no_connection_idles_a_handshake_gets_503_with_retry_after() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play}), max_sessions=1) as house:
        headers = await house.shake_hands()
        async with trio.open_nursery() as calls:

            async def hold() -> None:
                await house.legacy(headers, "tools/call", {"name": "hold"})

            calls.start_soon(hold)
            await gate.entered.wait()
            with pytest.raises(AssertionError, match="no room for another connection"):
                await house.shake_hands()
            gate.opened.set()


class BrokenJournal(MemoryJournal):
    """A disk that is full for one session."""

    def __init__(self) -> None:
        super().__init__()
        self.doomed = ""

    def commit(self, record: TurnRecord) -> None:
        if record.session == self.doomed:
            raise OSError("disk full")
        super().commit(record)


async def test_a_crashing_actor_leaves_its_siblings_and_the_server_alone(caplog: pytest.LogCaptureFixture) -> None:
    journal = BrokenJournal()
    gate = Gate()
    async with open_house(Script({"hello": hello, "hold": gate.play}, REQUIRED), journal) as house:
        doomed, sibling = await house.open_session(), await house.open_session()
        journal.doomed = doomed
        kept: list[dict[str, Any]] = []
        async with trio.open_nursery() as calls:

            async def sibling_turn() -> None:
                kept.append(await house.call("hold", {"session_id": sibling}))

            calls.start_soon(sibling_turn)
            await gate.entered.wait()
            error = error_of(await house.call("hello", {"session_id": doomed}))
            assert (error["code"], error["name"]) == (500, "session_crashed")
            gate.opened.set()
        assert kept[0]["content"][0]["text"] == "through"
        assert error_of(await house.call("hello", {"session_id": doomed}))["code"] == 404
        assert (await house.client.get(f"{house.base}/probes/readyz")).status_code == 200
        assert "disk full" in caplog.text


async def test_a_turn_that_takes_too_long_is_504_and_the_session_is_free_at_once() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play, "hello": hello}, REQUIRED)) as house:
        handle = await house.open_session()
        error = error_of(await house.call("hold", {"session_id": handle, "timeout_seconds": 0.05}))
        assert (error["code"], error["name"], error["data"]["deferred"]) == (504, "turn_timed_out", False)
        assert gate.ended == ["cancelled"]
        assert (await house.call("hello", {"session_id": handle}))["isError"] is False


async def test_a_deferred_turn_goes_on_and_its_result_is_fetched_later() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play}, REQUIRED)) as house:
        handle = await house.open_session()
        arguments = {"session_id": handle, "timeout_seconds": 0.05, "on_timeout": "defer"}
        error = error_of(await house.call("hold", arguments))
        assert (error["code"], error["data"]["deferred"]) == (504, True)
        turn = {"session_id": handle, "turn_id": error["data"]["turn_id"]}
        assert (await house.call("get_turn", turn))["structuredContent"]["status"] == "running"
        gate.opened.set()
        for _ in range(2):
            result = await house.call("get_turn", {**turn, "wait_seconds": 5})
            assert result["content"][0]["text"] == "through"
        assert error_of(await house.call("get_turn", {**turn, "turn_id": "turn-unknown"}))["code"] == 404


async def test_a_deferred_turn_can_be_cancelled() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play, "hello": hello}, REQUIRED)) as house:
        handle = await house.open_session()
        arguments = {"session_id": handle, "timeout_seconds": 0.05, "on_timeout": "defer"}
        turn_id = error_of(await house.call("hold", arguments))["data"]["turn_id"]
        cancelled = await house.call("cancel_turn", {"session_id": handle, "turn_id": turn_id})
        assert cancelled["structuredContent"] == {"turn_id": turn_id, "status": "cancelled"}
        assert gate.ended == ["cancelled"]
        assert (await house.call("hello", {"session_id": handle}))["isError"] is False


async def test_an_idle_session_goes_after_its_time_to_live() -> None:
    async with open_house(Script({"hello": hello}, REQUIRED), session_ttl=0.2) as house:
        handle = await house.open_session()
        assert (await house.call("hello", {"session_id": handle}))["isError"] is False
        await eventually(lambda: len(house.app.supervisor) == 0)
        assert error_of(await house.call("hello", {"session_id": handle}))["code"] == 404


async def test_a_repeated_call_joins_the_running_turn_and_later_hears_its_result_again() -> None:
    gate = Gate()
    runs: list[str] = []

    async def once(arguments: Mapping[str, Any], turn: Turn) -> str:
        runs.append(turn.id)
        return await gate.play(arguments, turn)

    async with open_house(Script({"once": once}, {"once": SessionUse.REQUIRED})) as house:
        handle = await house.open_session()
        arguments = {"session_id": handle, "idempotency_key": "order 66"}
        results: list[str] = []

        async def again() -> None:
            results.append((await house.call("once", arguments))["content"][0]["text"])

        async with trio.open_nursery() as calls:
            calls.start_soon(again)
            await gate.entered.wait()
            calls.start_soon(again)
            await trio.testing.wait_all_tasks_blocked(0.01)
            gate.opened.set()
        await again()
        assert results == ["through"] * 3
        assert len(runs) == 1
        other = await house.call("once", {**arguments, "idempotency_key": "order 67"})
        assert other["isError"] is False
        assert len(runs) == 2


async def test_a_repeated_call_after_a_timeout_does_not_run_again() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play}, REQUIRED)) as house:
        handle = await house.open_session()
        arguments = {"session_id": handle, "idempotency_key": "k", "timeout_seconds": 0.05}
        first = error_of(await house.call("hold", arguments))
        gate.opened.set()
        assert error_of(await house.call("hold", arguments)) == first
        assert gate.ended == ["cancelled"]


async def test_a_turn_without_a_session_that_is_deferred_goes_on_in_the_one_opened_for_it() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play})) as house:
        error = error_of(await house.call("hold", {"timeout_seconds": 0.05, "on_timeout": "defer"}))
        assert error["data"]["deferred"] is True
        gate.opened.set()
        turn = {"session_id": error["data"]["session_id"], "turn_id": error["data"]["turn_id"], "wait_seconds": 5}
        assert (await house.call("get_turn", turn))["content"][0]["text"] == "through"


async def test_a_caller_with_a_key_that_lost_its_connection_finds_its_turn_again() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play}, REQUIRED)) as house:
        arguments = {"session_id": await house.open_session(), "idempotency_key": "once"}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_hold, house, arguments)
            await gate.entered.wait()
            nursery.cancel_scope.cancel()
        gate.opened.set()
        assert (await house.call("hold", arguments))["content"][0]["text"] == "through"
        assert gate.ended == ["finished"]

"""A connection of the older era by itself: requests in work, questions of ours, streams to come back to."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from trio.testing import wait_all_tasks_blocked

from greenroom.transport.mcp import jsonrpc
from greenroom.transport.mcp.exchange import Exchange
from greenroom.transport.mcp.jsonrpc import Notification, Response
from greenroom.transport.mcp.legacy import KEPT_STREAMS, MAX_SUBSCRIPTIONS, STANDING, LegacyConnection


def connection() -> LegacyConnection:
    server: Server[Any] = Server("test")
    return LegacyConnection(server, server.create_initialization_options())


def cancelled(**params: Any) -> Notification:
    return Notification("notifications/cancelled", params)


class Asked:
    """A question of ours under way, and what came of it."""

    def __init__(self, on: LegacyConnection) -> None:
        self._on = on
        self.written: list[dict[str, Any]] = []
        self.result: dict[str, Any] | None = None
        self.error: Exception | None = None

    async def run(self) -> None:
        async def write(message: dict[str, Any]) -> None:
            self.written.append(message)

        try:
            self.result = await self._on.ask_client("roots/list", {"a": 1}, write)
        except Exception as error:
            self.error = error


@pytest.fixture
async def asked(nursery: trio.Nursery) -> Asked:
    question = Asked(connection())
    nursery.start_soon(question.run)
    await wait_all_tasks_blocked()
    return question


async def test_ids_of_connections_are_long_and_their_own() -> None:
    first, second = connection(), connection()
    assert first.id != second.id
    assert len(first.id) >= 32


# --- requests in work --------------------------------------------------------------------------------------


async def test_a_request_in_work_keeps_the_connection_from_being_idle_and_can_be_cancelled() -> None:
    client = connection()
    scope = client.begin(jsonrpc.Request(7, "tools/call", None))
    assert client.is_working_on(7)
    assert (client.idle, connection().idle) == (False, True)
    assert client.in_flight == 1
    await client.accept(cancelled(requestId=8))
    assert not scope.cancel_called
    await client.accept(cancelled(requestId=7, reason="enough"))
    assert scope.cancel_called


@pytest.mark.parametrize("params", [None, {}, {"requestId": None}, {"requestId": "7"}])
async def test_a_cancellation_of_nothing_is_ignored(params: dict[str, Any] | None) -> None:
    client = connection()
    scope = client.begin(jsonrpc.Request(7, "tools/call", None))
    await client.accept(Notification("notifications/cancelled", params))
    assert not scope.cancel_called


@pytest.mark.parametrize("strange", [[], {}, [7]])
async def test_a_cancellation_of_something_that_is_no_id_is_ignored(strange: Any) -> None:
    await connection().accept(cancelled(requestId=strange))


async def test_a_connection_that_is_read_is_not_idle() -> None:
    client = connection()
    client.readers += 1
    assert not client.idle


async def test_closing_cancels_what_is_in_work() -> None:
    client = connection()
    scope = client.begin(jsonrpc.Request(7, "tools/call", None))
    client.close()
    assert scope.cancel_called
    assert not client.registered


# --- questions of ours -------------------------------------------------------------------------------------


async def test_a_question_is_written_with_an_id_of_ours_and_waits_for_its_answer(asked: Asked) -> None:
    [question] = asked.written
    assert question == {
        "jsonrpc": "2.0",
        "id": "greenroom-1",
        "method": "roots/list",
        "params": {"a": 1},
    }
    await asked._on.accept(Response("greenroom-99", {"wrong": True}, None))
    await wait_all_tasks_blocked()
    assert asked.result is None
    await asked._on.accept(Response("greenroom-1", {"roots": []}, None))
    await wait_all_tasks_blocked()
    assert asked.result == {"roots": []}


async def test_an_error_of_the_client_is_an_error_of_the_protocol(asked: Asked) -> None:
    await asked._on.accept(Response("greenroom-1", None, {"code": -1, "message": "no", "data": 7}))
    await wait_all_tasks_blocked()
    assert isinstance(asked.error, MCPError)
    assert (asked.error.error.code, asked.error.error.message, asked.error.error.data) == (-1, "no", 7)


async def test_the_first_answer_counts(asked: Asked) -> None:
    await asked._on.accept(Response("greenroom-1", {"roots": [1]}, None))
    await asked._on.accept(Response("greenroom-1", {"roots": [2]}, None))
    await wait_all_tasks_blocked()
    await asked._on.accept(Response("greenroom-1", {"roots": [3]}, None))
    assert asked.result == {"roots": [1]}


async def test_a_connection_that_closes_answers_our_questions_with_an_error(asked: Asked) -> None:
    asked._on.close()
    await wait_all_tasks_blocked()
    assert isinstance(asked.error, MCPError)


@pytest.mark.parametrize("code", ["x", None, [], float("inf")])
async def test_an_error_of_the_client_in_a_strange_form_is_an_error_of_the_protocol_too(
    asked: Asked, code: Any
) -> None:
    await asked._on.accept(Response("greenroom-1", None, {"code": code, "message": 7}))
    await wait_all_tasks_blocked()
    assert isinstance(asked.error, MCPError)


# --- streams -----------------------------------------------------------------------------------------------


async def test_a_stream_is_found_by_the_id_of_any_of_its_events() -> None:
    client = connection()
    log = client.open_stream()
    log.append(b"1")
    log.append(b"2")
    for number in range(3):
        assert client.find_stream(f"{log.name}.{number}") == (log, number)


@pytest.mark.parametrize("number", ["3", "-1", "+1", "1.5", "", "x", " 1", "1 ", "\xb2", "1e0"])
async def test_an_event_that_never_was_finds_nothing(number: str) -> None:
    client = connection()
    log = client.open_stream()
    log.append(b"1")
    log.append(b"2")
    assert client.find_stream(f"{log.name}.{number}") is None
    assert client.find_stream(f"other.{number}") is None
    assert client.find_stream(number) is None


async def test_an_event_id_of_thousands_of_digits_finds_nothing() -> None:
    client = connection()
    log = client.open_stream()
    assert client.find_stream(f"{log.name}.{'9' * 5000}") is None


async def test_a_connection_keeps_only_so_many_finished_streams_and_all_that_are_alive() -> None:
    client = connection()
    alive = client.open_stream()
    finished = [client.open_stream() for _ in range(KEPT_STREAMS + 5)]
    for log in finished:
        log.append(b"answer", final=True)
    client.open_stream()
    kept = [log for log in finished if client.find_stream(log.event_id(1)) is not None]
    assert kept == finished[-KEPT_STREAMS:]
    assert client.find_stream(alive.event_id(0)) is not None


async def test_a_stream_that_nobody_can_come_back_for_is_forgotten() -> None:
    client = connection()
    log = client.open_stream()
    client.forget_stream(log)
    client.forget_stream(log)
    assert client.find_stream(log.event_id(0)) is None


async def test_news_wait_for_a_client_that_opened_the_standing_stream_and_for_no_other() -> None:
    client = connection()
    client.tell("notifications/tools/list_changed", None)
    log = client.standing_stream()
    assert log.end == 0
    client.tell("notifications/tools/list_changed", None)
    assert log.end == 1
    assert client.standing_stream() is log
    assert log.name == STANDING


async def test_a_standing_stream_that_ended_is_followed_by_a_new_one() -> None:
    client = connection()
    log = client.standing_stream()
    client.end_streams()
    assert log.done
    client.tell("notifications/tools/list_changed", None)
    assert log.end == 0
    assert client.standing_stream() is not log


async def test_subscriptions_are_bounded() -> None:
    client = connection()
    for number in range(MAX_SUBSCRIPTIONS):
        client.subscribe(f"x://{number}")
    with pytest.raises(MCPError):
        client.subscribe("x://more")
    assert len(client.subscriptions) == MAX_SUBSCRIPTIONS


async def test_an_end_to_a_subscription_makes_room_and_one_to_nothing_is_harmless() -> None:
    client = connection()
    client.subscribe("x://a")
    client.unsubscribe("x://a")
    client.unsubscribe("x://a")
    assert client.subscriptions == frozenset()


async def test_subscribing_again_to_the_same_is_no_further_subscription() -> None:
    client = connection()
    for number in range(MAX_SUBSCRIPTIONS):
        client.subscribe(f"x://{number}")
    client.subscribe("x://0")
    assert len(client.subscriptions) == MAX_SUBSCRIPTIONS


async def test_a_request_that_is_cancelled_is_answered_as_cancelled(nursery: trio.Nursery) -> None:
    async def never(ctx: Any, params: Any) -> Any:
        await trio.sleep_forever()

    client = LegacyConnection(Server("test", on_list_tools=never), None, "2025-06-18")
    request = jsonrpc.Request(7, "tools/list", None)
    answers: list[dict[str, Any]] = []

    async def work() -> None:
        answers.append(await client.answer(request, Exchange(request.id, None, connection=client)))

    nursery.start_soon(work)
    await wait_all_tasks_blocked()
    assert client.is_working_on(7)
    await client.accept(cancelled(requestId=7))
    await wait_all_tasks_blocked()
    [answer] = answers
    assert (answer["id"], answer["error"]["code"]) == (7, jsonrpc.REQUEST_CANCELLED)
    assert client.idle

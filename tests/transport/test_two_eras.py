"""One endpoint, two eras: what each promises its clients, over a real socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import trio

from greenroom.workflow.events import (
    ConnectionReleased,
    Direction,
    Level,
    Note,
    Progress,
    ResourceUpdated,
    ToolsChanged,
    Trace,
)
from greenroom.workflow.port import Turn
from greenroom.workflow.questions import Elicit, Elicited
from greenroom.workflow.values import SessionUse, ToolResult
from tests.transport.playhouse import (
    ACCEPT,
    LEGACY,
    MODERN,
    House,
    Script,
    Wire,
    answer,
    error_of,
    events,
    eventually,
    initialize_request,
    modern_request,
    open_house,
)
from tests.transport.test_sessions import Gate, hello

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


async def count(arguments: Mapping[str, Any], turn: Turn) -> str:
    for step in (1, 2, 3):
        turn.report(Progress(step, 3, f"step {step}"))
    return "counted"


async def trace(arguments: Mapping[str, Any], turn: Turn) -> str:
    turn.report(Trace(Direction.TO_WORKFLOW, 1, raw_command="add <a>1</a>"))
    turn.report(Trace(Direction.TO_AGENT, 2, command_name="add", response_text="1", success=True))
    return "traced"


async def ask_name(arguments: Mapping[str, Any], turn: Turn) -> str:
    answered = (await turn.ask({"who": Elicit("Your name?", NAME)}))["who"]
    assert isinstance(answered, Elicited)
    return f"{answered.action} {answered.content.get('name', '-')}"


@asynccontextmanager
async def following(house: House, headers: Mapping[str, str], body: Any) -> AsyncIterator[Wire]:
    """A streamed call, to be read message by message while it is under way."""
    async with Wire.open(house.address) as wire:
        await wire.request("POST", "/mcp", headers, json.dumps(body).encode())
        response = await wire.response()
        assert response["content-type"] == "text/event-stream; charset=utf-8"
        assert response["x-accel-buffering"] == "no"
        yield wire


# --- negotiation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
async def test_every_older_version_is_negotiated_and_served(version: str) -> None:
    async with open_house(Script({"count": count})) as house:
        headers = await house.shake_hands(version)
        assert headers["mcp-protocol-version"] == version
        result = answer(await house.legacy(headers, "tools/call", {"name": "count"}))["result"]
        assert result["content"][0]["text"] == "counted"


async def test_an_unknown_version_in_the_handshake_is_answered_with_our_newest_of_that_era() -> None:
    async with open_house(Script({})) as house:
        assert (await house.shake_hands("1999-01-01"))["mcp-protocol-version"] == LEGACY


async def test_discovery_tells_the_newer_version_and_what_is_served() -> None:
    async with open_house(Script({})) as house:
        result = answer(await house.modern("server/discover"))["result"]
        assert result["supportedVersions"] == [MODERN]
        assert {"tools", "prompts", "resources", "completions", "logging"} <= result["capabilities"].keys()


async def test_a_version_that_nobody_speaks_is_refused_with_the_ones_we_do() -> None:
    async with open_house(Script({})) as house:
        headers, body = modern_request("tools/list")
        headers["mcp-protocol-version"] = "2099-01-01"
        body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
        response = await house.client.post(house.url, headers=headers, json=body)
        assert response.status_code == 400
        assert response.json()["error"]["data"]["supported"] == [MODERN]


async def test_a_client_that_disagrees_with_itself_is_told_so() -> None:
    async with open_house(Script({})) as house:
        headers, body = modern_request("tools/list")
        del headers["mcp-protocol-version"]
        response = await house.client.post(house.url, headers=headers, json=body)
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_both_spellings_of_the_path_are_served_without_a_redirect(path: str) -> None:
    async with open_house(Script({})) as house:
        headers, body = modern_request("tools/list")
        response = await house.client.post(house.base + path, headers=headers, json=body, follow_redirects=False)
        assert response.status_code == 200


# --- progress, traces, logs --------------------------------------------------------------------------------


async def test_progress_arrives_before_the_answer_in_the_newer_era() -> None:
    async with open_house(Script({"count": count})) as house:
        response = await house.modern("tools/call", {"name": "count"}, progressToken="p")
        *progress, final = events(response.text)
        assert [each["params"]["progress"] for each in progress] == [1, 2, 3]
        assert {each["params"]["progressToken"] for each in progress} == {"p"}
        assert final["result"]["content"][0]["text"] == "counted"


async def test_without_a_token_nothing_is_streamed_and_the_answer_is_plain_json() -> None:
    async with open_house(Script({"count": count})) as house:
        response = await house.modern("tools/call", {"name": "count"})
        assert response.headers["content-type"] == "application/json"


async def test_a_trace_is_a_line_of_progress_and_a_log_message_for_who_asked_for_each() -> None:
    async with open_house(Script({"trace": trace})) as house:
        meta = {"progressToken": 7, "io.modelcontextprotocol/logLevel": "info"}
        response = await house.modern("tools/call", {"name": "trace"}, **meta)
        *reported, _ = events(response.text)
        lines = [each["params"]["message"] for each in reported if each["method"] == "notifications/progress"]
        data = [each["params"]["data"] for each in reported if each["method"] == "notifications/message"]
        assert lines == ["add <a>1</a>", "add done: 1"]
        assert [each["direction"] for each in data] == ["agent_to_workflow", "workflow_to_agent"]
        assert data[1]["timestamp"] == 2
        quiet = await house.modern("tools/call", {"name": "trace"})
        assert quiet.headers["content-type"] == "application/json"


async def test_an_older_client_chooses_its_log_level() -> None:
    async def notes(arguments: Mapping[str, Any], turn: Turn) -> str:
        for level in (Level.DEBUG, Level.INFO, Level.ERROR):
            turn.report(Note(level, level.value))
        return "noted"

    async with open_house(Script({"notes": notes})) as house:
        headers = await house.shake_hands()

        async def logged() -> list[str]:
            response = await house.legacy(headers, "tools/call", {"name": "notes"})
            return [each["params"]["level"] for each in events(response.text) if "method" in each]

        assert await logged() == ["info", "error"]
        assert "result" in answer(await house.legacy(headers, "logging/setLevel", {"level": "error"}))
        assert await logged() == ["error"]


# --- disconnecting and cancelling --------------------------------------------------------------------------


class ReportingGate(Gate):
    async def play(self, arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(Progress(1, 2, "inside"))
        return await super().play(arguments, turn)


async def test_disconnecting_cancels_the_turn_in_the_newer_era() -> None:
    gate = ReportingGate()
    async with open_house(Script({"hold": gate.play, "hello": hello})) as house:
        handle = await house.open_session()
        arguments = {"session_id": handle}
        headers, body = modern_request("tools/call", {"name": "hold", "arguments": arguments}, progressToken=1)
        async with following(house, headers, body) as messages:
            assert (await messages.message())["method"] == "notifications/progress"
        with trio.fail_after(5):
            await gate.left.wait()
        assert gate.ended == ["cancelled"]
        await eventually(lambda: house.app.supervisor.find(handle).idle)
        assert (await house.call("hello", arguments))["isError"] is False


async def test_disconnecting_before_anything_was_said_cancels_too() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play})) as house:
        with trio.move_on_after(5) as scope:

            async def leave_when_entered() -> None:
                await gate.entered.wait()
                scope.cancel()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(leave_when_entered)
                await house.modern("tools/call", {"name": "hold"})
        with trio.fail_after(5):
            await gate.left.wait()
        assert gate.ended == ["cancelled"]


async def test_disconnecting_does_not_cancel_in_the_older_era_and_the_stream_resumes() -> None:
    gate = ReportingGate()
    async with open_house(Script({"hold": gate.play})) as house:
        headers = await house.shake_hands()
        params = {"name": "hold", "_meta": {"progressToken": "p"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        async with following(house, headers, body) as messages:
            progress = await messages.message()
            event_id = messages.event_id or ""
        assert progress["method"] == "notifications/progress"
        assert not gate.ended
        gate.opened.set()
        resumed = await house.client.get(house.url, headers={**headers, "last-event-id": event_id})
        assert events(resumed.text)[-1]["result"]["content"][0]["text"] == "through"
        assert gate.ended == ["finished"]
        again = await house.client.get(house.url, headers={**headers, "last-event-id": event_id})
        assert events(again.text) == events(resumed.text)


async def test_an_older_client_cancels_with_a_notification() -> None:
    gate = ReportingGate()
    async with open_house(Script({"hold": gate.play})) as house:
        headers = await house.shake_hands()
        params = {"name": "hold", "_meta": {"progressToken": "p"}}
        body = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}
        async with following(house, headers, body) as messages:
            await messages.message()
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
            assert (await house.client.post(house.url, headers=headers, json=cancelled)).status_code == 202
            final = await messages.message()
        assert final["error"]["code"] == -32800
        assert gate.ended == ["cancelled"]


async def test_a_turn_may_ask_a_resumable_client_to_come_back_later() -> None:
    gate = Gate()

    async def long(arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(ConnectionReleased())
        return await gate.play(arguments, turn)

    async with open_house(Script({"long": long})) as house:
        headers = await house.shake_hands()
        response = await house.legacy(headers, "tools/call", {"name": "long"})
        assert events(response.text) == []
        priming = response.text.split("\n")
        assert priming[0].startswith("id: ")
        assert priming[1].startswith("retry: ")
        gate.opened.set()
        resumed = await house.client.get(house.url, headers={**headers, "last-event-id": priming[0][4:]})
        assert events(resumed.text)[-1]["result"]["content"][0]["text"] == "through"


@pytest.mark.parametrize("event_id", ["nonsense", "standing.99", "abcd.1", "abcd.", ".0", "standing.-1", "x.٣"])
async def test_an_event_id_that_is_not_ours_is_refused(event_id: str) -> None:
    async with open_house(Script({})) as house:
        headers = await house.shake_hands()
        response = await house.client.get(
            house.url, headers=httpx.Headers({**headers, "last-event-id": event_id}, encoding="utf-8")
        )
        assert response.status_code == 400


# --- questions ---------------------------------------------------------------------------------------------


async def test_a_question_is_returned_and_retried_in_the_newer_era() -> None:
    async with open_house(Script({"ask": ask_name})) as house:
        able: dict[str, Any] = {"capabilities": {"elicitation": {}}}
        first = await house.call("ask", **able)
        assert first["resultType"] == "input_required"
        assert first["inputRequests"]["who"]["params"]["message"] == "Your name?"
        retry = {
            "name": "ask",
            "arguments": {},
            "requestState": first["requestState"],
            "inputResponses": {"who": {"action": "accept", "content": {"name": "Ada"}}},
        }
        final = answer(await house.modern("tools/call", retry, **able))["result"]
        assert final["content"][0]["text"] == "accept Ada"
        late = error_of(answer(await house.modern("tools/call", retry, **able))["result"])
        assert (late["code"], late["name"]) == (409, "late_answer")


async def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    async with open_house(Script({"ask": ask_name})) as house:
        able: dict[str, Any] = {"capabilities": {"elicitation": {}}}
        asked = await house.call("ask", **able)
        for content in ({"name": 7}, {}):
            retry = {
                "name": "ask",
                "arguments": {},
                "requestState": asked["requestState"],
                "inputResponses": {"who": {"action": "accept", "content": content}},
            }
            asked = answer(await house.modern("tools/call", retry, **able))["result"]
            assert asked["resultType"] == "input_required"


async def test_a_state_that_was_tampered_with_or_moved_to_another_call_is_refused() -> None:
    async with open_house(Script({"ask": ask_name, "other": ask_name})) as house:
        able: dict[str, Any] = {"capabilities": {"elicitation": {}}}
        state = (await house.call("ask", **able))["requestState"]
        for name, changed in (("ask", state[:-2] + "AA"), ("other", state)):
            response = await house.modern("tools/call", {"name": name, "requestState": changed}, **able)
            assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)


async def test_a_session_that_waits_for_an_answer_says_so_and_can_be_freed() -> None:
    script = Script({"ask": ask_name, "hello": hello}, {"ask": SessionUse.REQUIRED})
    async with open_house(script) as house:
        handle = await house.open_session()
        arguments = {"session_id": handle}
        assert (await house.call("ask", arguments, capabilities={"elicitation": {}}))["inputRequests"]
        error = error_of(await house.call("hello", arguments))
        assert (error["code"], error["name"]) == (409, "turn_in_progress")
        assert "waiting for an answer" in error["message"]
        cancelled = await house.call("cancel_turn", {**arguments, "turn_id": error["data"]["turn_id"]})
        assert cancelled["structuredContent"]["status"] == "cancelled"
        assert (await house.call("hello", arguments))["isError"] is False


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"result": {"action": "accept", "content": {"name": "Ada"}}}, "accept Ada"),
        ({"result": {"action": "decline"}}, "decline -"),
        ({"error": {"code": -32603, "message": "no"}}, "cancel -"),
    ],
)
async def test_a_question_is_pushed_in_the_older_era(reply: dict[str, Any], said: str) -> None:
    async with open_house(Script({"ask": ask_name})) as house:
        headers = await house.shake_hands(capabilities={"elicitation": {}})
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask"}}
        async with following(house, headers, body) as messages:
            question = await messages.message()
            assert question["method"] == "elicitation/create"
            response = {"jsonrpc": "2.0", "id": question["id"], **reply}
            assert (await house.client.post(house.url, headers=headers, json=response)).status_code == 202
            final = await messages.message()
        assert final["result"]["content"][0]["text"] == said


async def test_a_client_that_cannot_be_asked_gets_a_protocol_error_that_names_what_is_missing() -> None:
    async with open_house(Script({"ask": ask_name})) as house:
        response = await house.modern("tools/call", {"name": "ask"})
        assert response.status_code == 400
        assert response.json()["error"]["data"] == {"requiredCapabilities": {"elicitation": {}}}


# --- the older era's connection ----------------------------------------------------------------------------


async def test_after_delete_the_connection_is_404_and_its_calls_are_cancelled() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play})) as house:
        headers = await house.shake_hands()
        async with trio.open_nursery() as calls:

            async def hold() -> None:
                await house.legacy(headers, "tools/call", {"name": "hold"})

            calls.start_soon(hold)
            await gate.entered.wait()
            assert (await house.client.delete(house.url, headers=headers)).status_code == 200
        assert gate.ended == ["cancelled"]
        assert (await house.legacy(headers, "tools/list")).status_code == 404
        assert (await house.client.delete(house.url, headers=headers)).status_code == 404


async def test_the_session_outlives_the_connection_that_opened_it() -> None:
    async with open_house(Script({"hello": hello}, {"hello": SessionUse.REQUIRED})) as house:
        headers = await house.shake_hands()
        opened = answer(await house.legacy(headers, "tools/call", {"name": "initialize"}))["result"]
        await house.client.delete(house.url, headers=headers)
        arguments = {"session_id": opened["structuredContent"]["session_id"]}
        assert (await house.call("hello", arguments))["isError"] is False


async def test_a_call_without_any_session_id_is_served_all_the_same() -> None:
    async with open_house(Script({"count": count})) as house:
        result = answer(await house.legacy(ACCEPT, "tools/call", {"name": "count"}))["result"]
        assert result["content"][0]["text"] == "counted"
        assert answer(await house.legacy(ACCEPT, "tools/list"))["result"]["tools"]


async def test_requests_before_the_handshake_on_an_unknown_session_are_404() -> None:
    async with open_house(Script({})) as house:
        assert (await house.legacy({**ACCEPT, "mcp-session-id": "made-up"}, "tools/list")).status_code == 404


async def test_a_request_id_that_is_in_use_is_refused() -> None:
    gate = Gate()
    async with open_house(Script({"hold": gate.play})) as house:
        headers = await house.shake_hands()
        async with trio.open_nursery() as calls:

            async def hold() -> None:
                await house.legacy(headers, "tools/call", {"name": "hold"}, 5)

            calls.start_soon(hold)
            await gate.entered.wait()
            assert (await house.legacy(headers, "tools/call", {"name": "hold"}, 5)).status_code == 400
            gate.opened.set()


# --- news --------------------------------------------------------------------------------------------------


async def announce(arguments: Mapping[str, Any], turn: Turn) -> str:
    turn.announce(ToolsChanged())
    turn.announce(ResourceUpdated("test://one"))
    turn.announce(ResourceUpdated("test://other"))
    return "announced"


async def test_an_older_client_hears_of_changes_on_its_standing_stream() -> None:
    async with open_house(Script({"announce": announce})) as house:
        headers = await house.shake_hands()
        await house.legacy(headers, "resources/subscribe", {"uri": "test://one"})
        async with Wire.open(house.address) as stream:
            await stream.request("GET", "/mcp", headers)
            await stream.response()
            await stream.frame()
            assert stream.event_id == "standing.0"
            await house.legacy(headers, "tools/call", {"name": "announce"})
            heard = [await stream.message(), await stream.message()]
        assert [each["method"] for each in heard] == [
            "notifications/tools/list_changed",
            "notifications/resources/updated",
        ]
        assert heard[1]["params"] == {"uri": "test://one"}


async def test_a_newer_client_listens_and_hears_only_what_it_asked_for() -> None:
    async with open_house(Script({"announce": announce})) as house:
        wanted = {"notifications": {"resourceSubscriptions": ["test://one"]}}
        headers, body = modern_request("subscriptions/listen", wanted, request_id="listen-1")
        async with following(house, headers, body) as messages:
            assert (await messages.message())["method"] == "notifications/subscriptions/acknowledged"
            await house.call("announce")
            update = await messages.message()
            assert (update["method"], update["params"]["uri"]) == ("notifications/resources/updated", "test://one")
            assert update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "listen-1"
            await house.app.drain(0)
            final = await messages.message()
            assert final["id"] == "listen-1"
            assert "result" in final


# --- faults ------------------------------------------------------------------------------------------------


async def test_an_exceptions_text_never_reaches_a_client_and_its_stack_trace_always_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(arguments: Mapping[str, Any], turn: Turn) -> str:
        raise RuntimeError("the password is swordfish")

    async with open_house(Script({"fail": fail})) as house:
        headers = await house.shake_hands()
        modern = await house.modern("tools/call", {"name": "fail"})
        legacy = await house.legacy(headers, "tools/call", {"name": "fail"})
        for response in (modern, legacy):
            error = error_of(answer(response)["result"])
            assert (error["code"], error["name"]) == (500, "internal_error")
            assert "swordfish" not in response.text
        assert caplog.text.count("RuntimeError: the password is swordfish") == 2
        assert "Traceback" in caplog.text


async def test_wrong_arguments_are_a_422_that_says_what_is_wrong_and_where() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with open_house(Script({"hello": hello}, schemas={"hello": schema})) as house:
        error = error_of(await house.call("hello", {"n": "one"}))
        assert (error["code"], error["name"]) == (422, "invalid_arguments")
        assert error["data"]["errors"] == [{"path": "n", "message": "'one' is not of type 'integer'"}]
        assert "'n' is a required property" in error_of(await house.call("hello", {}))["message"]


async def test_a_structured_result_that_does_not_fit_its_schema_never_leaves(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def lie(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
        return ToolResult(structured={"n": "one"})

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    async with open_house(Script({"lie": lie}, outputs={"lie": schema})) as house:
        assert error_of(await house.call("lie"))["code"] == 500
        assert "does not fit its schema" in caplog.text


async def test_an_unknown_tool_is_a_fault_of_protocol() -> None:
    async with open_house(Script({})) as house:
        response = await house.modern("tools/call", {"name": "nothing"})
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)
        headers = await house.shake_hands()
        assert answer(await house.legacy(headers, "tools/call", {"name": "nothing"}))["error"]["code"] == -32602


async def test_a_missing_resource_has_the_code_of_its_era() -> None:
    async with open_house(Script({})) as house:
        gone = {"uri": "test://gone"}
        assert answer(await house.modern("resources/read", gone))["error"]["code"] == -32602
        headers = await house.shake_hands()
        missing = answer(await house.legacy(headers, "resources/read", gone))["error"]
        assert (missing["code"], missing["data"]) == (-32002, gone)


@pytest.mark.parametrize(
    ("changes", "body", "status", "code"),
    [
        ({}, b"{", 400, -32700),
        ({}, b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', 400, -32700),
        ({}, b"[" * 100_000, 400, -32700),
        ({}, b"[]", 400, -32600),
        ({}, b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', 400, -32600),
        ({"accept": "application/json"}, b"{}", 406, -32600),
        ({"content-type": "text/plain"}, b"{}", 415, -32600),
        ({"origin": "https://evil.example"}, b"{}", 403, -32600),
        ({"host": "evil.example"}, b"{}", 421, -32600),
    ],
)
async def test_what_is_not_a_request_gets_a_clear_refusal(
    changes: dict[str, str], body: bytes, status: int, code: int
) -> None:
    async with open_house(Script({})) as house:
        response = await house.client.post(house.url, headers={**ACCEPT, **changes}, content=body)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)


async def test_a_browser_page_of_an_allowed_origin_may_read_the_answer() -> None:
    async with open_house(Script({}), allowed_origins=("https://app.example",)) as house:
        headers = {**ACCEPT, "origin": "https://app.example"}
        preflight = await house.client.options(house.url, headers=headers)
        assert preflight.status_code == 204
        assert "mcp-session-id" in preflight.headers["access-control-allow-headers"]
        response = await house.client.post(house.url, headers=headers, json=initialize_request(LEGACY, {}))
        assert response.headers["access-control-allow-origin"] == "https://app.example"
        assert "mcp-session-id" in response.headers["access-control-expose-headers"]

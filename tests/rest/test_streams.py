"""Streams over REST: traces as they happen, one end, and what becomes of the turn when somebody leaves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel

from greenroom.config.errors import GreenroomError
from greenroom.transport.rest import streaming
from greenroom.workflow.events import Level, Note, Progress
from greenroom.workflow.port import Turn
from greenroom.workflow.values import Text, ToolResult
from tests.conversations.test_over_mcp import serving
from tests.rest.calling import NDJSON, SSE, Desk, Held, a_trace, desk_of, events_of, lines_of, told
from tests.rest.curling import curl, until
from tests.talk import library
from tests.talk.scripted import ScriptedModel, answer, run
from tests.transport.playhouse import Script, Wire, eventually, open_house
from tests.transport.test_traps import living, living_at_rest

LEND = "lend_book <title>Dune</title>"


class Refusal(GreenroomError):
    code, name = 422, "not_today"


# --- what comes --------------------------------------------------------------------------------------------


async def test_ndjson_has_a_line_per_trace_and_one_output_without_traces(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        response = await (await desk_of(house)).post("/execute_command", {"command": LEND}, NDJSON)
        assert response.headers["content-type"].startswith("application/x-ndjson")
        assert response.headers["x-accel-buffering"] == "no"
        assert "no-store" in response.headers["cache-control"]
        *traces, last = lines_of(response.text)
        assert {line["type"] for line in traces} == {"trace"}
        assert traces[-1]["data"]["response_text"] == "Lent 1 of Dune"
        assert last["type"] == "output"
        assert last["data"]["response_text"] == "Lent 1 of Dune"
        assert "traces" not in last["data"]


async def test_sse_has_an_event_per_trace_and_one_output_without_traces(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        response = await (await desk_of(house)).post("/execute_command", {"command": LEND}, SSE)
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        *traces, (kind, output) = events_of(response.text)
        assert {name for name, _ in traces} == {"trace"}
        assert traces[-1][1]["success"] is True
        assert (kind, output["response_text"]) == ("output", "Lent 1 of Dune")
        assert "traces" not in output


@pytest.mark.parametrize("path", ["/invoke_assistant", "/invoke_agent_stream"])
async def test_every_way_to_ask_streams_the_same(tmp_path: Path, path: str) -> None:
    llm = ScriptedModel(run("list_lent"), answer("Nothing is lent."))
    async with serving(tmp_path, llm) as house:
        desk = await desk_of(house)
        response = await desk.post(path, {"user_query": "which books have I borrowed"}, NDJSON)
        kinds = [line["type"] for line in lines_of(response.text)]
        assert kinds[-1] == "output"
        assert kinds.count("output") == 1
        assert set(kinds[:-1]) == {"trace"}


async def test_the_session_decides_on_the_form_where_the_request_leaves_it_open() -> None:
    gate = Held()
    gate.opened.set()
    async with open_house(Script({"invoke_agent": gate.play})) as house:
        for body, form in (({}, "application/x-ndjson"), ({"stream_format": "sse"}, "text/event-stream")):
            desk = await desk_of(house, **body)
            left_open = await desk.post("/invoke_agent_stream")
            assert left_open.headers["content-type"].startswith(form)
            asked = await desk.post("/invoke_agent_stream", {}, SSE if "ndjson" in form else NDJSON)
            assert not asked.headers["content-type"].startswith(form)


async def test_opening_a_session_as_a_stream_shows_its_startup_and_runs_it_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        response = await house.client.post(f"{house.base}/initialize", json={}, headers=NDJSON)
        *traces, last = lines_of(response.text)
        assert traces[0]["data"]["raw_command"] == "open_library"
        assert last["type"] == "output"
        desk = Desk(house, last["data"]["session_id"])
        ran = (await desk.execute("list_lent")).json()
        assert [trace["raw_command"] for trace in ran["traces"] if trace["raw_command"]] == ["list_lent"]


async def test_a_startup_that_fails_is_an_error_and_leaves_no_session() -> None:
    async def refuse(arguments: Mapping[str, Any], turn: Turn) -> str:
        raise Refusal("The shop is closed.")

    async with open_house(Script({"get_workflow_info": refuse})) as house:
        response = await house.client.post(f"{house.base}/initialize", headers=SSE)
        assert told(response, 422)["code"] == "not_today"
        assert len(house.app.supervisor) == 0


async def test_traces_and_progress_are_streamed_and_what_is_no_json_in_them_is_said_in_words() -> None:
    async def chatter(arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(Progress(1, float("inf"), "half"))
        turn.report(Progress(float("inf")))
        turn.report(Note(Level.INFO, "by the way"))
        turn.report(a_trace(7, "\u2028\x85\ud800"))
        odd = {"set": {1}, "nan": float("nan")}
        turn.report(type(a_trace())(a_trace().direction, 8, parameters=odd))
        return "done"

    async with open_house(Script({"execute_command": chatter})) as house:
        response = await (await desk_of(house)).post("/execute_command", {}, SSE)
        assert response.text.isascii()
        half, (_, first), (_, second), (kind, output) = events_of(response.text)
        assert half == ("progress", {"progress": 1, "total": None, "message": "half"})
        assert first["raw_command"] == "\u2028\x85\ud800"
        assert second["parameters"] == {"set": [1], "nan": "nan"}
        assert (kind, output) == ("output", {"response_text": "done"})


# --- when it comes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "trace", "output"),
    [
        ("application/x-ndjson", b'{"type":"trace"', b'{"type":"output"'),
        ("text/event-stream", b"event: trace\n", b"event: output\n"),
    ],
)
@pytest.mark.parametrize("path", ["/invoke_agent_stream", "/execute_command"])
async def test_curl_sees_a_trace_before_the_turn_is_over(accept: str, trace: bytes, output: bytes, path: str) -> None:
    gate = Held()
    async with open_house(Script({"invoke_agent": gate.play, "execute_command": gate.play})) as house:
        desk = await desk_of(house)
        async with curl(house.base, path, desk.handle, {}, accept) as process:
            seen = await until(process, trace)
            assert output not in seen
            assert gate.ended == []
            gate.opened.set()
            assert b"through" in await until(process, output)


async def test_curl_sees_the_traces_of_a_real_command_while_it_runs(tmp_path: Path) -> None:
    library.HELD.clear()
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        async with curl(house.base, "/execute_command", desk.handle, {"command": "hold"}, NDJSON["accept"]) as process:
            assert b'"output"' not in await until(process, b'"raw_command":"hold"')
            assert not library.HELD.is_set()
            library.HELD.set()
            assert b"let go" in await until(process, b'{"type":"output"')


@pytest.mark.parametrize("accept", [NDJSON, SSE])
async def test_the_response_begins_before_there_is_anything_to_say(accept: dict[str, str]) -> None:
    gate = Silent()
    async with open_house(Script({"invoke_agent": gate.play})) as house:
        desk = await desk_of(house)
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/invoke_agent_stream", {**desk.bearer, **accept})
            assert (await wire.response())["status"] == "200"
            assert gate.ended == []
            gate.opened.set()
            assert "through" in await wire.rest()


async def test_silence_is_broken_by_what_a_reader_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "KEEP_ALIVE_SECONDS", 0.05)
    for accept, sign in ((SSE, ": keep-alive"), (NDJSON, "")):
        gate = Silent()
        async with open_house(Script({"invoke_agent": gate.play})) as house:
            desk = await desk_of(house)
            async with Wire.open(house.address) as wire:
                await wire.request("POST", "/invoke_agent_stream", {**desk.bearer, **accept})
                assert (await wire.response())["status"] == "200"
                for _ in range(2):
                    assert await wire.frame() == sign
                assert gate.ended == []
                gate.opened.set()
                assert "through" in await wire.rest()


class Silent(Held):
    async def play(self, arguments: Mapping[str, Any], turn: Turn) -> str:
        return await super(Held, self).play(arguments, turn)


# --- how it ends -------------------------------------------------------------------------------------------


async def test_a_busy_session_is_a_real_409_for_a_stream_too() -> None:
    gate = Held()
    async with open_house(Script({"invoke_agent": gate.play})) as house:
        desk = await desk_of(house)
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/invoke_agent_stream", {**desk.bearer, **NDJSON})
            await gate.entered.wait()
            error = told(await desk.post("/invoke_agent_stream", {}, SSE), 409)
            assert error["details"]["turn_id"].startswith("turn-")
            gate.opened.set()
            assert (await wire.response())["status"] == "200"
            assert "through" in await wire.rest()


@pytest.mark.parametrize("accept", [NDJSON, SSE])
async def test_an_error_before_the_first_trace_has_its_own_status(accept: dict[str, str]) -> None:
    async def refuse(arguments: Mapping[str, Any], turn: Turn) -> str:
        raise Refusal("Not today.")

    async with open_house(Script({"execute_command": refuse})) as house:
        assert told(await (await desk_of(house)).post("/execute_command", {}, accept), 422)["code"] == "not_today"


@pytest.mark.parametrize("accept", [NDJSON, SSE])
async def test_an_error_after_the_first_trace_is_the_last_event_in_the_same_shape(accept: dict[str, str]) -> None:
    async def fail(arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(a_trace())
        raise Refusal("Not today.", why="rain")

    async with open_house(Script({"execute_command": fail})) as house:
        response = await (await desk_of(house)).post("/execute_command", {}, accept)
        assert response.status_code == 200
        told_last = {"error": {"code": "not_today", "message": "Not today.", "details": {"why": "rain"}}}
        if accept is NDJSON:
            assert lines_of(response.text)[-1] == {"type": "error", "data": told_last}
        else:
            assert events_of(response.text)[-1] == ("error", told_last)


async def test_a_turn_that_takes_too_long_ends_its_stream_with_504s_words() -> None:
    gate = Held()
    async with open_house(Script({"execute_command": gate.play})) as house:
        desk = await desk_of(house)
        response = await desk.post("/execute_command", {"timeout_seconds": 0.05}, NDJSON)
        first, last = lines_of(response.text)
        assert (first["type"], last["type"]) == ("trace", "error")
        assert last["data"]["error"]["code"] == "turn_timed_out"
        assert gate.ended == ["cancelled"]


@pytest.mark.parametrize("accept", [{}, NDJSON, SSE])
async def test_a_client_that_leaves_takes_its_turn_with_it(accept: dict[str, str]) -> None:
    gate = Held()
    async with open_house(Script({"execute_command": gate.play}), session_ttl=0.1) as house:
        desk = await desk_of(house)
        before = await living_at_rest()
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/execute_command", {**desk.bearer, **accept})
            await gate.entered.wait()
        with trio.fail_after(10):
            await gate.left.wait()
        assert gate.ended == ["cancelled"]
        await eventually(lambda: living() <= before, seconds=5)


@pytest.mark.parametrize("accept", [{}, NDJSON])
async def test_a_client_with_a_key_that_leaves_finds_its_turn_again(accept: dict[str, str]) -> None:
    gate = Held()
    async with open_house(Script({"execute_command": gate.play})) as house:
        desk = await desk_of(house)
        key = {"idempotency-key": "once"}
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/execute_command", {**desk.bearer, **accept, **key})
            await gate.entered.wait()
        actor = house.app.supervisor.find(desk.handle)
        await eventually(lambda: actor.callers == 0)
        gate.opened.set()
        again = await desk.post("/execute_command", {}, key)
        assert again.json() == {"response_text": "through"}
        assert gate.ended == ["finished"]


async def test_a_slow_reader_is_told_how_many_traces_it_lost_and_gets_the_output() -> None:
    flooded = trio.Event()

    async def flood(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
        for number in range(3000):
            turn.report(a_trace(number, "x" * 10_000))
            await trio.lowlevel.checkpoint()
        flooded.set()
        return ToolResult([Text("done")])

    async with open_house(Script({"execute_command": flood})) as house:
        desk = await desk_of(house)
        async with Wire.open(house.address, receive_buffer=4096) as wire:
            await wire.request("POST", "/execute_command", {**desk.bearer, **NDJSON})
            assert (await wire.response())["status"] == "200"
            with trio.fail_after(20):
                await flooded.wait()
            lines = lines_of(await wire.rest())
        lost = sum(line["data"]["count"] for line in lines if line["type"] == "dropped")
        seen = [line["data"]["timestamp"] for line in lines if line["type"] == "trace"]
        assert lost > 1000
        assert len(seen) + lost == 3000
        assert seen == sorted(seen)
        assert lines[-1] == {"type": "output", "data": {"response_text": "done"}}


async def test_a_stream_outlives_quarts_response_timeout() -> None:
    gate = Held()
    async with open_house(Script({"execute_command": gate.play})) as house:
        house.app.config["RESPONSE_TIMEOUT"] = 0.05
        desk = await desk_of(house)
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/execute_command", {**desk.bearer, **NDJSON})
            await wire.response()
            await trio.sleep(0.2)
            gate.opened.set()
            assert lines_of(await wire.rest())[-1]["type"] == "output"

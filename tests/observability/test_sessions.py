"""What an operator sees of sessions and their turns, on a real socket."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import trio

from greenroom.config.errors import InvalidArguments
from greenroom.workflow.events import Direction, Trace
from greenroom.workflow.port import Turn
from greenroom.workflow.questions import Elicit
from greenroom.workflow.values import Text, ToolResult
from tests.conversations.test_over_mcp import serving
from tests.observability.looking import get, only_session, refused, seen
from tests.transport.playhouse import Script, eventually, open_house

STEP = Trace(Direction.TO_WORKFLOW, 1, raw_command="buy tea")
NAME = Elicit("Your name?", {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})


async def hello(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
    turn.report(STEP)
    return ToolResult([Text("hi")], {"context": "the shop"}, traces=(STEP,))


async def refuse(arguments: Mapping[str, Any], turn: Turn) -> str:
    raise InvalidArguments("There is no such tea.")


async def ask_name(arguments: Mapping[str, Any], turn: Turn) -> str:
    await turn.ask({"name": NAME})
    return "done"


async def test_an_idle_session_is_listed_without_its_handle() -> None:
    async with open_house(Script({"hello": hello})) as house:
        handle = await house.open_session(user_id="anna")
        response = await get(house, "/sessions")
        session = await only_session(house)
        assert handle not in response.text
        assert session["id"] == hashlib.sha256(handle.encode()).hexdigest()[:12]
        expected = {"user_id": "anna", "phase": "idle", "turn": None, "queue_depth": 0, "callers": 0, "walk_on": False}
        assert {key: session[key] for key in expected} == expected
        assert session["context"] is None
        assert session["conversation_id"] is None
        assert 0 <= session["used_seconds_ago"] <= session["opened_seconds_ago"] < 60
        assert await seen(house, f"/sessions/{session['id']}") | {"opened_seconds_ago": 0, "used_seconds_ago": 0} == (
            session | {"opened_seconds_ago": 0, "used_seconds_ago": 0}
        )


async def test_a_session_on_stage_shows_what_it_plays() -> None:
    go_on = trio.Event()

    async def wait(arguments: Mapping[str, Any], turn: Turn) -> str:
        await go_on.wait()
        return "done"

    async with open_house(Script({"wait": wait})) as house, trio.open_nursery() as nursery:
        handle = await house.open_session()
        nursery.start_soon(house.call, "wait", {"session_id": handle, "deep": {"secret": 1}})
        session: dict[str, Any] = {"turn": None}
        with trio.fail_after(10):
            while session["turn"] is None:
                session = await only_session(house)
        assert session["phase"] == "running"
        assert session["callers"] == 1
        assert {key: session["turn"][key] for key in ("kind", "name")} == {"kind": "tool", "name": "wait"}
        assert session["turn"]["seconds"] >= 0
        (turn,) = (await seen(house, f"/sessions/{session['id']}/turns"))["turns"]
        assert (turn["id"], turn["status"], turn["duration_ms"]) == (session["turn"]["id"], "running", None)
        assert turn["input"] == {"deep": {"secret": 1}}
        go_on.set()


async def test_a_session_whose_turn_waits_for_an_answer_says_so() -> None:
    async with open_house(Script({"ask": ask_name})) as house:
        handle = await house.open_session()
        await house.call("ask", {"session_id": handle}, capabilities={"elicitation": {}})
        session = await only_session(house)
        assert (session["phase"], session["turn"]["name"]) == ("awaiting_input", "ask")


async def test_turns_are_shown_newest_first_with_their_ends() -> None:
    async with open_house(Script({"hello": hello, "refuse": refuse})) as house:
        handle = await house.open_session()
        await house.call("hello", {"session_id": handle})
        await house.call("refuse", {"session_id": handle})
        session = await only_session(house)
        assert session["context"] == "the shop"
        failed, done = (await seen(house, f"/sessions/{session['id']}/turns"))["turns"]
        assert (done["name"], done["status"], done["text"], done["error"]) == ("hello", "completed", "hi", None)
        assert [trace["raw_command"] for trace in done["traces"]] == ["buy tea"]
        assert (failed["name"], failed["status"]) == ("refuse", "invalid_arguments")
        assert failed["error"] == {"code": 422, "name": "invalid_arguments", "message": "There is no such tea."}
        assert failed["started_at"] >= done["started_at"] > 1_600_000_000_000
        assert done["duration_ms"] >= 0
        (newest,) = (await seen(house, f"/sessions/{session['id']}/turns?limit=1"))["turns"]
        assert newest["id"] == failed["id"]


async def test_a_kept_conversation_shows_what_was_asked_and_where_it_stands(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        handle = await house.open_session(user_id="anna")
        await house.call("execute_command", {"session_id": handle, "command": "what_can_i_do"})
        session = await only_session(house)
        assert session["conversation_id"]
        assert session["context"]
        (turn,) = (await seen(house, f"/sessions/{session['id']}/turns"))["turns"]
        assert turn["input"] == {"command": "what_can_i_do"}
        assert (turn["name"], turn["status"]) == ("execute_command", "completed")
        assert turn["conversation_id"] == session["conversation_id"]
        assert turn["traces"]


async def test_looking_does_not_keep_a_session_alive() -> None:
    async with open_house(Script({}), session_ttl=0.3) as house:
        await house.open_session()
        session = await only_session(house)

        async def is_gone() -> bool:
            return (await get(house, f"/sessions/{session['id']}")).status_code == 404

        with trio.fail_after(10):
            while not await is_gone():  # noqa: ASYNC110 - nothing announces it
                await trio.sleep(0.02)
        assert refused(await get(house, f"/sessions/{session['id']}/turns")) == (404, "session_not_found")


async def test_the_list_has_a_limit_and_begins_with_the_most_recently_used() -> None:
    async with open_house(Script({"hello": hello})) as house:
        handles = [await house.open_session(user_id=f"user-{number}") for number in range(5)]
        await house.call("hello", {"session_id": handles[1]})
        await eventually(lambda: house.app.supervisor.peek(handles[1]).idle)  # type: ignore[union-attr]
        listed = await seen(house, "/sessions?limit=2")
        assert listed["total"] == 5
        assert [each["user_id"] for each in listed["sessions"]] == ["user-1", "user-4"]
        for wrong in ("0", "-1", "1001", "x", "", "9" * 5000):
            assert refused(await get(house, f"/sessions?limit={wrong}")) == (422, "invalid_arguments")


async def test_a_handle_is_not_a_name_for_a_session_here() -> None:
    async with open_house(Script({})) as house:
        handle = await house.open_session()
        assert refused(await get(house, f"/sessions/{handle}")) == (404, "session_not_found")

"""Every route on a real socket, over a workflow folder and a real store: what it answers, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from tests.conversations.test_over_mcp import NAMED, serving
from tests.rest.calling import Desk, Held, desk_of, told
from tests.talk import library
from tests.talk.scripted import ScriptedModel, answer, run
from tests.transport.playhouse import Script, error_of, open_house
from tests.transport.test_sessions import hello

LEND = "lend_book <title>Dune</title>"


# --- opening a session -------------------------------------------------------------------------------------


async def test_initialize_opens_a_session_and_says_what_it_is_of(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        response = await house.client.post(f"{house.base}/initialize", json={"user_id": "alice"})
        opened = response.json()
        assert response.status_code == 200
        assert opened["workflow_info"]["description"].startswith("Lends books.")
        assert opened["conversation"]["turn_count"] == 0
        assert house.app.supervisor.find(opened["session_id"]).user_id == "alice"
        assert response.headers["cache-control"] == "no-store"


async def test_initialize_without_a_body_is_a_session_of_the_default_user(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        response = await house.client.post(f"{house.base}/initialize")
        assert house.app.supervisor.find(response.json()["session_id"]).user_id == "default_user"


async def test_initialize_goes_on_with_the_conversation_that_it_is_given(tmp_path: Path) -> None:
    async with serving(tmp_path, ScriptedModel(NAMED)) as house:
        desk = await desk_of(house, user_id="alice")
        await desk.execute(LEND)
        [first] = (await desk.get("/conversations")).json()["conversations"]
        await desk.post("/new_conversation")
        body = {"user_id": "alice", "conversation_id": first["conversation_id"]}
        again = await house.client.post(f"{house.base}/initialize", json=body)
        assert again.json()["conversation"]["conversation_id"] == first["conversation_id"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"user_id": 7}, "user_id"),
        ({"user_id": ""}, "user_id"),
        ({"stream_format": "xml"}, "stream_format"),
        ({"workflow_path": "/"}, ""),
    ],
)
async def test_initialize_refuses_what_does_not_fit_and_says_where(tmp_path: Path, body: Any, path: str) -> None:
    async with serving(tmp_path) as house:
        response = await house.client.post(f"{house.base}/initialize", json=body)
        error = told(response, 422)
        assert error["code"] == "invalid_arguments"
        assert [fault["path"] for fault in error["details"]["errors"]] == [path]
        assert len(house.app.supervisor) == 0


# --- turns -------------------------------------------------------------------------------------------------


async def test_a_command_is_run_and_answered_with_its_output_and_its_traces(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        response = await (await desk_of(house)).execute(LEND)
        output = response.json()
        assert response.status_code == 200
        assert (output["response_text"], output["success"], output["status"]) == ("Lent 1 of Dune", True, "completed")
        assert output["command_parameters"] == {"title": "Dune", "copies": 1}
        assert [trace["raw_command"] for trace in output["traces"] if trace["raw_command"]][-1] == LEND


async def test_an_action_is_a_command_with_its_parameters_as_json(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        parameters = {"title": "  <b>& so on\n", "copies": 2}
        done = await desk.post("/perform_action", {"command_name": "lend_book", "parameters": parameters})
        assert done.json()["command_parameters"] == parameters
        assert (await desk.post("/perform_action", {"command_name": "list_lent"})).json()["success"] is True


@pytest.mark.parametrize(
    "action",
    [
        {"command_name": "lend_book <title>x</title>"},
        {"command_name": "lend_book", "parameters": {"title>x</title><copies": "2"}},
        {"command_name": "lend_book", "parameters": [1]},
        {"parameters": {}},
    ],
)
async def test_an_action_cannot_smuggle_in_another(tmp_path: Path, action: Any) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        assert told(await desk.post("/perform_action", action), 422)["code"] == "invalid_arguments"
        assert (await desk.execute("list_lent")).json()["response_text"] == "nothing"


async def test_an_instruction_in_words_is_carried_out(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        done = await desk.post("/invoke_assistant", {"user_query": "which books have I borrowed"})
        assert done.json()["command_name"].endswith("list_lent")


async def test_the_agent_carries_out_a_task_and_its_traces_come_with_the_answer(tmp_path: Path) -> None:
    llm = ScriptedModel(run("lend_book", title="Dune"), answer("It is lent."))
    async with serving(tmp_path, llm) as house:
        desk = await desk_of(house)
        done = (await desk.post("/invoke_agent", {"user_query": "lend me Dune"})).json()
        assert done["response_text"] == "It is lent."
        assert done["traces"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("", "invalid_arguments"),
        ("lend_book <title>", "malformed_command"),
        ("no_such_thing", "unknown_command"),
        ("lend_book <copies>2</copies>", "invalid_parameters"),
    ],
)
async def test_a_command_that_cannot_be_run_is_422_with_the_reason(tmp_path: Path, command: str, code: str) -> None:
    async with serving(tmp_path) as house:
        error = told(await (await desk_of(house)).execute(command), 422)
        assert error["code"] == code
        assert error["details"]["errors"]


async def test_a_command_that_fails_is_500_and_keeps_its_secrets(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        response = await (await desk_of(house)).execute("burn")
        assert told(response, 500)["code"] == "command_failed"
        assert "swordfish" not in response.text


async def test_a_turn_that_takes_too_long_is_504_and_the_session_is_free() -> None:
    gate = Held()
    async with open_house(Script({"execute_command": gate.play, "get_commands": hello})) as house:
        desk = await desk_of(house)
        error = told(await desk.execute("x", timeout_seconds=0.05), 504)
        assert (error["code"], error["details"]["deferred"]) == ("turn_timed_out", False)
        assert gate.ended == ["cancelled"]
        assert (await desk.get("/commands")).status_code == 200


async def test_a_deferred_turn_goes_on_and_is_fetched_later() -> None:
    gate = Held()
    async with open_house(Script({"execute_command": gate.play})) as house:
        desk = await desk_of(house)
        error = told(await desk.execute("x", timeout_seconds=0.05, on_timeout="defer"), 504)
        turn_id = error["details"]["turn_id"]
        assert error["details"]["deferred"] is True
        running = await desk.get(f"/turns/{turn_id}")
        assert (running.status_code, running.json()) == (202, {"turn_id": turn_id, "status": "running"})
        gate.opened.set()
        finished = await desk.get(f"/turns/{turn_id}", wait_seconds=10)
        assert finished.status_code == 200
        assert finished.json() == {"turn_id": turn_id, "status": "finished", "output": {"response_text": "through"}}


async def test_a_session_that_is_busy_says_with_which_turn_and_that_one_can_be_stopped() -> None:
    gate = Held()
    async with open_house(Script({"execute_command": gate.play, "get_commands": hello})) as house:
        desk = await desk_of(house)
        answers: list[Any] = []

        async def hold() -> None:
            answers.append(await desk.execute("x"))

        async with trio.open_nursery() as calls:
            calls.start_soon(hold)
            await gate.entered.wait()
            turn_id = told(await desk.get("/commands"), 409)["details"]["turn_id"]
            assert told(await desk.execute("y"), 409)["details"]["turn_id"] == turn_id
            stopped = await desk.post("/cancel_pending")
            assert stopped.json() == {"status": "cancelled", "turn_id": turn_id}
        assert told(answers[0], 409)["code"] == "turn_cancelled"
        assert gate.ended == ["cancelled"]
        assert (await desk.get("/commands")).status_code == 200
        assert told(await desk.get(f"/turns/{turn_id}"), 409)["code"] == "turn_cancelled"


async def test_cancelling_when_nothing_runs_is_fine_and_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        assert (await desk.post("/cancel_pending")).json() == {"status": "idle", "turn_id": None}
        assert told(await desk.post("/cancel_pending", {"turn_id": "turn-x"}), 404)["code"] == "turn_not_found"
        await desk.execute(LEND)
        [turn] = (await _only_conversation(desk))["turns"]
        late = await desk.post("/cancel_pending", {"turn_id": turn["turn_id"]})
        assert late.json() == {"status": "finished", "turn_id": turn["turn_id"]}


async def test_a_key_makes_a_call_the_same_turn_in_header_and_body_alike(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        first = await desk.execute(LEND, idempotency_key="k")
        again = await desk.post("/execute_command", {"command": LEND}, {"idempotency-key": "k"})
        assert again.json()["response_text"] == first.json()["response_text"]
        assert (await desk.execute("list_lent")).json()["response_text"] == "Dune"
        both = await desk.post("/execute_command", {"command": LEND, "idempotency_key": "k"}, {"idempotency-key": "l"})
        assert told(both, 422)["code"] == "invalid_arguments"
        too_long = await desk.post("/execute_command", {"command": LEND}, {"idempotency-key": "k" * 257})
        assert told(too_long, 422)["code"] == "invalid_arguments"


async def test_a_key_that_comes_back_with_another_tool_is_another_turn(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        await desk.execute(LEND, idempotency_key="k")
        rated = await desk.post("/post_feedback", {"nl_feedback": "fine", "idempotency_key": "k"})
        assert rated.json()["status"] == "ok"


async def test_an_error_that_was_told_under_a_key_is_told_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        first = told(await desk.execute("burn", idempotency_key="k"), 500)
        house.app.supervisor.close(house.app.supervisor.find(desk.handle))
        again = told(await desk.execute("burn", idempotency_key="k"), 500)
        assert (again["code"], again["message"]) == (first["code"], first["message"])


# --- looking around ----------------------------------------------------------------------------------------


async def test_what_the_workflow_is_and_what_can_be_done(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        assert (await desk.get("/workflow_info")).json()["purpose"] == "Lends books."
        commands = (await desk.get("/commands")).json()["commands"]
        assert "lend_book" in {each["name"].rpartition("/")[2] for each in commands}
        assert told(await desk.get("/commands", limit=3), 422)["code"] == "invalid_arguments"


async def test_a_route_whose_tool_the_workflow_does_not_have_is_not_there() -> None:
    async with open_house(Script({"get_commands": hello})) as house:
        desk = await desk_of(house)
        assert (await desk.get("/commands")).json() == {"response_text": "hello from default_user"}
        assert told(await desk.execute("x"), 404)["code"] == "not_found"
        assert told(await desk.get("/conversations"), 404)["code"] == "not_found"
        assert told(await desk.get("/turns/t"), 404)["code"] == "turn_not_found"


# --- conversations -----------------------------------------------------------------------------------------


async def _only_conversation(desk: Desk, **query: Any) -> dict[str, Any]:
    [listed] = (await desk.get("/conversations")).json()["conversations"]
    read: dict[str, Any] = (await desk.get(f"/conversations/{listed['conversation_id']}", **query)).json()
    assert read["conversation"] == listed
    return read


async def test_conversations_are_begun_listed_searched_and_gone_on_with(tmp_path: Path) -> None:
    second = {"topic": "Shelves", "summary": "Walking about."}
    async with serving(tmp_path, ScriptedModel(NAMED, second)) as house:
        desk = await desk_of(house, user_id="alice")
        for command in (LEND, "open_shelf <letter>A</letter>"):
            await desk.execute(command)
            begun = (await desk.post("/new_conversation")).json()
            assert begun["status"] == "ok"
        listed = (await desk.get("/conversations", limit=2)).json()
        assert len(listed["conversations"]) == 2
        rest = (await desk.get("/conversations", cursor=listed["next_cursor"])).json()
        together = [*listed["conversations"], *rest["conversations"]]
        assert {each["topic"] for each in together} == {"", "Lending books", "Shelves"}
        assert "next_cursor" not in rest
        [found] = (await desk.get("/conversations", q="LENDING", limit=1)).json()["conversations"]
        assert found["topic"] == "Lending books"
        assert (await desk.get("/conversations", q="nowhere")).json() == {"conversations": []}
        # A page is never larger than was asked for, and none is seen twice or missed.
        page = (await desk.get("/conversations", q="s", limit=1)).json()
        other = (await desk.get("/conversations", q="s", limit=1, cursor=page["next_cursor"])).json()
        topics = [[each["topic"] for each in some["conversations"]] for some in (page, other)]
        assert topics == [["Shelves"], ["Lending books"]]
        gone_on = await desk.post("/activate_conversation", {"conversation_id": found["conversation_id"]})
        assert gone_on.json() == {"status": "ok"}
        await desk.execute("list_lent")
        read = (await desk.get(f"/conversations/{found['conversation_id']}")).json()
        assert [turn["input"]["command"] for turn in read["turns"]] == [LEND, "list_lent"]


async def test_a_conversation_is_read_page_by_page_from_its_end(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        for number in range(7):
            await desk.execute(f"lend_book <title>Volume {number}</title>")
        pages: list[list[int]] = []
        cursor: dict[str, str] = {}
        while True:
            page = await _only_conversation(desk, limit=3, **cursor)
            pages.append([turn["number"] for turn in page["turns"]])
            if "next_cursor" not in page:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert pages == [[5, 6, 7], [2, 3, 4], [1]]
        [turn] = (await _only_conversation(desk, q="volume 2", limit=2))["turns"]
        assert (turn["text"], turn["status"], turn["is_error"]) == ("Lent 1 of Volume 2", "completed", False)
        assert turn["output"]["response_text"] == turn["text"]
        assert turn["traces"][-1]["success"] is True
        assert turn["feedback"] is None


async def test_a_conversation_can_be_read_while_a_turn_runs(tmp_path: Path) -> None:
    library.HELD.clear()
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        await desk.execute(LEND)
        actor = house.app.supervisor.find(desk.handle)
        told(await desk.execute("hold", timeout_seconds=0.05, on_timeout="defer"), 504)
        assert not actor.idle
        assert len((await _only_conversation(desk))["turns"]) == 1
        told(await desk.get("/commands"), 409)
        assert (await desk.post("/cancel_pending")).json()["status"] == "cancelled"
        # The session is free, its thread is not: no second command beside it.
        assert told(await desk.execute(LEND), 409)["code"] == "turn_stopping"
        library.HELD.set()


async def test_what_is_not_there_or_not_a_cursor_is_said(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        assert told(await desk.get("/conversations/nope"), 404)["code"] == "conversation_not_found"
        error = told(await desk.post("/activate_conversation", {"conversation_id": "nope"}), 404)
        assert error["code"] == "conversation_not_found"
        assert told(await desk.get("/conversations", cursor="nope"), 422)["code"] == "invalid_cursor"
        [listed] = (await desk.get("/conversations")).json()["conversations"]
        path = f"/conversations/{listed['conversation_id']}"
        assert told(await desk.get(path, cursor="-1"), 422)["code"] == "invalid_cursor"
        for query in ({"limit": "0"}, {"limit": "101"}, {"limit": "ten"}, {"limit": "1.5"}, {"q": ""}, {"x": "1"}):
            assert told(await desk.get(path, **query), 422)["code"] == "invalid_arguments"


async def test_another_users_conversations_are_not_there(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        alice, bob = await desk_of(house, user_id="alice"), await desk_of(house, user_id="bob")
        await alice.execute(LEND)
        [hers] = (await alice.get("/conversations")).json()["conversations"]
        assert told(await bob.get(f"/conversations/{hers['conversation_id']}"), 404)["code"] == "conversation_not_found"
        assert told(await alice.get("/conversations", user_id="bob"), 404)["code"] == "session_not_found"
        assert told(await alice.execute(LEND, user_id="bob"), 404)["code"] == "session_not_found"
        assert (await alice.execute(LEND, user_id="alice")).status_code == 200


async def test_feedback_is_kept_with_its_turn(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        assert told(await desk.post("/post_feedback", {"nl_feedback": "x"}), 404)["code"] == "nothing_to_rate"
        for title in ("Dune", "Emma"):
            await desk.execute(f"lend_book <title>{title}</title>")
        first, second = (await _only_conversation(desk))["turns"]
        assert (await desk.post("/post_feedback", {"nl_feedback": "good"})).json()["turn_id"] == second["turn_id"]
        body = {"binary_or_numeric_score": 0.5, "turn_id": first["turn_id"]}
        assert (await desk.post("/post_feedback", body)).json() == {"status": "ok", "turn_id": first["turn_id"]}
        rated = [turn["feedback"] for turn in (await _only_conversation(desk))["turns"]]
        assert [(each["binary_or_numeric_score"], each["nl_feedback"]) for each in rated] == [
            (0.5, None),
            (None, "good"),
        ]
        assert told(await desk.post("/post_feedback", {}), 422)["code"] == "invalid_arguments"


# --- one session, three ways in ----------------------------------------------------------------------------


async def test_a_session_opened_by_rest_is_used_by_both_eras_of_mcp_and_the_other_way_round(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house, user_id="alice")
        await desk.execute("lend_book <title>Dune</title>")
        emma = {"command": "lend_book <title>Emma</title>", "session_id": desk.handle}
        assert (await house.call("execute_command", emma))["isError"] is False
        connection = await house.shake_hands()
        ulysses = {"command": "lend_book <title>Ulysses</title>", "session_id": desk.handle}
        called = {"name": "execute_command", "arguments": ulysses}
        assert (await house.legacy(connection, "tools/call", called)).status_code == 200
        assert (await desk.execute("list_lent")).json()["response_text"] == "Dune, Emma, Ulysses"
        theirs = Desk(house, await house.open_session(user_id="bob"))
        assert (await theirs.execute("list_lent")).json()["response_text"] == "nothing"


async def test_a_turn_begun_by_rest_is_in_the_way_of_mcp_and_can_be_stopped_there() -> None:
    gate = Held()
    async with open_house(Script({"execute_command": gate.play})) as house:
        desk = await desk_of(house)
        turn_id = told(await desk.execute("x", timeout_seconds=0.05, on_timeout="defer"), 504)["details"]["turn_id"]
        session = {"session_id": desk.handle}
        assert error_of(await house.call("execute_command", session))["data"]["turn_id"] == turn_id
        stopped = await house.call("cancel_turn", {**session, "turn_id": turn_id})
        assert stopped["structuredContent"]["status"] == "cancelled"
        assert gate.ended == ["cancelled"]

"""A workflow folder over a real socket: what a client sees of it, from initialize to an honest refusal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from greenroom.config.problems import ConfigurationError
from greenroom.config.settings import Settings
from greenroom.workflow.catalog import find_workflow
from greenroom.workflow.conversations.kept import KeptWorkflow
from greenroom.workflow.llm.errors import LlmUnavailable
from greenroom.workflow.llm.port import Purpose
from greenroom.workflow.talk.served import ServedWorkflow
from tests.talk import library
from tests.talk.scripted import ScriptedModel, Together, answer, ask, run
from tests.transport.playhouse import House, error_of, events, open_house
from tests.transport.playhouse import answer as response_of

INFO = {"io.modelcontextprotocol/logLevel": "info"}


@attrs.frozen
class Visit:
    house: House
    handle: str

    async def __call__(self, tool: str, meta: Mapping[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
        return await self.house.call(tool, {**arguments, "session_id": self.handle}, **(meta or {}))

    async def execute(self, command: str, **more: Any) -> dict[str, Any]:
        return await self("execute_command", command=command, **more)


@asynccontextmanager
async def visiting(folder: Path, llm: ScriptedModel | None = None, **settings: Any) -> AsyncIterator[Visit]:
    chosen = Settings(workflow=str(library.build(folder)), speeddict_foldername=folder / "data", **settings)
    kept = find_workflow(chosen)
    assert isinstance(kept, KeptWorkflow)
    assert isinstance(kept.inner, ServedWorkflow)
    if llm is not None:
        kept = attrs.evolve(kept, inner=attrs.evolve(kept.inner, llm=llm), llm=llm)
    async with open_house(kept, **settings) as house:
        yield Visit(house, await house.open_session())


def text(result: Mapping[str, Any]) -> str:
    said: str = result["content"][0]["text"]
    return said


# --- discovery ---------------------------------------------------------------------------------------------


async def test_the_tools_and_prompts_are_listed_with_titles_hints_and_schemas(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        tools = {each["name"]: each for each in response_of(await visit.house.modern("tools/list"))["result"]["tools"]}
        named = {"get_workflow_info", "get_commands", "execute_command", "invoke_assistant", "invoke_agent"}
        conversing = {"new_conversation", "list_conversations", "activate_conversation", "post_feedback"}
        assert tools.keys() == named | conversing | {"initialize", "get_turn", "cancel_turn"}
        for tool in tools.values():
            assert tool["title"]
            assert tool["description"]
            assert tool["annotations"]
        assert all("outputSchema" in tools[name] for name in named)
        prompts = response_of(await visit.house.modern("prompts/list"))["result"]["prompts"]
        assert [each["name"] for each in prompts] == ["format-command", "clarify-params"]


async def test_a_prompt_is_filled_in_and_says_what_it_misses(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        given = {"intent": "lend Dune", "metadata": "lend_book <title>"}
        wanted = {"name": "format-command", "arguments": given}
        result = response_of(await visit.house.modern("prompts/get", wanted))["result"]
        assert all(value in result["messages"][0]["content"]["text"] for value in given.values())
        missing = response_of(await visit.house.modern("prompts/get", {"name": "clarify-params"}))["error"]
        assert missing["code"] == -32602
        assert "error_message, metadata" in missing["message"]


async def test_a_client_learns_what_the_workflow_is_for_and_what_can_be_done(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        info = (await visit("get_workflow_info"))["structuredContent"]
        assert info["purpose"] == "Lends books."
        assert info["available_contexts"] == ["global", "Library", "Shelf"]
        assert "current_context" not in info
        listed = await visit("get_commands")
        commands = {each["name"]: each for each in listed["structuredContent"]["commands"]}
        assert "Library/lend_book" in commands
        assert "open_library" not in commands, "a startup command is not for clients"
        assert [each["name"] for each in commands["Library/lend_book"]["parameters"]] == ["title", "copies"]
        assert "<title>" in text(listed)


# --- execute_command ---------------------------------------------------------------------------------------


async def test_an_exact_command_runs_with_its_defaults_and_reports_its_traces(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        result = await visit.execute("lend_book <title>Dune & Co <3</title>")
        output = result["structuredContent"]
        assert output["response_text"] == text(result) == "Lent 1 of Dune & Co <3"
        assert (output["success"], output["context"], output["command_name"]) == (
            True,
            "Library",
            "Library/lend_book",
        )
        assert output["command_parameters"] == {"title": "Dune & Co <3", "copies": 1}
        assert output["command_responses"][0]["response"] == text(result)
        directions = [each["direction"] for each in output["traces"]]
        assert directions[-2:] == ["agent_to_workflow", "workflow_to_agent"]


async def test_a_streamed_answer_has_its_traces_in_the_stream_and_not_in_the_end(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        await visit.execute("list_lent")
        params = {"name": "execute_command", "arguments": {"command": "list_lent", "session_id": visit.handle}}
        response = await visit.house.modern("tools/call", params, progressToken=1, **INFO)
        *reported, final = events(response.text)
        data = [each["params"]["data"] for each in reported if each["method"] == "notifications/message"]
        assert [each["direction"] for each in data] == ["agent_to_workflow", "workflow_to_agent"]
        assert data[1]["response_text"] == "nothing"
        assert "traces" not in final["result"]["structuredContent"]


async def test_traces_can_be_switched_off(tmp_path: Path) -> None:
    async with visiting(tmp_path, show_agent_traces=False) as visit:
        params = {"name": "execute_command", "arguments": {"command": "list_lent", "session_id": visit.handle}}
        response = await visit.house.modern("tools/call", params, progressToken=1, **INFO)
        assert response.headers["content-type"] == "application/json"
        assert "traces" not in response.json()["result"]["structuredContent"]


async def test_a_slow_command_tells_how_far_it_is(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        params = {"name": "execute_command", "arguments": {"command": "sort_slowly", "session_id": visit.handle}}
        response = await visit.house.modern("tools/call", params, progressToken=1)
        lines = [each["params"]["message"] for each in events(response.text) if "method" in each]
        assert [line for line in lines if line.startswith("sorted ")] == ["sorted 1", "sorted 2", "sorted 3"]
        numbers = [each["params"]["progress"] for each in events(response.text) if "method" in each]
        assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("command", "name", "hint"),
    [
        ("lend_book", "invalid_parameters", "lend_book <title>string</title>"),
        ("lend_book <title>Dune</title> <copies>many</copies>", "invalid_parameters", "copies"),
        ("open_shelf <letter>seven</letter>", "invalid_parameters", "pattern"),
        ("lend_book <title>Dune", "malformed_command", "</title>"),
        ("lend_boook <title>Dune</title>", "unknown_command", "lend_book"),
        ("count_books", "unknown_command", "'Shelf'"),
    ],
)
async def test_a_command_that_does_not_fit_is_422_and_leaves_no_trace_behind(
    tmp_path: Path, command: str, name: str, hint: str
) -> None:
    async with visiting(tmp_path) as visit:
        error = error_of(await visit.execute(command))
        assert (error["code"], error["name"]) == (422, name)
        assert hint in error["message"]
        assert text(await visit.execute("go_up")) == "Already at the top-level 'global' context."
        assert text(await visit.execute("list_lent")) == "nothing"


async def test_the_context_is_followed_and_told_after_core_commands_too(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        await visit.execute("open_shelf <letter>B</letter>")
        where = await visit.execute("what_is_current_context")
        assert (text(where), where["structuredContent"]["context"]) == ("Current context is 'Shelf'", "Shelf")
        assert text(await visit.execute("count_books")) == "42 on B"
        assert text(await visit.execute("list_lent")) == "nothing", "found one context up"


# --- startup and sessions ----------------------------------------------------------------------------------


async def test_the_startup_runs_once_however_the_client_came(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        for _ in range(2):
            first = await visit.execute("list_lent")
        assert first["isError"] is False
        headers = await visit.house.shake_hands()
        await visit.house.legacy(headers, "tools/call", {"name": "initialize"})
        legacy = {"name": "execute_command", "arguments": {"command": "what_is_current_context"}}
        result = response_of(await visit.house.legacy(headers, "tools/call", legacy))["result"]
        assert text(result) == "Current context is 'Library'"


async def test_each_session_has_a_workflow_of_its_own(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        other = Visit(visit.house, await visit.house.open_session())
        await visit.execute("lend_book <title>Dune</title>")
        assert text(await visit.execute("list_lent")) == "Dune"
        assert text(await other.execute("list_lent")) == "nothing"


def test_a_startup_that_can_only_fail_is_refused_before_there_are_sessions(tmp_path: Path) -> None:
    folder = str(library.build(tmp_path))
    with pytest.raises(ConfigurationError, match="no command 'nonsense'"):
        find_workflow(Settings(workflow=folder, startup_command="nonsense <a>1</a>"))
    with pytest.raises(ConfigurationError, match="no command 'nonsense'"):
        find_workflow(Settings(workflow=folder, startup_action={"command_name": "nonsense"}))


# --- what must harm nothing but its own turn ---------------------------------------------------------------


@pytest.mark.parametrize("command", ["burn", "quit_all"])
async def test_a_command_that_raises_or_exits_harms_only_its_own_turn(
    tmp_path: Path, command: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with visiting(tmp_path) as visit:
        result = await visit.execute(command)
        assert error_of(result)["name"] == "command_failed"
        assert "swordfish" not in str(result)
        assert (await visit.execute("list_lent"))["isError"] is False
        assert "Traceback" in caplog.text


async def test_a_command_that_blocks_past_its_deadline_holds_only_its_own_session(tmp_path: Path) -> None:
    library.HELD.clear()
    async with visiting(tmp_path) as visit:
        other = Visit(visit.house, await visit.house.open_session())
        assert error_of(await visit.execute("hold", timeout_seconds=0.1))["code"] == 504
        stopping = error_of(await visit.execute("list_lent"))
        assert (stopping["code"], stopping["name"]) == (409, "turn_stopping")
        assert (await other.execute("list_lent"))["isError"] is False
        library.HELD.set()
        with trio.fail_after(5):
            while (await visit.execute("list_lent"))["isError"]:  # noqa: ASYNC110
                await trio.sleep(0.01)


# --- the assistant -----------------------------------------------------------------------------------------


async def test_an_instruction_in_ones_own_words_finds_its_command(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        said = (await visit("invoke_assistant", user_query="which books have I borrowed so far?"))["structuredContent"]
        assert (said["command_name"], said["response_text"]) == ("Library/list_lent", "nothing")


@pytest.mark.parametrize(
    ("sentence", "title"),
    [("I would like to borrow Dune please", "Dune"), ('lend me "War and Peace"', "War and Peace")],
)
async def test_parameters_are_read_out_of_the_sentence(tmp_path: Path, sentence: str, title: str) -> None:
    async with visiting(tmp_path) as visit:
        said = (await visit("invoke_assistant", user_query=sentence))["structuredContent"]
        assert said["command_parameters"] == {"title": title, "copies": 1}


async def test_a_sentence_is_not_taken_for_the_value_of_a_parameter(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        said = (await visit("invoke_assistant", user_query="would you lend something to me"))["structuredContent"]
        assert (said["success"], said.get("missing_parameters", ["title"])) == (False, ["title"])


async def test_a_name_with_a_slip_in_it_is_understood(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        said = (await visit("invoke_assistant", user_query="/list_lnet"))["structuredContent"]
        assert said["command_name"] == "Library/list_lent"


async def test_what_is_missing_is_asked_for_by_name_and_nothing_sticks(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        said = (await visit("invoke_assistant", user_query="lend_book"))["structuredContent"]
        assert (said["success"], said["status"], said["missing_parameters"]) == (False, "awaiting_user", ["title"])
        assert "title" in said["response_text"]
        assert text(await visit("invoke_assistant", user_query="list_lent")) == "nothing"


async def test_what_is_missing_is_asked_of_the_user_where_the_client_can(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        able: dict[str, Any] = {"capabilities": {"elicitation": {}}}
        arguments = {"user_query": "lend_book", "session_id": visit.handle}
        asked = await visit.house.call("invoke_assistant", arguments, **able)
        form = asked["inputRequests"]["parameters"]["params"]["requestedSchema"]
        assert list(form["properties"]) == ["title"]
        retry = {
            "name": "invoke_assistant",
            "arguments": arguments,
            "requestState": asked["requestState"],
            "inputResponses": {"parameters": {"action": "accept", "content": {"title": "Dune"}}},
        }
        result = response_of(await visit.house.modern("tools/call", retry, **able))["result"]
        assert text(result) == "Lent 1 of Dune"


async def test_a_model_fills_in_what_the_rules_could_not(tmp_path: Path) -> None:
    llm = ScriptedModel({"title": "War and Peace", "copies": None}, purposes=[Purpose.PARAM_EXTRACTION])
    async with visiting(tmp_path, llm) as visit:
        said = (await visit("invoke_assistant", user_query="lend_book"))["structuredContent"]
        assert said["response_text"] == "Lent 1 of War and Peace"
        assert len(llm.asked) == 1


async def test_a_model_that_fails_leaves_it_at_asking(tmp_path: Path) -> None:
    llm = ScriptedModel(LlmUnavailable(Purpose.PARAM_EXTRACTION, "down"), purposes=[Purpose.PARAM_EXTRACTION])
    async with visiting(tmp_path, llm) as visit:
        said = (await visit("invoke_assistant", user_query="lend_book"))["structuredContent"]
        assert said["missing_parameters"] == ["title"]


async def test_what_is_out_of_scope_is_said_and_not_forced(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        said = (await visit("invoke_assistant", user_query="what is the weather on mars"))["structuredContent"]
        assert (said["success"], said["command_name"]) == (False, None)


async def test_a_name_that_lives_elsewhere_is_never_guessed_here(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        error = error_of(await visit("invoke_assistant", user_query="count_books"))
        assert (error["name"], error["data"]["lives_in"]) == ("unknown_command", ["Shelf"])


# --- the agent ---------------------------------------------------------------------------------------------


async def test_a_task_of_one_command_takes_two_calls_to_the_model(tmp_path: Path) -> None:
    llm = ScriptedModel(run("lend_book", title="Dune", copies="2"), answer("Two copies of Dune are yours."))
    async with visiting(tmp_path, llm) as visit:
        said = (await visit("invoke_agent", user_query="/lend me two copies of Dune"))["structuredContent"]
        assert (said["response_text"], said["status"]) == ("Two copies of Dune are yours.", "completed")
        assert said["command_name"] == "Library/lend_book"
        assert [each["direction"] for each in said["traces"]][-2:] == ["agent_to_workflow", "workflow_to_agent"]
        assert len(llm.asked) == 2
        assert "Lent 2 of Dune" in str(llm.asked[1].messages[-1].content)
        assert llm.asked[0].messages[-1].content == "lend me two copies of Dune"


async def test_the_agent_follows_a_change_of_context_and_mends_what_was_refused(tmp_path: Path) -> None:
    llm = ScriptedModel(run("count_books"), run("open_shelf", letter="C"), run("count_books"), answer("There are 42."))
    async with visiting(tmp_path, llm) as visit:
        said = (await visit("invoke_agent", user_query="how many books are on shelf C?"))["structuredContent"]
        assert (said["response_text"], said["context"]) == ("There are 42.", "Shelf")
        assert "Refused: There is no command 'count_books'" in str(llm.asked[1].messages[-1].content)
        assert "Shelf/count_books" in str(llm.asked[2].messages[-1].content), "the new context's commands are shown"


async def test_a_question_of_the_agent_ends_the_turn_and_the_next_call_answers_it(tmp_path: Path) -> None:
    llm = ScriptedModel(ask("Which book?"), run("lend_book", title="Emma"), answer("Emma is yours."))
    async with visiting(tmp_path, llm) as visit:
        asked = (await visit("invoke_agent", user_query="lend me something"))["structuredContent"]
        assert (asked["status"], asked["response_text"]) == ("awaiting_user", "Which book?")
        said = (await visit("invoke_agent", user_query="Emma"))["structuredContent"]
        assert said["response_text"] == "Emma is yours."
        assert [str(each.content) for each in llm.asked[1].messages if each.role == "user"] == [
            "lend me something",
            "Emma",
        ]


async def test_a_question_of_the_agent_is_put_to_the_user_at_once_where_the_client_can(tmp_path: Path) -> None:
    llm = ScriptedModel(ask("Which book?"), run("lend_book", title="Emma"), answer("Done."))
    async with visiting(tmp_path, llm) as visit:
        able: dict[str, Any] = {"capabilities": {"elicitation": {}}}
        arguments = {"user_query": "lend me something", "session_id": visit.handle}
        asked = await visit.house.call("invoke_agent", arguments, **able)
        retry = {
            "name": "invoke_agent",
            "arguments": arguments,
            "requestState": asked["requestState"],
            "inputResponses": {"answer": {"action": "accept", "content": {"answer": "Emma"}}},
        }
        result = response_of(await visit.house.modern("tools/call", retry, **able))["result"]
        assert text(result) == "Done."
        assert text(await visit.execute("list_lent")) == "Emma"


async def test_a_model_that_runs_in_circles_is_stopped(tmp_path: Path) -> None:
    llm = ScriptedModel(*[run("list_lent")] * 50)
    async with visiting(tmp_path, llm) as visit:
        said = (await visit("invoke_agent", user_query="go round"))["structuredContent"]
        assert (said["success"], said["status"]) == (False, "failed")
        assert len(llm.asked) == 12


async def test_the_call_to_the_model_is_cancelled_with_the_turn(tmp_path: Path) -> None:
    llm = ScriptedModel(None)
    async with visiting(tmp_path, llm) as visit:
        error = error_of(await visit("invoke_agent", user_query="think", timeout_seconds=0.2))
        assert error["code"] == 504
        assert llm.cancelled == 1
        assert (await visit.execute("list_lent"))["isError"] is False


async def test_a_model_that_fails_is_a_clear_error_and_the_session_goes_on(tmp_path: Path) -> None:
    llm = ScriptedModel(LlmUnavailable(Purpose.AGENT, "it is being restarted. Try again."))
    async with visiting(tmp_path, llm) as visit:
        error = error_of(await visit("invoke_agent", user_query="hello"))
        assert (error["code"], error["name"]) == (503, "llm_unavailable")
        assert (await visit.execute("list_lent"))["isError"] is False


async def test_without_a_model_the_task_is_taken_clause_by_clause_and_that_is_said(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        said = (await visit("invoke_agent", user_query='lend_book "Dune", then list_lent'))["structuredContent"]
        assert "No language model is configured" in said["response_text"]
        assert said["response_text"].endswith("Lent 1 of Dune\nDune")


async def test_without_a_model_a_clause_that_fails_stops_the_rest(tmp_path: Path) -> None:
    async with visiting(tmp_path) as visit:
        said = (await visit("invoke_agent", user_query="lend_book; list_lent"))["structuredContent"]
        assert said["success"] is False
        assert "The 1 part(s) after this were not tried." in said["response_text"]


async def test_what_a_failed_turn_left_behind_does_not_turn_up_in_the_next(tmp_path: Path) -> None:
    llm = ScriptedModel(run("burn"), LlmUnavailable(Purpose.AGENT, "down"), answer("Fine."))
    async with visiting(tmp_path, llm) as visit:
        await visit.execute("list_lent")
        assert error_of(await visit("invoke_agent", user_query="break something"))["code"] == 503
        said = (await visit("invoke_agent", user_query="is all well?"))["structuredContent"]
        assert said["response_text"] == "Fine."
        assert "traces" not in said
        assert "break something" not in str([message.content for message in llm.asked[-1].messages])


async def test_forty_sessions_have_their_turns_side_by_side(tmp_path: Path) -> None:
    together = Together(40)
    async with visiting(tmp_path, together) as visit, trio.open_nursery() as nursery:
        for _ in range(40):
            other = Visit(visit.house, await visit.house.open_session())
            nursery.start_soon(partial(other, "invoke_agent", user_query="wait for the others"))
    assert together.most == 40

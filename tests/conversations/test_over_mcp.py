"""Conversations over a real socket and a real store: kept, listed, switched, named, rated, and found again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from greenroom.config.settings import Settings
from greenroom.workflow.catalog import find_workflow
from greenroom.workflow.conversations.kept import KeptWorkflow
from greenroom.workflow.llm.errors import LlmUnavailable
from greenroom.workflow.llm.port import Purpose
from greenroom.workflow.talk.served import ServedWorkflow
from tests.talk import library
from tests.talk.scripted import ScriptedModel, answer, run
from tests.talk.test_over_mcp import Visit, text
from tests.transport.playhouse import House, error_of, events, modern_request, open_house
from tests.transport.playhouse import answer as response_of
from tests.transport.test_two_eras import following

NAMED = {"topic": "Lending books", "summary": "A book was lent."}


@asynccontextmanager
async def serving(folder: Path, llm: ScriptedModel | None = None, **settings: Any) -> AsyncIterator[House]:
    """A server on the same data as any other that this test had on this folder."""
    data = folder / "data"
    kept = find_workflow(Settings(workflow=str(library.build(folder)), speeddict_foldername=data, **settings))
    assert isinstance(kept, KeptWorkflow)
    if llm is not None:
        assert isinstance(kept.inner, ServedWorkflow)
        kept = attrs.evolve(kept, inner=attrs.evolve(kept.inner, llm=llm), llm=llm)
    async with open_house(kept, **settings) as house:
        yield house


async def visit_of(house: House, **arguments: Any) -> Visit:
    return Visit(house, await house.open_session(**arguments))


async def listed(visit: Visit, **arguments: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await visit("list_conversations", **arguments))["structuredContent"]["conversations"]
    return found


# --- kept and found again ----------------------------------------------------------------------------------


async def test_a_turn_is_on_disk_before_its_answer_leaves(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house, user_id="alice")
        await visit.execute("lend_book <title>Dune</title>")
        kept = house.app.supervisor.workflow
        assert isinstance(kept, KeptWorkflow)
        user = kept.store.user("alice")
        [conversation] = user.list_conversations().conversations
        [turn] = user.turns(conversation.id)
        assert (turn.tool, turn.input["command"]) == ("execute_command", "lend_book <title>Dune</title>")
        assert turn.outputs["text"] == "Lent 1 of Dune"
        assert [each["direction"] for each in turn.traces][-1] == "workflow_to_agent"


async def test_looking_around_is_not_a_turn_of_the_conversation(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        await visit("get_commands")
        await visit("get_workflow_info")
        assert [each["turn_count"] for each in await listed(visit)] == [0]


async def test_a_client_that_holds_a_handle_across_a_restart_goes_on_in_both_eras(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house, user_id="alice")
        await visit.execute("lend_book <title>Dune</title>")
    async with serving(tmp_path) as house:
        again = Visit(house, visit.handle)
        result = await again.execute("what_is_current_context")
        restored = result["structuredContent"]["session_restored"]
        assert restored["startup"] == "run again"
        assert "session_restored" not in (await again.execute("list_lent"))["structuredContent"]
        [conversation] = await listed(again)
        assert (conversation["conversation_id"], conversation["turn_count"]) == (restored["conversation"], 3)
    async with serving(tmp_path) as house:
        headers = await house.shake_hands()
        params = {"name": "execute_command", "arguments": {"command": "list_lent", "session_id": visit.handle}}
        result = response_of(await house.legacy(headers, "tools/call", params))["result"]
        assert result["structuredContent"]["session_restored"]["conversation"] == conversation["conversation_id"]
        assert error_of(await Visit(house, "made-up").execute("list_lent"))["code"] == 404


async def test_a_handle_belongs_to_its_user_after_a_restart_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house, user_id="alice")
    async with serving(tmp_path) as house:
        again = Visit(house, visit.handle)
        assert error_of(await again.execute("list_lent", user_id="bob"))["code"] == 404
        assert (await again.execute("list_lent", user_id="alice"))["isError"] is False


async def test_a_session_that_expired_is_found_again_by_its_handle(tmp_path: Path) -> None:
    async with serving(tmp_path, session_ttl=0.05) as house:
        visit = await visit_of(house)
        await visit.execute("lend_book <title>Dune</title>")
        with trio.fail_after(10):
            while len(house.app.supervisor):  # noqa: ASYNC110
                await trio.sleep(0.02)
        assert "session_restored" in (await visit.execute("list_lent"))["structuredContent"]


async def test_a_repeated_call_after_a_restart_is_not_run_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        first = await visit.execute("lend_book <title>Dune</title>", idempotency_key="k")
    async with serving(tmp_path) as house:
        again = Visit(house, visit.handle)
        repeated = await again.execute("lend_book <title>Dune</title>", idempotency_key="k")
        assert text(repeated) == text(first)
        assert [each["turn_count"] for each in await listed(again)] == [1]


async def test_the_next_session_goes_on_with_the_last_conversation_or_the_one_it_names(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        await visit.execute("list_lent")
        first = (await listed(visit))[0]["conversation_id"]
        second = (await visit("new_conversation"))["structuredContent"]["new_conversation_id"]
        await visit.execute("list_lent")
        opened = (await house.call("initialize"))["structuredContent"]["conversation"]
        assert opened["conversation_id"] == second
        named = (await house.call("initialize", {"conversation_id": first}))["structuredContent"]["conversation"]
        assert named["conversation_id"] == first
        unknown = (await house.call("initialize", {"conversation_id": "gone"}))["structuredContent"]["conversation"]
        assert unknown["conversation_id"] == first


# --- the four tools ----------------------------------------------------------------------------------------


async def test_a_new_conversation_names_the_old_one_without_a_model(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        await visit.execute("lend_book <title>Dune</title>")
        await visit("new_conversation")
        old = next(each for each in await listed(visit) if each["turn_count"] == 1)
        assert old["topic"] == "Lend book Dune"
        assert "Lent 1 of Dune" in old["summary"]


async def test_a_new_conversation_is_named_by_the_model_and_topics_are_unique(tmp_path: Path) -> None:
    llm = ScriptedModel(NAMED, {**NAMED, "topic": " lending   BOOKS "}, purposes=[Purpose.CONVERSATION_STORE])
    async with serving(tmp_path, llm) as house:
        visit = await visit_of(house)
        for _ in range(2):
            await visit.execute("list_lent")
            await visit("new_conversation")
        topics = {each["topic"] for each in await listed(visit)} - {""}
        assert len(topics) == 2
        assert "Lending books" in topics
        assert any(topic.endswith("(2)") for topic in topics)


async def test_a_model_that_fails_to_name_leaves_the_conversation_where_it_is(tmp_path: Path) -> None:
    llm = ScriptedModel(LlmUnavailable(Purpose.CONVERSATION_STORE, "down"), purposes=[Purpose.CONVERSATION_STORE])
    async with serving(tmp_path, llm) as house:
        visit = await visit_of(house)
        await visit.execute("list_lent")
        before = await listed(visit)
        error = error_of(await visit("new_conversation"))
        assert (error["code"], error["name"]) == (500, "naming_failed")
        assert await listed(visit) == before


async def test_an_empty_conversation_is_not_put_away(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        [only] = await listed(visit)
        new = (await visit("new_conversation"))["structuredContent"]["new_conversation_id"]
        assert new == only["conversation_id"]


async def test_conversations_are_listed_newest_first_page_by_page(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        for _ in range(4):
            await visit.execute("list_lent")
            await visit("new_conversation")
        first = (await visit("list_conversations", limit=3))["structuredContent"]
        rest = (await visit("list_conversations", limit=3, cursor=first["next_cursor"]))["structuredContent"]
        both = [*first["conversations"], *rest["conversations"]]
        assert len({each["conversation_id"] for each in both}) == 5
        assert [each["updated_at"] for each in both] == sorted((each["updated_at"] for each in both), reverse=True)
        assert error_of(await visit("list_conversations", cursor="made-up"))["code"] == 422


async def test_an_earlier_conversation_is_gone_on_with_and_its_history_is_seen_by_the_agent(tmp_path: Path) -> None:
    llm = ScriptedModel(
        run("lend_book", title="Emma"),
        answer("Emma is yours."),
        answer("Fresh."),
        answer("You borrowed Emma."),
        purposes=[Purpose.AGENT],
    )
    async with serving(tmp_path, llm) as house:
        visit = await visit_of(house)
        await visit("invoke_agent", user_query="lend me Emma")
        first = (await listed(visit))[0]["conversation_id"]
        await visit("new_conversation")
        await visit("invoke_agent", user_query="hello")
        assert "lend me Emma" not in str([each.content for each in llm.asked[-1].messages])
        assert (await visit("activate_conversation", conversation_id=first))["structuredContent"] == {"status": "ok"}
        await visit("invoke_agent", user_query="what did I borrow?")
        assert "lend me Emma" in str([each.content for each in llm.asked[-1].messages])
        assert error_of(await visit("activate_conversation", conversation_id="gone"))["code"] == 404


async def test_feedback_is_kept_on_the_latest_turn_or_the_one_named(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        assert error_of(await visit("post_feedback", nl_feedback="early"))["code"] == 404
        await visit.execute("list_lent")
        await visit.execute("go_up")
        rated = (await visit("post_feedback", binary_or_numeric_score=True))["structuredContent"]
        kept = house.app.supervisor.workflow
        assert isinstance(kept, KeptWorkflow)
        user = kept.store.user("default_user")
        turn = user.get_turn(rated["turn_id"])
        assert turn is not None
        assert turn.input["command"] == "go_up"
        assert turn.feedback is not None
        assert turn.feedback.binary_or_numeric_score is True
        first = user.turns(turn.conversation_id, newest_first=False)[0]
        await visit("post_feedback", nl_feedback="fine", turn_id=first.id)
        again = user.get_turn(first.id)
        assert again is not None
        assert again.feedback is not None
        assert again.feedback.nl_feedback == "fine"


@pytest.mark.parametrize("arguments", [{}, {"binary_or_numeric_score": None, "nl_feedback": None}])
async def test_feedback_without_anything_in_it_is_422(tmp_path: Path, arguments: dict[str, Any]) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        await visit.execute("list_lent")
        assert error_of(await visit("post_feedback", **arguments))["code"] == 422


async def test_while_a_turn_runs_conversations_stay_as_they_are(tmp_path: Path) -> None:
    library.HELD.clear()
    async with serving(tmp_path) as house, trio.open_nursery() as nursery:
        visit = await visit_of(house)
        await visit.execute("list_lent")
        nursery.start_soon(visit.execute, "hold")
        with trio.fail_after(5):
            while house.app.supervisor.find(visit.handle).idle:  # noqa: ASYNC110
                await trio.sleep(0.01)
        calls: dict[str, dict[str, Any]] = {
            "new_conversation": {},
            "list_conversations": {},
            "activate_conversation": {"conversation_id": "x"},
            "post_feedback": {"nl_feedback": "x"},
        }
        for tool, arguments in calls.items():
            assert error_of(await visit(tool, **arguments))["code"] == 409
        library.HELD.set()


# --- one user and another ----------------------------------------------------------------------------------


async def test_a_user_sees_only_their_own(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        alice, bob = await visit_of(house, user_id="alice"), await visit_of(house, user_id="../alice")
        await alice.execute("lend_book <title>Swordfish</title>")
        mine = (await listed(alice))[0]["conversation_id"]
        assert mine not in str(await listed(bob))
        assert error_of(await bob("activate_conversation", conversation_id=mine))["code"] == 404
        turn = (await alice("post_feedback", nl_feedback="x"))["structuredContent"]["turn_id"]
        assert error_of(await bob("post_feedback", nl_feedback="x", turn_id=turn))["code"] == 404
        assert error_of(await bob("get_turn", turn_id=turn))["code"] == 404
    assert not (tmp_path / "alice").exists()


# --- resources ---------------------------------------------------------------------------------------------


async def test_conversations_are_resources_of_their_owner_as_json_and_as_markdown(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        headers = await house.shake_hands()
        opening = {"name": "initialize", "arguments": {"user_id": "alice"}}
        opened = response_of(await house.legacy(headers, "tools/call", opening))["result"]["structuredContent"]
        await Visit(house, opened["session_id"]).execute("lend_book <title>Dune</title>")
        uri = f"greenroom://conversations/{opened['conversation']['conversation_id']}"

        async def read(address: str) -> str:
            found = response_of(await house.legacy(headers, "resources/read", {"uri": address}))["result"]
            contents: str = found["contents"][0]["text"]
            return contents

        assert json.loads(await read("greenroom://conversations"))["conversations"][0]["turn_count"] == 1
        assert json.loads(await read(uri))["turns"][0]["outputs"]["text"] == "Lent 1 of Dune"
        assert "Lent 1 of Dune" in await read(f"{uri}.md")
        stranger = response_of(await house.modern("resources/read", {"uri": uri}))["error"]
        assert stranger["code"] == -32602


async def test_whoever_listens_hears_of_a_conversation_that_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        opened = (await house.call("initialize"))["structuredContent"]
        uri = f"greenroom://conversations/{opened['conversation']['conversation_id']}"
        headers, body = modern_request("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}})
        async with following(house, headers, body) as messages:
            await messages.message()
            await Visit(house, opened["session_id"]).execute("list_lent")
            assert (await messages.message())["params"]["uri"] == uri


async def test_a_streamed_turn_is_kept_with_the_traces_that_were_streamed(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        params = {"name": "execute_command", "arguments": {"command": "list_lent", "session_id": visit.handle}}
        response = await house.modern("tools/call", params, progressToken=1)
        assert len(events(response.text)) > 1
        kept = house.app.supervisor.workflow
        assert isinstance(kept, KeptWorkflow)
        user = kept.store.user("default_user")
        conversation = user.active_conversation()
        assert conversation is not None
        assert user.turns(conversation.id)[0].traces


# --- the state of the workflow -----------------------------------------------------------------------------

_WITH_HOOKS = """
    from ...application.library import Library

    class Context:
        state_version = 1

        @classmethod
        def get_parent(cls, library): return None

        @classmethod
        def get_state(cls, library): return {"lent": list(library.lent)}

        @classmethod
        def from_state(cls, state, workflow, *, state_version):
            library = Library()
            library.lent = list(state["lent"])
            return library
"""


@pytest.mark.parametrize(("hooks", "lent"), [(True, "Dune"), (False, "nothing")])
async def test_the_workflow_comes_back_as_far_as_its_hooks_go_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hooks: bool, lent: str
) -> None:
    if hooks:
        monkeypatch.setitem(library.FILES, "_commands/Library/_Library.py", _WITH_HOOKS)
    async with serving(tmp_path) as house:
        visit = await visit_of(house)
        await visit.execute("lend_book <title>Dune</title>")
    async with serving(tmp_path) as house:
        result = await Visit(house, visit.handle).execute("list_lent")
        assert text(result) == lent
        told = result["structuredContent"]["session_restored"]
        assert ("workflow objects" in told.get("restored", [])) is hooks

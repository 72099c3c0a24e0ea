"""The real child with the real litellm against an endpoint on a real socket.

One child serves the whole module; a test sends its scene to where that child lives.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
import trio

from greenroom.workflow.llm.errors import LlmRefused, LlmUnavailable
from greenroom.workflow.llm.port import (
    Completion,
    Delta,
    JsonSchema,
    Message,
    Purpose,
    Request,
    ToolCall,
    ToolDefinition,
    Usage,
)
from tests.llm.fake_openai import Answer, Drop, Garbage, Status
from tests.llm.stage import KEY, Stage, opened

PROMPT = "a prompt that must not be seen either"
POINT = JsonSchema(
    "point",
    {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": False,
    },
)


def asking(**more: Any) -> Request:
    return attrs.evolve(Request(Purpose.AGENT, [Message("user", PROMPT)]), **more)


@pytest.fixture(scope="module")
def theatre() -> Iterator[Stage]:
    with opened() as stage:
        yield stage


@pytest.fixture
def stage(theatre: Stage) -> Stage:
    theatre.fake.script.clear()
    theatre.fake.seen.clear()
    theatre.fake.keys.clear()
    theatre.fake.otherwise = Answer()
    theatre.fake.gone = theatre.fake.most_in_flight = 0
    return theatre


def complete(stage: Stage, request: Request, heard: list[Delta] | None = None) -> Completion:
    return stage.run(lambda: stage.llm.complete(request, on_delta=heard.append if heard is not None else None))


def test_an_answer_comes_back_with_its_usage_and_its_model(stage: Stage) -> None:
    answer = complete(stage, asking(max_tokens=5, temperature=0.0))
    assert answer == Completion(
        "hello", usage=Usage(11, 7), model=answer.model, finish_reason="stop", tool_calls=(), parsed=None
    )
    assert answer.model.endswith("some-model")
    (request,) = stage.fake.seen
    assert request["model"] == "some-model"
    assert request["messages"] == [{"role": "user", "content": PROMPT}]
    assert (request["max_tokens"], request["temperature"]) == (5, 0.0)
    assert stage.fake.keys == [f"Bearer {KEY}"]


def test_the_server_itself_never_imports_litellm(stage: Stage) -> None:
    complete(stage, asking())
    assert "litellm" not in sys.modules
    assert "openai" not in sys.modules


def test_structured_output_is_asked_for_natively_and_parsed(stage: Stage) -> None:
    stage.fake.script.append(Answer('{"x": 3}'))
    assert complete(stage, asking(json_schema=POINT)).parsed == {"x": 3}
    assert stage.fake.seen[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "point", "schema": dict(POINT.schema), "strict": True},
    }


def test_a_model_that_misses_the_form_is_told_why_and_may_mend_it(stage: Stage) -> None:
    stage.fake.script.extend([Answer('{"x": "three"}'), Answer('{"x": 3}')])
    assert complete(stage, asking(json_schema=POINT)).parsed == {"x": 3}
    *_, said, complaint = stage.fake.seen[1]["messages"]
    assert said == {"role": "assistant", "content": '{"x": "three"}'}
    assert "'three' is not of type 'integer'" in complaint["content"]


def test_a_model_that_misses_the_form_twice_is_given_up(stage: Stage) -> None:
    stage.fake.script.extend([Answer("no"), Answer("never"), Answer('{"x": 3}')])
    with pytest.raises(LlmRefused, match="did not keep to the form"):
        complete(stage, asking(json_schema=POINT))
    assert len(stage.fake.seen) == 2


def test_tools_are_offered_natively_and_their_calls_and_results_travel_both_ways(stage: Stage) -> None:
    tools = [ToolDefinition("add", "Adds.", {"type": "object", "properties": {}})]
    stage.fake.script.append(Answer("", tool_calls=[("add", '{"a": 1}')], finish_reason="tool_calls"))
    answer = complete(stage, asking(tools=tools))
    assert answer.tool_calls == (ToolCall("call_0", "add", {"a": 1}),)
    assert stage.fake.seen[0]["tools"][0]["function"]["name"] == "add"

    history = [
        Message("user", "add"),
        Message("assistant", "", tool_calls=answer.tool_calls),
        Message("tool", "2", tool_call_id="call_0"),
    ]
    complete(stage, asking(messages=history, tools=tools))
    _, called, result = stage.fake.seen[1]["messages"]
    assert json.loads(called["tool_calls"][0]["function"]["arguments"]) == {"a": 1}
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "call_0", "2")


def test_a_stream_is_heard_while_the_answer_is_still_being_written(stage: Stage) -> None:
    gate = trio.Event()
    stage.fake.script.append(Answer(pieces=["one ", "two ", "three"], gate=gate))
    heard: list[Delta] = []

    def hear(delta: Delta) -> None:
        heard.append(delta)
        if "three" in delta.text:
            gate.set()

    answer = stage.run(lambda: stage.llm.complete(asking(stream=True), on_delta=hear))
    assert "".join(delta.text for delta in heard) == answer.text == "one two three"
    assert answer.usage == Usage(11, 7)


def test_tool_calls_come_whole_out_of_a_stream(stage: Stage) -> None:
    stage.fake.script.append(Answer("hm", tool_calls=[("add", '{"a": 1}')], finish_reason="tool_calls"))
    tools = [ToolDefinition("add", "Adds.", {"type": "object", "properties": {}})]
    assert complete(stage, asking(stream=True, tools=tools)).tool_calls == (ToolCall("call_0", "add", {"a": 1}),)


def test_forty_calls_are_at_the_provider_at_once(stage: Stage) -> None:
    gate = trio.Event()
    stage.fake.otherwise = Answer(gate=gate)

    async def scene() -> None:
        async with trio.open_nursery() as callers:
            for _ in range(40):
                callers.start_soon(stage.llm.complete, asking())
            await stage.fake.until(in_flight=40)
            gate.set()

    stage.run(scene)
    assert stage.fake.most_in_flight == 40


@pytest.mark.parametrize("stream", [False, True])
def test_cancelling_a_call_closes_the_connection_to_the_provider(stage: Stage, stream: bool) -> None:
    stage.fake.otherwise = Answer(pieces=["a beginning "], gate=trio.Event())

    async def scene() -> None:
        async with trio.open_nursery() as callers:
            callers.start_soon(stage.llm.complete, asking(stream=stream))
            await stage.fake.until(in_flight=1)
            callers.cancel_scope.cancel()
        await stage.fake.until(gone=1)

    stage.run(scene)
    stage.fake.otherwise = Answer()
    assert complete(stage, asking()).text == "hello"


@pytest.mark.parametrize("trouble", [Status(429, retry_after="0.1"), Status(500), Status(503), Drop(), Garbage()])
def test_trouble_that_may_pass_is_tried_again(stage: Stage, trouble: Status | Drop | Garbage) -> None:
    stage.fake.script.append(trouble)
    assert complete(stage, asking()).text == "hello"
    assert len(stage.fake.seen) == 2


def test_trouble_that_stays_is_given_up_after_three_tries(stage: Stage) -> None:
    stage.fake.otherwise = Status(429)
    with pytest.raises(LlmUnavailable, match="too many requests") as caught:
        complete(stage, asking())
    assert len(stage.fake.seen) == 3
    assert caught.value.code == 503


def test_a_provider_that_asks_for_more_time_than_there_is_is_not_waited_for(stage: Stage) -> None:
    stage.fake.otherwise = Status(429, retry_after="3600")
    with pytest.raises(LlmUnavailable) as caught:
        complete(stage, asking())
    assert len(stage.fake.seen) == 1
    assert caught.value.retry_after == 3600


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (Status(401), "The operator should check LITELLM_PROXY_API_KEY"),
        (Status(403), "The operator should check LITELLM_PROXY_API_KEY"),
        (Status(404), "The operator should check LLM_AGENT"),
        (Status(400), "rejected the request"),
        (Status(400, message="This model's maximum context length is 8192 tokens."), "too long for it"),
    ],
)
def test_a_refusal_is_final_and_says_what_to_look_at(stage: Stage, status: Status, sentence: str) -> None:
    stage.fake.otherwise = status
    with pytest.raises(LlmRefused, match=sentence):
        complete(stage, asking())
    assert len(stage.fake.seen) == 1


def test_neither_a_key_nor_a_prompt_is_logged_or_told(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="greenroom")
    stage.fake.script.extend([Answer(), Status(400, message=f"bad prompt {PROMPT!r} for key {KEY}")])
    complete(stage, asking())
    with pytest.raises(LlmRefused) as caught:
        complete(stage, asking())
    everything = " ".join(str(vars(record)) for record in caplog.records) + str(caught.value) + str(caught.value.data)
    assert KEY not in everything
    assert PROMPT not in everything
    assert "bad prompt" in everything
    (call,) = [record for record in caplog.records if record.getMessage() == "language model call"]
    facts = vars(call)
    assert (facts["purpose"], facts["prompt_tokens"], facts["completion_tokens"]) == ("agent", 11, 7)
    assert facts["model"] == "litellm_proxy/some-model"
    assert facts["duration_ms"] >= 0


def test_a_child_that_is_killed_fails_its_calls_and_is_replaced(stage: Stage) -> None:
    stage.fake.otherwise = Answer(gate=trio.Event())

    async def scene() -> None:
        async with trio.open_nursery() as killing:
            killing.start_soon(kill_when_called)
            with pytest.raises(LlmUnavailable, match="Try again"):
                await stage.llm.complete(asking())

    async def kill_when_called() -> None:
        await stage.fake.until(in_flight=1)
        assert stage.llm.pid is not None
        os.kill(stage.llm.pid, signal.SIGKILL)

    stage.run(scene)
    stage.fake.otherwise = Answer()
    assert complete(stage, asking()).text == "hello"


def test_a_child_ignores_an_interrupt(stage: Stage) -> None:
    complete(stage, asking())
    before = stage.llm.pid
    assert before is not None
    os.kill(before, signal.SIGINT)
    complete(stage, asking())
    assert stage.llm.pid == before

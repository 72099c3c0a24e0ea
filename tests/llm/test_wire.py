"""Requests become arguments, answers become completions, and what is wrong with one is said to the model."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.config.secret import Secret
from greenroom.workflow.llm.port import Completion, JsonSchema, Message, Purpose, Request, ToolCall, Usage
from greenroom.workflow.llm.routes import Route
from greenroom.workflow.llm.wire import Unusable, arguments, completion, mended, scrubbed

POINT = JsonSchema("point", {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})
PLAIN = Request(Purpose.AGENT, [Message("user", "where is it?")])
STRUCTURED = Request(Purpose.AGENT, PLAIN.messages, json_schema=POINT)
ROUTE = Route("some/model", "LITELLM_API_KEY_AGENT", Secret("sk-1"))


def answer(text: str = "", *calls: dict[str, Any], finish_reason: str = "stop") -> dict[str, Any]:
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    return {"text": text, "tool_calls": calls, "model": "m", "finish_reason": finish_reason, "usage": usage}


def test_what_was_not_asked_for_is_not_sent() -> None:
    assert arguments(PLAIN, ROUTE, 120.0) == {
        "model": "some/model",
        "api_key": "sk-1",
        "timeout": 120.0,
        "messages": [{"role": "user", "content": "where is it?"}],
    }


def test_a_temperature_of_zero_is_sent() -> None:
    assert arguments(Request(Purpose.AGENT, [], temperature=0.0), ROUTE, 1.0)["temperature"] == 0.0


def test_a_plain_answer_is_not_parsed() -> None:
    assert completion(answer('{"x": 3}'), PLAIN) == Completion(
        '{"x": 3}', usage=Usage(1, 2), model="m", finish_reason="stop"
    )


@pytest.mark.parametrize("text", ['{"x": 3}', ' {"x": 3}\n', '```json\n{"x": 3}\n```', '```\n{"x": 3}```'])
def test_json_is_taken_out_of_its_fence(text: str) -> None:
    read = completion(answer(text), STRUCTURED)
    assert isinstance(read, Completion)
    assert read.parsed == {"x": 3}


@pytest.mark.parametrize(
    ("text", "reason", "complaint"),
    [
        ("It is here.", "stop", "That is not JSON"),
        ('{"x": ', "length", "It was cut off"),
        ('{"x": "3"}', "stop", "$.x: '3' is not of type 'integer'"),
        ("{}", "stop", "'x' is a required property"),
    ],
)
def test_an_answer_without_the_form_is_unusable_and_says_why(text: str, reason: str, complaint: str) -> None:
    read = completion(answer(text, finish_reason=reason), STRUCTURED)
    assert isinstance(read, Unusable)
    assert complaint in read.complaint
    assert '"required": ["x"]' in read.complaint


def test_a_schema_never_goes_to_the_network() -> None:
    elsewhere = JsonSchema("far", {"$ref": "http://127.0.0.1:1/schema.json"})
    read = completion(answer("1"), Request(Purpose.AGENT, [], json_schema=elsewhere))
    assert isinstance(read, Unusable)
    assert "is not there" in read.complaint


def test_a_model_that_calls_a_tool_instead_owes_no_form() -> None:
    read = completion(answer("", {"id": "1", "name": "look", "arguments": '{"at": "x"}'}), STRUCTURED)
    assert isinstance(read, Completion)
    assert read.tool_calls == (ToolCall("1", "look", {"at": "x"}),)
    assert read.parsed is None


def test_a_tool_without_arguments_has_none() -> None:
    read = completion(answer("", {"id": "1", "name": "look", "arguments": ""}), PLAIN)
    assert isinstance(read, Completion)
    assert read.tool_calls[0].arguments == {}


@pytest.mark.parametrize("given", ["{", "[1]", '"x"'])
def test_a_tool_call_that_cannot_be_read_is_unusable(given: str) -> None:
    read = completion(answer("", {"id": "1", "name": "look", "arguments": given}), PLAIN)
    assert isinstance(read, Unusable)
    assert "look" in read.complaint


def test_a_mended_request_ends_with_the_answer_and_the_complaint() -> None:
    again = mended(STRUCTURED, Unusable("It is here.", "That is not JSON."))
    assert [(message.role, message.content) for message in again.messages] == [
        ("user", "where is it?"),
        ("assistant", "It is here."),
        ("user", "That is not JSON."),
    ]
    assert again.json_schema is POINT


def test_an_empty_answer_is_not_repeated_to_the_model() -> None:
    assert [message.role for message in mended(PLAIN, Unusable("", "Again.")).messages] == ["user", "user"]


def test_keys_and_prompts_are_taken_out_of_what_is_logged() -> None:
    request = Request(
        Purpose.AGENT,
        [Message("system", "You are\nan agent of secrets"), Message("user", [{"type": "text", "text": "hush hush"}])],
    )
    text = r"key sk-1 in 'You are\nan agent of secrets' is wrong"
    assert scrubbed(text, ["sk-1", ""], request) == r"key *** in 'You are\n***' is wrong"


def test_what_is_logged_is_short() -> None:
    assert scrubbed("x" * 1000, [], limit=10) == "xxxxxxx..."


def test_no_value_shows_a_prompt_when_it_is_printed() -> None:
    assert "where is it" not in repr(PLAIN)
    assert "sk-1" not in repr(ROUTE)

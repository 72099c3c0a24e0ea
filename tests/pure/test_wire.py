"""Translation between the workflow's values and MCP's types, and the whole tree of errors on its way out."""

from __future__ import annotations

from typing import Any

import mcp.types as t
import pytest
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from greenroom.config import errors
from greenroom.config.errors import GreenroomError, ProtocolFault
from greenroom.transport import sse
from greenroom.transport.mcp import wire
from greenroom.workflow.events import Direction, Trace
from greenroom.workflow.questions import (
    Ability,
    Answer,
    Elicit,
    Elicited,
    ListRoots,
    Question,
    Root,
    Roots,
    Sample,
    Sampled,
)
from greenroom.workflow.values import (
    Audio,
    BlobContents,
    Content,
    Embedded,
    Image,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptResult,
    Resource,
    ResourceResult,
    ResourceTemplate,
    Text,
    TextContents,
    Tool,
    ToolHints,
    ToolResult,
)


def on_the_wire(value: Any) -> Any:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


# --- what is on the bill -----------------------------------------------------------------------------------


def test_a_tool_shows_its_schemas_and_its_hints() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    tool = Tool(
        "t", "d", {}, {"type": "object"}, "Title", ToolHints(read_only=True, destructive=False, idempotent=None)
    )
    assert on_the_wire(wire.tool(tool, schema)) == {
        "name": "t",
        "title": "Title",
        "description": "d",
        "inputSchema": schema,
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
    }


def test_a_tool_without_hints_or_output_schema_shows_none() -> None:
    shown = on_the_wire(wire.tool(Tool("t", "d", {"type": "object"}), {"type": "object"}))
    assert shown == {"name": "t", "description": "d", "inputSchema": {"type": "object"}}


def test_a_prompt_shows_its_arguments() -> None:
    prompt = Prompt("p", "d", (PromptArgument("a", "what", required=False), PromptArgument("b")), "Title")
    assert on_the_wire(wire.prompt(prompt)) == {
        "name": "p",
        "title": "Title",
        "description": "d",
        "arguments": [
            {"name": "a", "description": "what", "required": False},
            {"name": "b", "description": "", "required": True},
        ],
    }


def test_resources_and_templates_are_shown() -> None:
    assert on_the_wire(wire.resource(Resource("x://y", "r", "d", "text/plain"))) == {
        "uri": "x://y",
        "name": "r",
        "description": "d",
        "mimeType": "text/plain",
    }
    assert on_the_wire(wire.resource_template(ResourceTemplate("x://{y}", "r"))) == {
        "uriTemplate": "x://{y}",
        "name": "r",
        "description": "",
    }


# --- results -----------------------------------------------------------------------------------------------

CONTENT: list[tuple[Content, dict[str, Any]]] = [
    (Text("Grüße \u2028"), {"type": "text", "text": "Grüße \u2028"}),
    (Image(b"\x00\xff", "image/png"), {"type": "image", "data": "AP8=", "mimeType": "image/png"}),
    (Audio(b"\x00\xff", "audio/wav"), {"type": "audio", "data": "AP8=", "mimeType": "audio/wav"}),
    (
        Embedded(TextContents("x://y", "text")),
        {"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/plain", "text": "text"}},
    ),
    (
        Embedded(BlobContents("x://y", b"\x00\xff", None)),
        {"type": "resource", "resource": {"uri": "x://y", "blob": "AP8="}},
    ),
]


@pytest.mark.parametrize(("content", "shown"), CONTENT, ids=[type(content).__name__ for content, _ in CONTENT])
def test_every_kind_of_content_has_its_form(content: Content, shown: dict[str, Any]) -> None:
    assert on_the_wire(wire.content(content)) == shown
    assert on_the_wire(wire.tool_result(ToolResult([content])))["content"] == [shown]
    assert on_the_wire(wire.prompt_result(PromptResult([PromptMessage("user", content)])))["messages"] == [
        {"role": "user", "content": shown}
    ]


def test_a_tool_result_says_whether_it_is_an_error_and_keeps_its_structure() -> None:
    shown = on_the_wire(wire.tool_result(ToolResult([Text("no")], {"a": [1]}, is_error=True)))
    assert shown["isError"] is True
    assert shown["structuredContent"] == {"a": [1]}
    assert "structuredContent" not in on_the_wire(wire.tool_result(ToolResult()))
    assert on_the_wire(wire.tool_result(ToolResult([], {})))["structuredContent"] == {}


SEEN = Trace(Direction.TO_WORKFLOW, 1, "add", "add", {"a": 1})


def test_traces_that_the_client_did_not_see_go_by_come_with_the_answer() -> None:
    result = ToolResult([], {"a": 1}, traces=[SEEN])
    unseen = on_the_wire(wire.tool_result(result, with_traces=True))["structuredContent"]
    assert unseen == {"a": 1, "traces": [wire.trace_data(SEEN)]}
    assert unseen["traces"][0]["direction"] == "agent_to_workflow"
    assert on_the_wire(wire.tool_result(result, with_traces=False))["structuredContent"] == {"a": 1}


def test_a_result_without_structure_or_traces_gets_none_of_either() -> None:
    assert wire.structured(ToolResult(traces=[SEEN]), with_traces=True) is None
    assert wire.structured(ToolResult([], {"a": 1}), with_traces=True) == {"a": 1}


def test_a_prompt_with_a_role_that_the_protocol_does_not_have_is_refused() -> None:
    with pytest.raises(ValidationError):
        wire.prompt_result(PromptResult([PromptMessage("director", Text("Action!"))]))


def test_a_resource_may_have_several_contents() -> None:
    result = ResourceResult([TextContents("x://a", "A", None), BlobContents("x://b", b"B")])
    assert on_the_wire(wire.resource_result(result))["contents"] == [
        {"uri": "x://a", "text": "A"},
        {"uri": "x://b", "mimeType": "application/octet-stream", "blob": "Qg=="},
    ]


# --- errors ------------------------------------------------------------------------------------------------

SAMPLES: dict[type[GreenroomError], GreenroomError] = {
    type(error): error
    for error in (
        errors.SessionNotFound(),
        errors.TurnNotFound("t1"),
        errors.TurnInProgress("t1"),
        errors.TurnStopping("t1"),
        errors.TurnCancelled("t1"),
        errors.LateAnswer("t1"),
        errors.InvalidArguments("These do not fit.", errors=[{"path": "a", "message": "no"}]),
        errors.InternalFault("t1"),
        errors.SessionCrashed(),
        errors.Overloaded("Too much.", retry_after=3),
        errors.Draining(),
        errors.TurnTimedOut("t1", 2.5, deferred=True),
        errors.UnansweredQuestion("t1"),
        errors.ProtocolFault("Not like this."),
        errors.UnknownName("tool", "x"),
        errors.ResourceNotFound("x://y"),
        errors.InvalidPromptArguments("The prompt needs more."),
        errors.MissingClientCapability("elicitation", "roots"),
    )
}

TOLD: dict[type[GreenroomError], tuple[int, str, dict[str, Any]]] = {
    errors.SessionNotFound: (404, "session_not_found", {}),
    errors.TurnNotFound: (404, "turn_not_found", {"turn_id": "t1"}),
    errors.TurnInProgress: (409, "turn_in_progress", {"turn_id": "t1"}),
    errors.TurnStopping: (409, "turn_stopping", {"turn_id": "t1"}),
    errors.TurnCancelled: (409, "turn_cancelled", {"turn_id": "t1"}),
    errors.LateAnswer: (409, "late_answer", {"turn_id": "t1"}),
    errors.InvalidArguments: (422, "invalid_arguments", {"errors": [{"path": "a", "message": "no"}]}),
    errors.InternalFault: (500, "internal_error", {"turn_id": "t1"}),
    errors.SessionCrashed: (500, "session_crashed", {}),
    errors.Overloaded: (503, "overloaded", {"retry_after": 3}),
    errors.Draining: (503, "draining", {"retry_after": 5}),
    errors.TurnTimedOut: (504, "turn_timed_out", {"turn_id": "t1", "deferred": True}),
    errors.UnansweredQuestion: (504, "unanswered_question", {"turn_id": "t1"}),
    errors.ProtocolFault: (500, "internal_error", {}),
    errors.UnknownName: (404, "unknown_name", {}),
    errors.ResourceNotFound: (404, "resource_not_found", {"uri": "x://y"}),
    errors.InvalidPromptArguments: (422, "invalid_prompt_arguments", {}),
    errors.MissingClientCapability: (400, "missing_client_capability", {}),
}


def tree(root: type[GreenroomError]) -> set[type[GreenroomError]]:
    below = {kind for kind in root.__subclasses__() if kind.__module__ == errors.__name__}
    return below.union(*(tree(kind) for kind in below))


def test_no_error_of_the_tree_is_forgotten_here() -> None:
    assert set(SAMPLES) == set(TOLD) == tree(GreenroomError)


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: kind.__name__)
def test_an_error_that_a_model_can_read_has_a_code_a_name_a_sentence_and_its_data(kind: type[GreenroomError]) -> None:
    error = SAMPLES[kind]
    code, name, data = TOLD[kind]
    shown = on_the_wire(wire.error_result(error))
    assert shown["isError"] is True
    assert shown["content"] == [{"type": "text", "text": error.message}]
    assert shown["structuredContent"] == {"error": {"code": code, "name": name, "message": error.message, "data": data}}
    assert sse.compact(shown)


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("legacy", [True, False])
def test_an_error_of_the_protocol_has_the_protocols_code_and_says_the_same(
    kind: type[GreenroomError], legacy: bool
) -> None:
    error = SAMPLES[kind]
    code, name, data = TOLD[kind]
    told = wire.protocol_error(error, legacy=legacy)
    assert isinstance(told, MCPError)
    assert told.error.message == error.message
    expected: tuple[int, dict[str, Any]]
    if kind is errors.ResourceNotFound:
        expected = (-32002 if legacy else -32602, {"uri": "x://y"})
    elif kind is errors.MissingClientCapability:
        expected = (t.MISSING_REQUIRED_CLIENT_CAPABILITY, {"requiredCapabilities": {"elicitation": {}, "roots": {}}})
    elif issubclass(kind, ProtocolFault):
        expected = (-32602, {"name": name, **data})
    else:
        expected = (-32603, {"code": code, "name": name, **data})
    assert (told.error.code, told.error.data) == expected


def test_names_of_errors_are_stable_and_their_own() -> None:
    named = [kind.name for kind in SAMPLES if kind is not ProtocolFault]
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: kind.__name__)
def test_every_error_is_a_sentence_for_its_reader(kind: type[GreenroomError]) -> None:
    assert SAMPLES[kind].message[0].isupper()
    assert str(SAMPLES[kind]) == SAMPLES[kind].message


def test_what_is_not_known_is_left_out_of_the_data() -> None:
    assert dict(errors.InternalFault().data) == {}
    assert dict(GreenroomError("x", a=None, b=0).data) == {"b": 0}


# --- questions and answers ---------------------------------------------------------------------------------

DECLARED: list[tuple[dict[str, Any] | None, set[Ability]]] = [
    (None, set()),
    ({}, set()),
    ({"elicitation": {}}, {Ability.ELICIT}),
    ({"elicitation": {"form": {}}}, {Ability.ELICIT}),
    ({"elicitation": {"form": {}, "url": {}}}, {Ability.ELICIT}),
    ({"elicitation": {"url": {}}}, set()),
    ({"sampling": {}}, {Ability.SAMPLE}),
    ({"roots": {}}, {Ability.ROOTS}),
    ({"sampling": {}, "roots": {"listChanged": True}, "elicitation": {}}, set(Ability)),
]


@pytest.mark.parametrize(("declared", "able"), DECLARED)
def test_a_client_can_do_what_it_declared(declared: dict[str, Any] | None, able: set[Ability]) -> None:
    capabilities = t.ClientCapabilities.model_validate(declared) if declared is not None else None
    assert wire.abilities(capabilities) == able


ASKED: list[tuple[Question, dict[str, Any]]] = [
    (
        Elicit("Name?", {"type": "object", "properties": {"a": {"type": "string"}}}),
        {
            "method": "elicitation/create",
            "message": "Name?",
            "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
    ),
    (
        Sample("Rhyme?", 10, "Be brief."),
        {
            "method": "sampling/createMessage",
            "messages": [{"role": "user", "content": {"type": "text", "text": "Rhyme?"}}],
            "maxTokens": 10,
            "systemPrompt": "Be brief.",
        },
    ),
    (ListRoots(), {"method": "roots/list"}),
]


@pytest.mark.parametrize(("question", "shown"), ASKED, ids=[type(question).__name__ for question, _ in ASKED])
def test_every_kind_of_question_has_its_request(question: Question, shown: dict[str, Any]) -> None:
    request = on_the_wire(wire.question_request(question))
    assert {"method": request["method"], **request.get("params", {})}.items() >= shown.items()


ANSWERED: list[tuple[type[Question], dict[str, Any], Answer]] = [
    (Elicit, {"action": "accept", "content": {"name": "Alice"}}, Elicited("accept", {"name": "Alice"})),
    (Elicit, {"action": "decline"}, Elicited("decline")),
    (Elicit, {"action": "cancel", "content": None}, Elicited("cancel")),
    (
        Sample,
        {"role": "assistant", "content": {"type": "text", "text": "time"}, "model": "m1"},
        Sampled("time", "m1"),
    ),
    (
        Sample,
        {"role": "assistant", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}, "model": "m1"},
        Sampled("", "m1"),
    ),
    (
        ListRoots,
        {"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]},
        Roots([Root("file:///a", "A"), Root("file:///b")]),
    ),
    (ListRoots, {"roots": []}, Roots([])),
]


@pytest.mark.parametrize(("kind", "raw", "answer"), ANSWERED)
def test_every_kind_of_answer_is_understood(kind: type[Question], raw: dict[str, Any], answer: Answer) -> None:
    assert wire.answer(wire.ANSWER_TYPES[kind].model_validate(raw, by_name=False)) == answer


def test_there_is_an_answer_type_for_every_question() -> None:
    assert set(wire.ANSWER_TYPES) == {Elicit, Sample, ListRoots}

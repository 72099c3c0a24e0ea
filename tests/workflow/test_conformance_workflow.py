"""The conformance workflow, played against a turn that only remembers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs
import pytest
import trio
from jsonschema import Draft202012Validator
from trio.testing import MockClock

from greenroom.config.errors import InvalidPromptArguments, MissingClientCapability, ResourceNotFound, UnknownName
from greenroom.workflow.conformance import ConformanceWorkflow
from greenroom.workflow.events import (
    Change,
    ConnectionReleased,
    Note,
    Progress,
    PromptsChanged,
    ToolsChanged,
    TurnEvent,
)
from greenroom.workflow.port import Caller, Turn, Workflow, WorkflowSession
from greenroom.workflow.questions import (
    Ability,
    Answer,
    Answers,
    Elicit,
    Elicited,
    ListRoots,
    Questions,
    Root,
    Roots,
    Sample,
    Sampled,
)
from greenroom.workflow.values import (
    Audio,
    BlobContents,
    CallTool,
    Embedded,
    GetPrompt,
    Image,
    PromptRef,
    PromptResult,
    ReadResource,
    SessionUse,
    TemplateRef,
    Text,
    TextContents,
    ToolResult,
)

T = TypeVar("T")
EVERYTHING = frozenset(Ability)
WORKFLOW: Workflow = ConformanceWorkflow()
ALICE = Elicited("accept", {"name": "Alice"})


@attrs.define
class RecordingTurn:
    """Remembers what it was told, and answers from a script: one mapping per round of questions."""

    script: list[Mapping[str, Answer]] = attrs.field(factory=list)
    abilities: frozenset[Ability] = EVERYTHING
    events: list[TurnEvent] = attrs.field(factory=list)
    changes: list[Change] = attrs.field(factory=list)
    asked: list[Questions] = attrs.field(factory=list)
    id: str = "turn-1"

    @property
    def caller(self) -> Caller:
        return Caller("tester", self.abilities)

    def report(self, event: TurnEvent) -> None:
        self.events.append(event)

    def announce(self, change: Change) -> None:
        self.changes.append(change)

    async def ask(self, questions: Questions) -> Answers:
        self.asked.append(questions)
        return self.script.pop(0)

    async def run_blocking(self, function: Callable[..., T], *args: Any) -> T:
        raise AssertionError("nothing in this workflow blocks")


def answering(*rounds: Mapping[str, Answer], abilities: frozenset[Ability] = EVERYTHING) -> RecordingTurn:
    return RecordingTurn(list(rounds), abilities)


def session() -> WorkflowSession:
    return WORKFLOW.open_session(Caller("tester"))


async def call(name: str, turn: Turn | None = None, **arguments: Any) -> ToolResult:
    return await session().call_tool(CallTool(name, arguments), turn or RecordingTurn())


async def prompt(name: str, turn: Turn | None = None, **arguments: str) -> PromptResult:
    return await session().get_prompt(GetPrompt(name, arguments), turn or RecordingTurn())


async def read(uri: str) -> TextContents | BlobContents:
    [contents] = (await session().read_resource(ReadResource(uri), RecordingTurn())).contents
    return contents


def text_of(result: ToolResult) -> str:
    [content] = result.content
    assert isinstance(content, Text)
    return content.text


def schema_of(name: str) -> Mapping[str, Any]:
    [tool] = [one for one in WORKFLOW.tools() if one.name == name]
    return tool.input_schema


def test_every_tool_has_a_name_of_its_own_a_description_and_a_valid_closed_schema() -> None:
    tools = WORKFLOW.tools()
    assert len({tool.name for tool in tools}) == len(tools)
    for tool in tools:
        assert tool.description
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False


def test_no_tool_touches_the_session_of_its_caller() -> None:
    assert {tool.session_use for tool in WORKFLOW.tools()} == {SessionUse.NEVER}


def test_the_first_tool_can_be_called_without_arguments() -> None:
    assert "required" not in WORKFLOW.tools()[0].input_schema


def test_the_keywords_of_json_schema_2020_12_are_listed_untouched() -> None:
    schema = schema_of("json_schema_2020_12_tool")
    assert schema["$defs"]["address"]["$anchor"] == "addressDef"
    assert {"$schema", "allOf", "if", "then", "else"} <= schema.keys()


def test_one_tool_mirrors_a_string_argument_in_a_header() -> None:
    region = schema_of("test_x_mcp_header")["properties"]["region"]
    assert (region["type"], region["x-mcp-header"]) == ("string", "Region")


async def test_an_unknown_tool_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="Unknown tool: test_nothing"):
        await call("test_nothing")


async def test_simple_text_is_answered_word_for_word() -> None:
    assert text_of(await call("test_simple_text")) == "This is a simple text response for testing."


@pytest.mark.parametrize(
    ("tool", "kinds"),
    [
        ("test_image_content", [Image]),
        ("test_audio_content", [Audio]),
        ("test_embedded_resource", [Embedded]),
        ("test_multiple_content_types", [Text, Image, Embedded]),
    ],
)
async def test_content_comes_in_the_kinds_that_the_tool_promises(tool: str, kinds: list[type]) -> None:
    assert [type(content) for content in (await call(tool)).content] == kinds


async def test_the_failing_tool_says_so_in_its_result() -> None:
    result = await call("test_error_handling")
    assert result.is_error
    assert text_of(result) == "This tool intentionally returns an error for testing"


async def test_the_mirrored_argument_is_optional() -> None:
    assert text_of(await call("test_x_mcp_header", region="north")) == "region=north"
    assert text_of(await call("test_x_mcp_header")) == "region=<none>"


async def test_three_log_lines_are_written_apart_in_time(autojump_clock: MockClock) -> None:
    turn = RecordingTurn()
    await call("test_tool_with_logging", turn)
    assert [event.data for event in turn.events if isinstance(event, Note)] == [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ]
    assert trio.current_time() > 0.09


async def test_progress_grows_to_its_total(autojump_clock: MockClock) -> None:
    turn = RecordingTurn()
    await call("test_tool_with_progress", turn)
    assert [(event.progress, event.total) for event in turn.events if isinstance(event, Progress)] == [
        (0, 100),
        (50, 100),
        (100, 100),
    ]


async def test_the_connection_is_released_before_the_wait(autojump_clock: MockClock) -> None:
    turn = RecordingTurn()
    await call("test_reconnection", turn)
    assert [type(event) for event in turn.events] == [Note, ConnectionReleased, Note]


async def test_changes_are_announced_to_everybody() -> None:
    turn = RecordingTurn()
    await call("test_trigger_tool_change", turn)
    await call("test_trigger_prompt_change", turn)
    assert turn.changes == [ToolsChanged(), PromptsChanged()]


async def test_a_client_that_cannot_sample_is_refused_by_the_tool_that_needs_it() -> None:
    with pytest.raises(MissingClientCapability) as refused:
        await call("test_missing_capability", answering(abilities=frozenset({Ability.ELICIT})))
    assert refused.value.capabilities == ("sampling",)


async def test_sampling_repeats_what_the_model_said() -> None:
    turn = answering({"sample": Sampled("Blue.")})
    assert text_of(await call("test_sampling", turn, prompt="Which color?")) == "LLM response: Blue."
    assert turn.asked == [{"sample": Sample("Which color?", max_tokens=100)}]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("test_sampling", {"prompt": "Which color?"}),
        ("test_elicitation", {"message": "Who?"}),
        ("test_elicitation_sep1034_defaults", {}),
        ("test_elicitation_sep1330_enums", {}),
    ],
)
async def test_a_client_that_cannot_be_asked_is_told_so_and_not_asked(tool: str, arguments: dict[str, str]) -> None:
    turn = answering(abilities=frozenset())
    result = await call(tool, turn, **arguments)
    assert "did not declare" in text_of(result)
    assert turn.asked == []


async def test_elicitation_repeats_action_and_content() -> None:
    turn = answering({"elicit": Elicited("accept", {"username": "ann", "email": "ann@example.com"})})
    result = await call("test_elicitation", turn, message="Who are you?")
    assert text_of(result) == 'User response: action=accept, content={"username": "ann", "email": "ann@example.com"}'


async def test_a_declined_elicitation_is_an_answer_too() -> None:
    turn = answering({"elicit": Elicited("decline")})
    assert text_of(await call("test_elicitation", turn, message="Who?")) == "User response: action=decline, content={}"


async def test_every_field_of_the_defaults_form_has_its_default() -> None:
    turn = answering({"elicit": Elicited("cancel")})
    await call("test_elicitation_sep1034_defaults", turn)
    question = turn.asked[0]["elicit"]
    assert isinstance(question, Elicit)
    assert {name: one["default"] for name, one in question.schema["properties"].items()} == {
        "name": "John Doe",
        "age": 30,
        "score": 95.5,
        "status": "active",
        "verified": True,
    }


async def test_the_enums_form_has_all_five_ways_to_write_a_choice() -> None:
    turn = answering({"elicit": Elicited("cancel")})
    await call("test_elicitation_sep1330_enums", turn)
    question = turn.asked[0]["elicit"]
    assert isinstance(question, Elicit)
    fields = question.schema["properties"]
    assert "enumNames" not in fields["untitledSingle"]
    assert fields["titledSingle"]["oneOf"][0] == {"const": "value1", "title": "First Option"}
    assert len(fields["legacyEnum"]["enumNames"]) == len(fields["legacyEnum"]["enum"])
    assert fields["untitledMulti"]["items"]["enum"] == ["option1", "option2", "option3"]
    assert fields["titledMulti"]["items"]["anyOf"][0] == {"const": "value1", "title": "First Choice"}


async def test_the_streaming_tool_reports_before_it_asks() -> None:
    turn = answering({"user_name": ALICE})
    await call("test_streaming_elicitation", turn)
    assert [event.progress for event in turn.events if isinstance(event, Progress)] == [50, 100]


@pytest.mark.parametrize(
    ("tool", "answers", "expected"),
    [
        ("elicitation", {"user_name": ALICE}, "Hello, Alice!"),
        ("elicitation", {"user_name": Elicited("decline")}, "Hello, <decline>!"),
        ("sampling", {"capital_question": Sampled("Paris.")}, "The model said: Paris."),
        ("list_roots", {"client_roots": Roots([Root("file:///a")])}, "The client's roots: file:///a"),
        ("list_roots", {"client_roots": Roots()}, "The client's roots: none"),
        ("request_state", {"confirm": Elicited("accept", {"ok": True})}, "state-ok"),
        ("tampered_state", {"confirm": Elicited("accept", {"ok": True})}, "state-ok"),
    ],
)
async def test_one_question_is_asked_and_its_answer_used(tool: str, answers: dict[str, Answer], expected: str) -> None:
    turn = answering(answers)
    assert expected in text_of(await call(f"test_input_required_result_{tool}", turn))
    assert [set(questions) for questions in turn.asked] == [set(answers)]


async def test_three_questions_of_different_kinds_are_asked_at_once() -> None:
    turn = answering({"user_name": ALICE, "greeting": Sampled("Hi."), "client_roots": Roots()})
    await call("test_input_required_result_multiple_inputs", turn)
    [questions] = turn.asked
    assert {key: type(question) for key, question in questions.items()} == {
        "user_name": Elicit,
        "greeting": Sample,
        "client_roots": ListRoots,
    }


async def test_a_second_round_of_questions_remembers_the_first() -> None:
    turn = answering({"step1": ALICE}, {"step2": Elicited("accept", {"color": "blue"})})
    assert text_of(await call("test_input_required_result_multi_round", turn)) == "Alice likes blue"
    assert [set(questions) for questions in turn.asked] == [{"step1"}, {"step2"}]


async def test_only_what_the_client_can_answer_is_asked() -> None:
    turn = answering({"sample_input": Sampled("Hi.")}, abilities=frozenset({Ability.SAMPLE}))
    assert text_of(await call("test_input_required_result_capabilities", turn)) == "capabilities-ok: sample_input"
    assert [set(questions) for questions in turn.asked] == [{"sample_input"}]


async def test_a_client_that_can_answer_nothing_is_asked_nothing() -> None:
    turn = answering(abilities=frozenset())
    await call("test_input_required_result_capabilities", turn)
    assert turn.asked == []


async def test_every_listed_resource_can_be_read_under_its_own_uri_and_type() -> None:
    for resource in WORKFLOW.resources():
        contents = await read(resource.uri)
        assert (contents.uri, contents.mime_type) == (resource.uri, resource.mime_type)


async def test_the_binary_resource_is_a_png() -> None:
    contents = await read("test://static-binary")
    assert isinstance(contents, BlobContents)
    assert contents.data.startswith(b"\x89PNG")


@pytest.mark.parametrize(("written", "meant"), [("123", "123"), ("a%20b", "a b")])
async def test_the_id_in_a_templated_uri_is_in_its_data(written: str, meant: str) -> None:
    contents = await read(f"test://template/{written}/data")
    assert isinstance(contents, TextContents)
    assert json.loads(contents.text) == {"id": meant, "templateTest": True, "data": f"Data for ID: {meant}"}


@pytest.mark.parametrize("uri", ["test://nowhere", "test://template//data", "test://template/1/data/more"])
async def test_an_unknown_uri_is_not_found(uri: str) -> None:
    with pytest.raises(ResourceNotFound) as missing:
        await read(uri)
    assert missing.value.uri == uri


async def test_a_prompt_repeats_its_arguments() -> None:
    [message] = (await prompt("test_prompt_with_arguments", arg1="hello", arg2="world")).messages
    assert (message.role, message.content) == ("user", Text("Prompt with arguments: arg1='hello', arg2='world'"))


async def test_missing_prompt_arguments_are_named_all_at_once() -> None:
    with pytest.raises(InvalidPromptArguments, match="arg1, arg2"):
        await prompt("test_prompt_with_arguments")


async def test_a_prompt_embeds_the_resource_it_was_asked_for() -> None:
    first = (await prompt("test_prompt_with_embedded_resource", resourceUri="test://mine")).messages[0]
    assert first.content == Embedded(TextContents("test://mine", "Embedded resource content for testing."))


async def test_prompts_may_hold_text_or_an_image() -> None:
    assert [type(one.content) for one in (await prompt("test_simple_prompt")).messages] == [Text]
    assert [type(one.content) for one in (await prompt("test_prompt_with_image")).messages] == [Image, Text]


async def test_a_prompt_may_ask_the_user_first() -> None:
    turn = answering({"user_context": Elicited("accept", {"context": "the sea"})})
    [message] = (await prompt("test_input_required_result_prompt", turn)).messages
    assert message.content == Text("Use the following context: the sea")


async def test_an_unknown_prompt_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="Unknown prompt: test_nothing"):
        await prompt("test_nothing")


def test_suggestions_begin_with_what_was_typed() -> None:
    completions = WORKFLOW.complete(PromptRef("test_prompt_with_arguments"), "arg1", "PAR", {})
    assert (list(completions.values), completions.total) == (["paris", "park", "party"], 3)


def test_an_argument_without_suggestions_has_none() -> None:
    assert not WORKFLOW.complete(PromptRef("test_simple_prompt"), "arg1", "", {}).values
    assert not WORKFLOW.complete(TemplateRef("test://template/{id}/data"), "id", "1", {}).values


@pytest.mark.parametrize("ref", [PromptRef("test_nothing"), TemplateRef("test://nothing/{id}")])
def test_suggestions_for_something_unknown_are_refused(ref: PromptRef | TemplateRef) -> None:
    with pytest.raises(UnknownName):
        WORKFLOW.complete(ref, "arg1", "", {})

"""The demonstration workflow, played against a turn that only remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs
import pytest
import trio
from jsonschema import Draft202012Validator
from trio.testing import MockClock

from greenroom.config.errors import InvalidPromptArguments, ResourceNotFound, UnknownName
from greenroom.config.settings import Settings
from greenroom.workflow.catalog import BUILT_IN, find_workflow
from greenroom.workflow.conformance import ConformanceWorkflow
from greenroom.workflow.demo import MAX_NOTES, DemoWorkflow
from greenroom.workflow.events import Change, Progress, TurnEvent
from greenroom.workflow.port import Caller, Workflow, WorkflowSession
from greenroom.workflow.questions import Ability, Answer, Answers, Elicit, Elicited, Questions, accepts
from greenroom.workflow.values import (
    CallTool,
    GetPrompt,
    PromptRef,
    ReadResource,
    SessionUse,
    TemplateRef,
    Text,
    TextContents,
    ToolResult,
)

T = TypeVar("T")
WORKFLOW: Workflow = DemoWorkflow()


@attrs.define
class RecordingTurn:
    """Remembers what it was told, and gives one answer to whatever it is asked."""

    answer: Answer | None = None
    abilities: frozenset[Ability] = frozenset()
    events: list[TurnEvent] = attrs.field(factory=list)
    asked: list[Questions] = attrs.field(factory=list)
    id: str = "turn-1"

    @property
    def caller(self) -> Caller:
        return Caller("tester", self.abilities)

    def report(self, event: TurnEvent) -> None:
        self.events.append(event)

    def announce(self, change: Change) -> None:
        raise AssertionError("nothing in this workflow changes")

    async def ask(self, questions: Questions) -> Answers:
        self.asked.append(questions)
        assert self.answer is not None
        return dict.fromkeys(questions, self.answer)

    async def run_blocking(self, function: Callable[..., T], *args: Any) -> T:
        raise AssertionError("nothing in this workflow blocks")


def session() -> WorkflowSession:
    return WORKFLOW.open_session(Caller("tester"))


def text_of(result: ToolResult) -> str:
    [content] = result.content
    assert isinstance(content, Text)
    return content.text


def output_schema(name: str) -> Any:
    [tool] = [each for each in WORKFLOW.tools() if each.name == name]
    return tool.output_schema


async def call(name: str, turn: RecordingTurn | None = None, **arguments: Any) -> ToolResult:
    return await session().call_tool(CallTool(name, arguments), turn or RecordingTurn())


def test_every_tool_has_a_name_of_its_own_a_description_and_a_valid_closed_schema() -> None:
    tools = WORKFLOW.tools()
    assert len({tool.name for tool in tools}) == len(tools)
    for tool in tools:
        assert tool.description
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False


def test_only_the_notebook_needs_a_session() -> None:
    uses = {tool.name: tool.session_use for tool in WORKFLOW.tools()}
    assert uses == {
        "countdown": SessionUse.OPTIONAL,
        "greet": SessionUse.OPTIONAL,
        "remember": SessionUse.REQUIRED,
        "recall": SessionUse.REQUIRED,
    }


async def test_a_countdown_reports_every_step_and_takes_the_time_it_was_given(autojump_clock: MockClock) -> None:
    turn = RecordingTurn()
    assert text_of(await call("countdown", turn, steps=4, seconds=8)) == "4 steps, and lift-off!"
    assert trio.current_time() == 8
    assert turn.events == [Progress(step, 4, f"T minus {4 - step}") for step in range(1, 5)]


async def test_a_countdown_has_defaults(autojump_clock: MockClock) -> None:
    turn = RecordingTurn()
    assert text_of(await call("countdown", turn)) == "3 steps, and lift-off!"
    assert trio.current_time() == pytest.approx(1)
    assert len(turn.events) == 3


async def test_a_notebook_keeps_its_notes_in_order_and_to_its_session() -> None:
    mine, other = session(), session()
    for note in ("one", "two"):
        result = await mine.call_tool(CallTool("remember", {"note": note}), RecordingTurn())
    assert result.structured == {"notes": ["one", "two"]}
    recalled = await mine.call_tool(CallTool("recall"), RecordingTurn())
    assert text_of(recalled) == "one\ntwo"
    assert recalled.structured == {"notes": ["one", "two"]}
    empty = await other.call_tool(CallTool("recall"), RecordingTurn())
    assert text_of(empty) == "The notebook is empty."
    assert empty.structured == {"notes": []}


async def test_what_was_handed_out_does_not_change_afterwards() -> None:
    mine = session()
    first = await mine.call_tool(CallTool("remember", {"note": "one"}), RecordingTurn())
    await mine.call_tool(CallTool("remember", {"note": "two"}), RecordingTurn())
    assert first.structured == {"notes": ["one"]}


@pytest.mark.parametrize(("name", "arguments"), [("remember", {"note": "x"}), ("recall", {})])
async def test_structured_results_follow_their_schema(name: str, arguments: dict[str, Any]) -> None:
    result = await call(name, **arguments)
    Draft202012Validator(output_schema(name)).validate(result.structured)


async def test_a_full_notebook_says_so_and_keeps_what_it_has() -> None:
    mine = session()
    for number in range(MAX_NOTES):
        await mine.call_tool(CallTool("remember", {"note": str(number)}), RecordingTurn())
    refused = await mine.call_tool(CallTool("remember", {"note": "one more"}), RecordingTurn())
    assert refused.is_error
    assert str(MAX_NOTES) in text_of(refused)
    recalled = await mine.call_tool(CallTool("recall"), RecordingTurn())
    assert recalled.structured is not None
    assert len(recalled.structured["notes"]) == MAX_NOTES


async def test_a_client_that_cannot_be_asked_is_greeted_without_a_name() -> None:
    turn = RecordingTurn(abilities=frozenset({Ability.SAMPLE, Ability.ROOTS}))
    assert "whoever you are" in text_of(await call("greet", turn))
    assert turn.asked == []


@pytest.mark.parametrize(
    ("answer", "greeting"),
    [
        (Elicited("accept", {"name": "Alice"}), "Hello, Alice!"),
        (Elicited("decline"), "Hello, mysterious stranger!"),
        (Elicited("cancel"), "Hello, mysterious stranger!"),
    ],
)
async def test_a_client_that_can_be_asked_is_greeted_as_it_answers(answer: Elicited, greeting: str) -> None:
    turn = RecordingTurn(answer, frozenset({Ability.ELICIT}))
    assert text_of(await call("greet", turn)) == greeting
    [questions] = turn.asked
    assert accepts(questions["name"], answer)


async def test_the_question_for_a_name_does_not_take_an_empty_one() -> None:
    turn = RecordingTurn(Elicited("decline"), frozenset({Ability.ELICIT}))
    await call("greet", turn)
    question = turn.asked[0]["name"]
    assert isinstance(question, Elicit)
    assert not accepts(question, Elicited("accept", {"name": ""}))
    assert not accepts(question, Elicited("accept", {}))


async def test_names_that_are_not_on_the_bill_are_unknown() -> None:
    with pytest.raises(UnknownName, match="tool: dance"):
        await call("dance")
    with pytest.raises(UnknownName, match="prompt: dance"):
        await session().get_prompt(GetPrompt("dance"), RecordingTurn())
    with pytest.raises(ResourceNotFound) as caught:
        await session().read_resource(ReadResource("greenroom://cellar"), RecordingTurn())
    assert caught.value.uri == "greenroom://cellar"


async def test_a_prompt_is_made_from_its_argument_and_not_without_it() -> None:
    [message] = (await session().get_prompt(GetPrompt("rehearse", {"scene": "a duel"}), RecordingTurn())).messages
    assert message.role == "user"
    assert message.content == Text("Rehearse this scene with me: a duel")
    with pytest.raises(InvalidPromptArguments, match="scene"):
        await session().get_prompt(GetPrompt("rehearse"), RecordingTurn())


async def test_every_resource_that_is_listed_can_be_read() -> None:
    for resource in WORKFLOW.resources():
        [contents] = (await session().read_resource(ReadResource(resource.uri), RecordingTurn())).contents
        assert isinstance(contents, TextContents)
        assert contents.uri == resource.uri
        assert contents.mime_type == resource.mime_type
    assert WORKFLOW.resource_templates() == ()


def test_scenes_are_completed_by_what_they_contain() -> None:
    complete = WORKFLOW.complete
    assert complete(PromptRef("rehearse"), "scene", "CURTAIN", {}).values == ["a curtain call"]
    assert len(complete(PromptRef("rehearse"), "scene", "", {}).values) == 3
    assert complete(PromptRef("rehearse"), "scene", "zzz", {}).values == []
    assert complete(PromptRef("rehearse"), "tempo", "", {}).values == ()
    assert complete(PromptRef("dance"), "scene", "", {}).values == ()
    assert complete(TemplateRef("x://{y}"), "scene", "", {}).values == ()


@pytest.mark.parametrize(("name", "kind"), [("demo", DemoWorkflow), ("conformance", ConformanceWorkflow)])
def test_the_catalog_knows_the_workflows_that_are_built_in(name: str, kind: type) -> None:
    assert isinstance(find_workflow(attrs.evolve(Settings(), workflow=name)), kind)
    assert set(BUILT_IN) == {"demo", "conformance"}

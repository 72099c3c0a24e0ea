"""A small stage for these tests: a workflow that plays what a test wrote, and ways to ask its sessions."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest
import trio

from greenroom.actors.messages import (
    Asking,
    CancelRequested,
    Failed,
    Finished,
    Heard,
    InputProvided,
    InputRequired,
    TurnAwaited,
    TurnRequested,
)
from greenroom.actors.reply import Reply
from greenroom.actors.session import SessionActor
from greenroom.actors.supervisor import Limits, Supervisor
from greenroom.config.errors import GreenroomError, SessionNotFound
from greenroom.persistence.journal import Journal
from greenroom.workflow.port import Caller, Turn, WorkflowSession
from greenroom.workflow.questions import Ability, Answer, Elicit, Elicited
from greenroom.workflow.values import (
    CallTool,
    Completions,
    GetPrompt,
    Order,
    Prompt,
    PromptMessage,
    PromptRef,
    PromptResult,
    ReadResource,
    Resource,
    ResourceResult,
    ResourceTemplate,
    TemplateRef,
    Text,
    TextContents,
    Tool,
    ToolResult,
)

Scene = Callable[[Turn], Awaitable[ToolResult]]
OpenSession = Callable[..., Awaitable[SessionActor]]
"""What the fixture `open_session` gives."""

EVERYTHING = frozenset(Ability)
ANNA = Caller("anna", EVERYTHING)
BERT = Caller("bert", EVERYTHING)

NAME = Elicit("Your name?", {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
AGE = Elicit("Your age?", {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]})
ALICE = Elicited("accept", {"name": "Alice"})
NAMELESS = Elicited("accept", {"name": 7})
FORTY = Elicited("accept", {"age": 40})


def said(text: str) -> ToolResult:
    return ToolResult([Text(text)])


DONE = said("done")


async def at_once(turn: Turn) -> ToolResult:
    return DONE


async def for_ever(turn: Turn) -> ToolResult:
    await trio.sleep_forever()
    raise AssertionError("unreachable")


async def for_ten_seconds(turn: Turn) -> ToolResult:
    await trio.sleep(10)
    return DONE


async def asks_for_a_name(turn: Turn) -> ToolResult:
    answers = await turn.ask({"name": NAME})
    answer = answers["name"]
    assert isinstance(answer, Elicited)
    return said(f"{answer.action} {answer.content.get('name', '')}".rstrip())


class Blocking:
    """A scene whose blocking code is held in its thread until the test lets it go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.let_go = threading.Event()

    async def __call__(self, turn: Turn) -> ToolResult:
        return await turn.run_blocking(self._block)

    def _block(self) -> ToolResult:
        self.entered.set()
        assert self.let_go.wait(10)
        return said("from the thread")

    async def wait_until_entered(self) -> None:
        assert await trio.to_thread.run_sync(self.entered.wait, 10)


class ScriptedSession:
    def __init__(self, scenes: Mapping[str, Scene]) -> None:
        self._scenes = scenes

    async def call_tool(self, order: CallTool, turn: Turn) -> ToolResult:
        return await self._scenes[order.name](turn)

    async def get_prompt(self, order: GetPrompt, turn: Turn) -> PromptResult:
        return PromptResult([PromptMessage("user", Text(order.name))])

    async def read_resource(self, order: ReadResource, turn: Turn) -> ResourceResult:
        return ResourceResult([TextContents(order.uri, "what it holds")])


class Scripted:
    """A workflow whose tools are the functions that a test gives it."""

    name = "scripted"
    description = "Plays what it is given."
    parts: Sequence[Any] = ()

    def __init__(self, **scenes: Scene) -> None:
        self.scenes: dict[str, Scene] = {"at_once": at_once, "for_ever": for_ever, "asks": asks_for_a_name, **scenes}

    def tools(self) -> Sequence[Tool]:
        return ()

    def prompts(self) -> Sequence[Prompt]:
        return ()

    def resources(self) -> Sequence[Resource]:
        return ()

    def resource_templates(self) -> Sequence[ResourceTemplate]:
        return ()

    def complete(
        self, ref: PromptRef | TemplateRef, argument: str, value: str, context: Mapping[str, str]
    ) -> Completions:
        return Completions()

    def open_session(self, caller: Caller) -> WorkflowSession:
        return ScriptedSession(self.scenes)


async def open_house(
    nursery: trio.Nursery, workflow: Scripted | None = None, journal: Journal | None = None, **limits: Any
) -> Supervisor:
    """A supervisor at work in this nursery."""
    supervisor = Supervisor(workflow or Scripted(), Limits(**limits), journal)
    await nursery.start(supervisor.run)
    return supervisor


# --- asking, without waiting -------------------------------------------------------------------------------


def play(
    actor: SessionActor,
    scene: str | Order,
    turn_id: str = "turn-1",
    *,
    timeout: float = 60.0,
    answers: Mapping[str, Answer] | None = None,
    abilities: frozenset[Ability] = EVERYTHING,
    events: int = 0,
) -> Reply:
    reply = Reply(events=events)
    order = CallTool(scene) if isinstance(scene, str) else scene
    caller = Caller(actor.user_id, abilities)
    actor.ask(TurnRequested(turn_id, order, caller, reply, timeout, answers or {}), reply)
    return reply


def join(actor: SessionActor, turn_id: str = "turn-1") -> Reply:
    reply = Reply()
    actor.ask(TurnAwaited(turn_id, reply), reply)
    return reply


def cancel(actor: SessionActor, turn_id: str = "turn-1") -> Reply:
    reply = Reply()
    actor.ask(CancelRequested(turn_id, reply), reply)
    return reply


def answer(actor: SessionActor, turn_id: str = "turn-1", /, **answers: Answer) -> Reply:
    reply = Reply()
    actor.ask(InputProvided(turn_id, answers, reply), reply)
    return reply


def request(turn_id: str, scene: str, timeout: float = 60.0) -> Callable[[Reply], Asking]:
    return lambda reply: TurnRequested(turn_id, CallTool(scene), ANNA, reply, timeout)


# --- what was heard ----------------------------------------------------------------------------------------


def result_of(heard: Heard | None) -> str:
    assert isinstance(heard, Finished), heard
    assert isinstance(heard.result, ToolResult)
    [content] = heard.result.content
    assert isinstance(content, Text)
    return content.text


def error_of(heard: Heard | None) -> GreenroomError:
    assert isinstance(heard, Failed), heard
    return heard.error


def questions_of(heard: Heard | None) -> set[str]:
    assert isinstance(heard, InputRequired), heard
    return set(heard.questions)


def assert_gone(house: Supervisor, actor: SessionActor) -> None:
    with pytest.raises(SessionNotFound):
        house.find(actor.handle)
    with pytest.raises(SessionNotFound):
        play(actor, "at_once")


def tasks() -> int:
    """How many tasks there are in this loop."""
    return trio.lowlevel.current_statistics().tasks_living

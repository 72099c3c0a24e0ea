"""The workflow that plays when nobody named one: a small tour of what a workflow can do.

It counts down with progress, keeps notes in the session, and asks for a name. It is a demonstration and a
sound check, not a base class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import trio

from greenroom.config.errors import InvalidPromptArguments, ResourceNotFound, UnknownName
from greenroom.workflow.events import Progress
from greenroom.workflow.port import Caller, Part, Turn, WorkflowSession
from greenroom.workflow.questions import Ability, Elicit, Elicited
from greenroom.workflow.values import (
    CallTool,
    Completions,
    GetPrompt,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptRef,
    PromptResult,
    ReadResource,
    Resource,
    ResourceResult,
    ResourceTemplate,
    SessionUse,
    TemplateRef,
    Text,
    TextContents,
    Tool,
    ToolHints,
    ToolResult,
)

MAX_NOTES = 1000

_NOTES_SCHEMA = {
    "type": "object",
    "properties": {"notes": {"type": "array", "items": {"type": "string"}}},
    "required": ["notes"],
}

TOOLS = (
    Tool(
        name="countdown",
        description="Count down to lift-off, reporting progress at every step.",
        input_schema={
            "type": "object",
            "properties": {
                "steps": {"type": "integer", "minimum": 1, "maximum": 100, "default": 3, "description": "How many"},
                "seconds": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 600,
                    "default": 1,
                    "description": "How long the whole countdown takes",
                },
            },
            "additionalProperties": False,
        },
        hints=ToolHints(read_only=True),
        session_use=SessionUse.OPTIONAL,
    ),
    Tool(
        name="greet",
        description="Greet the user by name. Asks for the name if the client can pass the question on.",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        hints=ToolHints(read_only=True),
        session_use=SessionUse.OPTIONAL,
    ),
    Tool(
        name="remember",
        description="Write a note into this session's notebook.",
        input_schema={
            "type": "object",
            "properties": {"note": {"type": "string", "minLength": 1, "maxLength": 10_000}},
            "required": ["note"],
            "additionalProperties": False,
        },
        output_schema=_NOTES_SCHEMA,
        hints=ToolHints(read_only=False, destructive=False),
    ),
    Tool(
        name="recall",
        description="Read this session's notebook.",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        output_schema=_NOTES_SCHEMA,
        hints=ToolHints(read_only=True),
    ),
)

PROMPTS = (
    Prompt(
        name="rehearse",
        description="Ask the model to rehearse a scene.",
        arguments=(PromptArgument("scene", "What the scene is about"),),
    ),
)

_SCENES = ("a countdown", "a curtain call", "a first night")
_WELCOME = Resource("greenroom://welcome", "welcome", "What this server is", "text/plain")


class DemoSession:
    """One visitor's notebook."""

    def __init__(self) -> None:
        self._notes: list[str] = []

    async def call_tool(self, order: CallTool, turn: Turn) -> ToolResult:
        match order.name:
            case "countdown":
                return await self._countdown(order, turn)
            case "greet":
                return await self._greet(turn)
            case "remember":
                if len(self._notes) >= MAX_NOTES:
                    return ToolResult([Text(f"The notebook is full: it holds {MAX_NOTES} notes.")], is_error=True)
                self._notes.append(order.arguments["note"])
                return self._notebook()
            case "recall":
                return self._notebook()
            case unknown:
                raise UnknownName("tool", unknown)

    async def get_prompt(self, order: GetPrompt, turn: Turn) -> PromptResult:
        if order.name != "rehearse":
            raise UnknownName("prompt", order.name)
        if "scene" not in order.arguments:
            raise InvalidPromptArguments("The prompt `rehearse` needs the argument `scene`.")
        return PromptResult([PromptMessage("user", Text(f"Rehearse this scene with me: {order.arguments['scene']}"))])

    async def read_resource(self, order: ReadResource, turn: Turn) -> ResourceResult:
        if order.uri != _WELCOME.uri:
            raise ResourceNotFound(order.uri)
        return ResourceResult([TextContents(order.uri, "This is the green room. Call `countdown` to see progress.")])

    async def _countdown(self, order: CallTool, turn: Turn) -> ToolResult:
        steps = int(order.arguments.get("steps", 3))
        seconds = float(order.arguments.get("seconds", 1))
        for done in range(1, steps + 1):
            await trio.sleep(seconds / steps)
            turn.report(Progress(done, steps, f"T minus {steps - done}"))
        return ToolResult([Text(f"{steps} steps, and lift-off!")])

    async def _greet(self, turn: Turn) -> ToolResult:
        if Ability.ELICIT not in turn.caller.abilities:
            return ToolResult([Text("Hello, whoever you are! (This client cannot be asked for a name.)")])
        schema = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]}
        answer = (await turn.ask({"name": Elicit("What is your name?", schema)}))["name"]
        if isinstance(answer, Elicited) and answer.action == "accept":
            return ToolResult([Text(f"Hello, {answer.content['name']}!")])
        return ToolResult([Text("Hello, mysterious stranger!")])

    def _notebook(self) -> ToolResult:
        text = "\n".join(self._notes) or "The notebook is empty."
        return ToolResult([Text(text)], structured={"notes": list(self._notes)})


class DemoWorkflow:
    name = "demo"
    description = "A small demonstration: a countdown with progress, a notebook per session, a greeting."
    parts: Sequence[Part] = ()

    def tools(self) -> Sequence[Tool]:
        return TOOLS

    def prompts(self) -> Sequence[Prompt]:
        return PROMPTS

    def resources(self) -> Sequence[Resource]:
        return (_WELCOME,)

    def resource_templates(self) -> Sequence[ResourceTemplate]:
        return ()

    def complete(
        self, ref: PromptRef | TemplateRef, argument: str, value: str, context: Mapping[str, str]
    ) -> Completions:
        if ref != PromptRef("rehearse") or argument != "scene":
            return Completions()
        return Completions([scene for scene in _SCENES if value.lower() in scene])

    def open_session(self, caller: Caller) -> WorkflowSession:
        return DemoSession()

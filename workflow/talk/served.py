"""A workflow folder as the stage sees it: tools, prompts, and a session of its own for every client.

The startup action or command runs once, as the beginning of a session's first turn, however the client came.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from greenroom.config.errors import GreenroomError, InvalidPromptArguments, ResourceNotFound, UnknownName
from greenroom.config.problems import ConfigurationError
from greenroom.workflow.engine.definition import WorkflowDefinition
from greenroom.workflow.engine.instance import Instance
from greenroom.workflow.engine.metadata import commands_metadata, display_text, workflow_info
from greenroom.workflow.engine.state import SavedState, restore_state, save_state
from greenroom.workflow.llm.port import LanguageModel
from greenroom.workflow.port import Caller, Part, Turn, WorkflowSession
from greenroom.workflow.talk import bill
from greenroom.workflow.talk.agent import Agent, Exchange, Memory
from greenroom.workflow.talk.assistant import Assistant
from greenroom.workflow.talk.outputs import of_command, tool_result
from greenroom.workflow.talk.performing import Performer
from greenroom.workflow.talk.routers import Routers
from greenroom.workflow.values import (
    CallTool,
    Completions,
    GetPrompt,
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
    Tool,
    ToolResult,
)

log = logging.getLogger(__name__)


@attrs.frozen
class Startup:
    """What a session begins with: a command with parameters, or a command in its explicit form."""

    command_name: str = ""
    parameters: Mapping[str, Any] = attrs.field(factory=dict)
    text: str = ""

    @classmethod
    def of(
        cls, command: str | None, action: Mapping[str, Any] | None, definition: WorkflowDefinition
    ) -> Startup | None:
        """What the operator asks for, else what the folder does. Raises `ConfigurationError` if there is no such."""
        startup = None
        if command is not None:
            startup = cls(text=command.strip().removeprefix("/"))
        elif action is not None:
            startup = cls(str(action["command_name"]), action.get("parameters") or {}, str(action.get("command") or ""))
        elif definition.startup_action is not None:
            given = definition.startup_action
            startup = cls(given.command_name, given.parameters, given.command)
        if startup is not None:
            startup.check(definition)
        return startup

    def check(self, definition: WorkflowDefinition) -> None:
        """A startup that can only fail would fail every session: better to say so before there are any."""
        try:
            instance = Instance(definition)
            _ = instance.read(self.text) if self._is_text else instance.find(self.command_name)
        except GreenroomError as error:
            raise ConfigurationError(f"The startup of the workflow cannot be run. {error.message}") from error

    async def perform(self, performer: Performer) -> None:
        if self._is_text:
            await performer.run_text(self.text)
        else:
            await performer.run(self.command_name, self.parameters, said=self.text)

    @property
    def _is_text(self) -> bool:
        return not self.command_name


@attrs.frozen
class ServedWorkflow:
    definition: WorkflowDefinition
    startup: Startup | None = None
    context: Mapping[str, Any] = attrs.field(factory=dict)
    tracing: bool = True
    llm: LanguageModel | None = None
    parts: Sequence[Part] = ()
    assistant: Assistant = attrs.field(init=False)
    agent: Agent = attrs.field(init=False)

    @assistant.default
    def _make_assistant(self) -> Assistant:
        return Assistant(Routers(), self.llm)

    @agent.default
    def _make_agent(self) -> Agent:
        return Agent(self.llm, self.assistant)

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def description(self) -> str:
        return self.definition.description or f"The workflow {self.definition.name}."

    def tools(self) -> Sequence[Tool]:
        return bill.TOOLS

    def prompts(self) -> Sequence[Prompt]:
        return bill.PROMPTS

    def resources(self) -> Sequence[Resource]:
        return ()

    def resource_templates(self) -> Sequence[ResourceTemplate]:
        return ()

    def complete(
        self, ref: PromptRef | TemplateRef, argument: str, value: str, context: Mapping[str, str]
    ) -> Completions:
        return Completions()

    def open_session(self, caller: Caller) -> WorkflowSession:
        return ServedSession(self)


class ServedSession:
    """One client's copy. The workflow's own objects are made by the first turn, not by opening the session."""

    __slots__ = ("_instance", "_memory", "_served")

    def __init__(self, served: ServedWorkflow) -> None:
        self._served = served
        self._instance: Instance | None = None
        self._memory: Memory | None = None

    async def call_tool(self, order: CallTool, turn: Turn) -> ToolResult:
        performer = await self._performer(turn)
        match order.name:
            case bill.GET_WORKFLOW_INFO.name:
                return _structured(workflow_info(self._served.definition))
            case bill.GET_COMMANDS.name:
                workflow = performer.instance.workflow
                text = display_text(workflow)
                return _structured({"display_text": text, "commands": commands_metadata(workflow)}, text)
            case bill.EXECUTE_COMMAND.name:
                said = of_command(await performer.run_text(order.arguments["command"]))
            case bill.INVOKE_ASSISTANT.name:
                said = await self._served.assistant.say(order.arguments["user_query"], performer)
            case bill.INVOKE_AGENT.name:
                self._memory = self._memory or Memory()
                said = await self._served.agent.say(order.arguments["user_query"], performer, self._memory)
            case unknown:
                raise UnknownName("tool", unknown)
        return tool_result(
            said,
            workflow_name=self._served.name,
            context=performer.instance.workflow.current_command_context_displayname,
            traces=performer.traces,
        )

    async def get_prompt(self, order: GetPrompt, turn: Turn) -> PromptResult:
        prompt = next((each for each in bill.PROMPTS if each.name == order.name), None)
        if prompt is None:
            raise UnknownName("prompt", order.name)
        missing = [each.name for each in prompt.arguments if each.name not in order.arguments]
        if missing:
            raise InvalidPromptArguments(f"The prompt {prompt.name} also needs: {', '.join(missing)}")
        write = bill.format_command_text if prompt is bill.FORMAT_COMMAND else bill.clarify_params_text
        text = write(*(order.arguments[each.name] for each in prompt.arguments))
        return PromptResult([PromptMessage("user", Text(text))], prompt.description)

    async def read_resource(self, order: ReadResource, turn: Turn) -> ResourceResult:
        raise ResourceNotFound(order.uri)

    # --- a life beyond the first ---------------------------------------------------------------------------

    def recollect(self, exchanges: Sequence[Exchange]) -> None:
        self._memory = Memory.of(exchanges) if exchanges else None

    async def save(self, turn: Turn) -> Mapping[str, Any] | None:
        instance = self._instance
        if instance is None:
            return None
        if any(context.state_hooks for context in instance.definition.contexts.values()):
            return (await turn.run_blocking(save_state, instance)).to_json()
        # Without hooks nothing of the workflow's own code runs, so no thread is needed.
        return save_state(instance).to_json() if instance.workflow.context else None

    async def restore(self, saved: Mapping[str, Any], turn: Turn) -> Mapping[str, Any]:
        performer = await self._performer(turn)
        try:
            state = SavedState.from_json(saved)
        except ValueError:
            log.exception("a saved state cannot be read")
            return {"restored": [], "lost": [{"part": "everything", "why": "what was saved cannot be read"}]}
        back = await turn.run_blocking(restore_state, performer.instance, state)
        return {"restored": list(back.restored), "lost": [attrs.asdict(loss) for loss in back.lost]}

    # --- inside --------------------------------------------------------------------------------------------

    async def _performer(self, turn: Turn) -> Performer:
        """For this turn; the first one begins with the startup, and fails if that does."""
        if self._instance is not None:
            return Performer(self._instance, turn, tracing=self._served.tracing)
        instance = Instance(self._served.definition, context=self._served.context)
        performer = Performer(instance, turn, tracing=self._served.tracing)
        if self._served.startup is not None:
            await self._served.startup.perform(performer)
        self._instance = instance
        performer.results.clear()
        return performer


def _structured(value: dict[str, Any], text: str | None = None) -> ToolResult:
    lines = text or "\n".join(f"{key}: {each}" for key, each in value.items())
    return ToolResult([Text(lines)], value)

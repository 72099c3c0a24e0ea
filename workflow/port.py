"""The port between the stage and what plays on it.

A `Workflow` is one immutable definition per server: what it offers, and a way to open a session of it. A
`WorkflowSession` is the mutable part, one per client session, and only ever sees one turn at a time. A `Turn`
is what the stage hands to the workflow for the duration of one order: the way to report, to ask, to run
blocking code and to tell everybody of a change.

The stage stands above (`actors`); the implementations stand beside this file. Neither knows the other's
insides, and neither knows MCP or HTTP.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import attrs

from greenroom.workflow.events import Change, TurnEvent
from greenroom.workflow.questions import Ability, Answers, Questions
from greenroom.workflow.values import (
    CallTool,
    Completions,
    GetPrompt,
    Prompt,
    PromptRef,
    PromptResult,
    ReadResource,
    Resource,
    ResourceResult,
    ResourceTemplate,
    TemplateRef,
    Tool,
    ToolResult,
)

T = TypeVar("T")

Part = Callable[..., Awaitable[None]]
"""A function that runs until it is cancelled; it takes a `task_status` and tells it when it has started."""


@attrs.frozen
class Caller:
    """Who is asking, and what their client can do for us. Passed along explicitly, never by context variable."""

    user_id: str
    abilities: frozenset[Ability] = frozenset()


class Turn(Protocol):
    """One order being carried out. Not to be kept after the order is done."""

    @property
    def id(self) -> str: ...

    @property
    def caller(self) -> Caller: ...

    def report(self, event: TurnEvent) -> None:
        """Tell whoever watches this turn. Never blocks, never fails."""

    def announce(self, change: Change) -> None:
        """Tell every client that something they may have cached is different now."""

    async def ask(self, questions: Questions) -> Answers:
        """Put questions to the client and wait for all the answers, keyed as the questions were.

        Raises `MissingClientCapability` if the client cannot be asked; look at `caller.abilities` first to
        do without. The turn's own deadline stands still meanwhile; another one bounds the wait.
        """

    async def run_blocking(self, function: Callable[..., T], *args: Any) -> T:
        """Run `function` in a worker thread. A turn that is stopped meanwhile does not wait for it."""


class WorkflowSession(Protocol):
    """One client's copy of the workflow. An exception it raises is a failed turn, never a failed server."""

    async def call_tool(self, order: CallTool, turn: Turn) -> ToolResult: ...

    async def get_prompt(self, order: GetPrompt, turn: Turn) -> PromptResult: ...

    async def read_resource(self, order: ReadResource, turn: Turn) -> ResourceResult: ...


class Workflow(Protocol):
    """A definition. The lists may differ from one call to the next only after a `Change` was announced."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parts(self) -> Sequence[Part]:
        """What has to run beside the sessions for as long as the server serves."""

    def tools(self) -> Sequence[Tool]: ...

    def prompts(self) -> Sequence[Prompt]: ...

    def resources(self) -> Sequence[Resource]: ...

    def resource_templates(self) -> Sequence[ResourceTemplate]: ...

    def complete(
        self, ref: PromptRef | TemplateRef, argument: str, value: str, context: Mapping[str, str]
    ) -> Completions: ...

    def open_session(self, caller: Caller) -> WorkflowSession:
        """A fresh session. Cheap: anything slow belongs to the first turn."""

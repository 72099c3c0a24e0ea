"""The conformance workflow: the tables of its neighbours behind the port.

It keeps nothing between turns, so one session serves every caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from greenroom.config.errors import UnknownName
from greenroom.workflow.conformance.asking import ASKING_TOOLS
from greenroom.workflow.conformance.entries import ToolTable
from greenroom.workflow.conformance.prompts import PROMPTS, get_prompt, suggest
from greenroom.workflow.conformance.resources import RESOURCES, TEMPLATE, read
from greenroom.workflow.conformance.tools import TOOLS
from greenroom.workflow.port import Caller, Part, Turn
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

ALL_TOOLS: ToolTable = {**TOOLS, **ASKING_TOOLS}


@attrs.frozen
class ConformanceSession:
    async def call_tool(self, order: CallTool, turn: Turn) -> ToolResult:
        if order.name not in ALL_TOOLS:
            raise UnknownName("tool", order.name)
        return await ALL_TOOLS[order.name].handler(order.arguments, turn)

    async def get_prompt(self, order: GetPrompt, turn: Turn) -> PromptResult:
        return await get_prompt(order, turn)

    async def read_resource(self, order: ReadResource, turn: Turn) -> ResourceResult:
        return ResourceResult([read(order.uri)])


@attrs.frozen
class ConformanceWorkflow:
    """Every tool, prompt and resource that the conformance suite asks a server for."""

    name: str = "conformance"
    description: str = "The tools, prompts and resources that the MCP conformance suite expects of a server."
    parts: Sequence[Part] = ()

    def tools(self) -> Sequence[Tool]:
        return [one.tool for one in ALL_TOOLS.values()]

    def prompts(self) -> Sequence[Prompt]:
        return [one.prompt for one in PROMPTS.values()]

    def resources(self) -> Sequence[Resource]:
        return RESOURCES

    def resource_templates(self) -> Sequence[ResourceTemplate]:
        return [TEMPLATE]

    def complete(
        self, ref: PromptRef | TemplateRef, argument: str, value: str, context: Mapping[str, str]
    ) -> Completions:
        match ref:
            case PromptRef(name):
                values = suggest(name, argument, value)
                return Completions(values, len(values))
            case TemplateRef(uri_template) if uri_template == TEMPLATE.uri_template:
                return Completions((), 0)
            case TemplateRef(uri_template):
                raise UnknownName("resource template", uri_template)

    def open_session(self, caller: Caller) -> ConformanceSession:
        return ConformanceSession()

"""A tool and the function that plays it, as one entry of a table.

The modules beside this one each hold a part of the table; `workflow` puts the parts together.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import attrs

from greenroom.workflow.port import Turn
from greenroom.workflow.values import Json, SessionUse, Text, Tool, ToolResult

ToolHandler = Callable[[Json, Turn], Awaitable[ToolResult]]


@attrs.frozen
class ToolEntry:
    tool: Tool
    handler: ToolHandler


ToolTable = Mapping[str, ToolEntry]

NO_ARGUMENTS: Json = {"type": "object", "properties": {}, "additionalProperties": False}


def required_string(name: str, description: str) -> Json:
    """The schema of a tool that takes one string and nothing else."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }


def entry(name: str, description: str, handler: ToolHandler, input_schema: Json = NO_ARGUMENTS) -> ToolEntry:
    """An entry whose tool never touches the caller's session: the suite calls each tool on its own."""
    return ToolEntry(Tool(name, description, input_schema, session_use=SessionUse.NEVER), handler)


def table(*entries: ToolEntry) -> ToolTable:
    return {one.tool.name: one for one in entries}


def said(text: str) -> ToolResult:
    return ToolResult([Text(text)])

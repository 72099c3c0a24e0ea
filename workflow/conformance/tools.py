"""The tools that answer without asking the client anything: kinds of content, reports, announcements, refusals."""

from __future__ import annotations

import json

import trio

from greenroom.config.errors import MissingClientCapability
from greenroom.workflow.conformance.entries import NO_ARGUMENTS, ToolTable, entry, said, table
from greenroom.workflow.conformance.samples import AUDIO, IMAGE
from greenroom.workflow.events import ConnectionReleased, Level, Note, Progress, PromptsChanged, ToolsChanged
from greenroom.workflow.port import Turn
from greenroom.workflow.questions import Ability
from greenroom.workflow.values import Embedded, Json, Text, TextContents, ToolResult

# Long enough that each report is a message of its own on the wire, short enough to keep a run quick.
BETWEEN_REPORTS = 0.05
# A client that was let go of must have time to come back before the result is there.
WHILE_AWAY = 0.2

LOGGER = "conformance"

# JSON Schema 2020-12 keywords that must survive the way to the client untouched.
CONTACT_SCHEMA: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

REGION_SCHEMA: Json = {
    **NO_ARGUMENTS,
    "properties": {
        "region": {
            "type": "string",
            "description": "Also expected in the Mcp-Param-Region header.",
            "x-mcp-header": "Region",
        }
    },
}


async def simple_text(arguments: Json, turn: Turn) -> ToolResult:
    return said("This is a simple text response for testing.")


async def image_content(arguments: Json, turn: Turn) -> ToolResult:
    return ToolResult([IMAGE])


async def audio_content(arguments: Json, turn: Turn) -> ToolResult:
    return ToolResult([AUDIO])


async def embedded_resource(arguments: Json, turn: Turn) -> ToolResult:
    return ToolResult([Embedded(TextContents("test://embedded-resource", "This is an embedded resource content."))])


async def multiple_content_types(arguments: Json, turn: Turn) -> ToolResult:
    resource = TextContents("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return ToolResult([Text("Multiple content types test:"), IMAGE, Embedded(resource)])


async def error_handling(arguments: Json, turn: Turn) -> ToolResult:
    return ToolResult([Text("This tool intentionally returns an error for testing")], is_error=True)


async def json_schema(arguments: Json, turn: Turn) -> ToolResult:
    return said(f"Called with: {json.dumps(dict(arguments))}")


async def mirrored_region(arguments: Json, turn: Turn) -> ToolResult:
    return said(f"region={arguments.get('region', '<none>')}")


async def missing_capability(arguments: Json, turn: Turn) -> ToolResult:
    if Ability.SAMPLE not in turn.caller.abilities:
        raise MissingClientCapability(Ability.SAMPLE.value)
    return said("The client declared sampling.")


async def with_logging(arguments: Json, turn: Turn) -> ToolResult:
    turn.report(Note(Level.INFO, "Tool execution started", LOGGER))
    await trio.sleep(BETWEEN_REPORTS)
    turn.report(Note(Level.INFO, "Tool processing data", LOGGER))
    await trio.sleep(BETWEEN_REPORTS)
    turn.report(Note(Level.INFO, "Tool execution completed", LOGGER))
    return said("Tool with logging executed successfully")


async def logging_tool(arguments: Json, turn: Turn) -> ToolResult:
    turn.report(Note(Level.INFO, "Only a client that asked for a log level may see this", LOGGER))
    return said("Logging evaluated")


async def with_progress(arguments: Json, turn: Turn) -> ToolResult:
    for percent in (0, 50):
        turn.report(Progress(percent, 100, f"Completed step {percent} of 100"))
        await trio.sleep(BETWEEN_REPORTS)
    turn.report(Progress(100, 100, "Completed step 100 of 100"))
    return said("Tool with progress executed successfully")


async def reconnection(arguments: Json, turn: Turn) -> ToolResult:
    turn.report(Note(Level.INFO, "Before the connection is released", LOGGER))
    turn.report(ConnectionReleased())
    await trio.sleep(WHILE_AWAY)
    turn.report(Note(Level.INFO, "After the connection was released", LOGGER))
    return said("Reconnection test completed")


async def trigger_tool_change(arguments: Json, turn: Turn) -> ToolResult:
    turn.announce(ToolsChanged())
    return said("Announced a change of the tools")


async def trigger_prompt_change(arguments: Json, turn: Turn) -> ToolResult:
    turn.announce(PromptsChanged())
    return said("Announced a change of the prompts")


# The suite calls the first tool of the list without arguments to probe the request headers.
TOOLS: ToolTable = table(
    entry("test_simple_text", "Answers with one text.", simple_text),
    entry("test_image_content", "Answers with one image.", image_content),
    entry("test_audio_content", "Answers with one sound.", audio_content),
    entry("test_embedded_resource", "Answers with one embedded resource.", embedded_resource),
    entry("test_multiple_content_types", "Answers with text, image and resource.", multiple_content_types),
    entry("test_error_handling", "Always fails, and says so in its result.", error_handling),
    entry("json_schema_2020_12_tool", "Has an input schema of many keywords.", json_schema, CONTACT_SCHEMA),
    entry("test_x_mcp_header", "Has an argument that is mirrored in a header.", mirrored_region, REGION_SCHEMA),
    entry("test_missing_capability", "Refuses a client that cannot sample.", missing_capability),
    entry("test_tool_with_logging", "Writes three log lines while it runs.", with_logging),
    entry("test_logging_tool", "Writes one log line.", logging_tool),
    entry("test_tool_with_progress", "Reports its progress three times.", with_progress),
    entry("test_reconnection", "Lets go of the connection before it answers.", reconnection),
    entry("test_trigger_tool_change", "Tells everybody that the tools changed.", trigger_tool_change),
    entry("test_trigger_prompt_change", "Tells everybody that the prompts changed.", trigger_prompt_change),
)

"""Translation between the workflow's values and MCP's types. Pure, in both directions.

What a model can react to becomes a result with `isError` and a sentence; a fault of protocol becomes an
`MCPError`. This is the one place where our error tree meets the wire.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import attrs
import mcp.types as t
from mcp.shared.exceptions import MCPError

from greenroom.config.errors import (
    GreenroomError,
    MissingClientCapability,
    ProtocolFault,
    ResourceNotFound,
)
from greenroom.workflow.events import Trace
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
    Contents,
    Embedded,
    Image,
    Prompt,
    PromptResult,
    Resource,
    ResourceResult,
    ResourceTemplate,
    Text,
    Tool,
    ToolResult,
)

LEGACY_RESOURCE_NOT_FOUND = -32002
"""What the older era calls a missing resource; the newer one has plain invalid params."""


# --- what is on the bill -----------------------------------------------------------------------------------


def tool(value: Tool, input_schema: Mapping[str, Any]) -> t.Tool:
    hints = value.hints
    return t.Tool(
        name=value.name,
        title=value.title,
        description=value.description,
        input_schema=dict(input_schema),
        output_schema=dict(value.output_schema) if value.output_schema is not None else None,
        annotations=None
        if hints is None
        else t.ToolAnnotations(
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )


def prompt(value: Prompt) -> t.Prompt:
    arguments = [
        t.PromptArgument(name=each.name, description=each.description, required=each.required)
        for each in value.arguments
    ]
    return t.Prompt(name=value.name, title=value.title, description=value.description, arguments=arguments)


def resource(value: Resource) -> t.Resource:
    return t.Resource(uri=value.uri, name=value.name, description=value.description, mime_type=value.mime_type)


def resource_template(value: ResourceTemplate) -> t.ResourceTemplate:
    return t.ResourceTemplate(
        uri_template=value.uri_template, name=value.name, description=value.description, mime_type=value.mime_type
    )


# --- results -----------------------------------------------------------------------------------------------


def content(value: Content) -> t.ContentBlock:
    match value:
        case Text(text):
            return t.TextContent(type="text", text=text)
        case Image(data, mime_type):
            return t.ImageContent(type="image", data=_base64(data), mime_type=mime_type)
        case Audio(data, mime_type):
            return t.AudioContent(type="audio", data=_base64(data), mime_type=mime_type)
        case Embedded(inner):
            return t.EmbeddedResource(type="resource", resource=contents(inner))


def contents(value: Contents) -> t.TextResourceContents | t.BlobResourceContents:
    if isinstance(value, BlobContents):
        return t.BlobResourceContents(uri=value.uri, mime_type=value.mime_type, blob=_base64(value.data))
    return t.TextResourceContents(uri=value.uri, mime_type=value.mime_type, text=value.text)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def structured(value: ToolResult, *, with_traces: bool) -> dict[str, Any] | None:
    """The structured result; with the traces, if the client has not seen them and the workflow says nothing else."""
    if value.structured is None:
        return None
    traces = {"traces": [trace_data(each) for each in value.traces]} if with_traces and value.traces else {}
    return {**traces, **value.structured}


def trace_data(trace: Trace) -> dict[str, Any]:
    return {**attrs.asdict(trace), "direction": trace.direction.value}


def tool_result(value: ToolResult, *, with_traces: bool = True) -> t.CallToolResult:
    return t.CallToolResult(
        content=[content(each) for each in value.content],
        structured_content=structured(value, with_traces=with_traces),
        is_error=value.is_error,
    )


def prompt_result(value: PromptResult) -> t.GetPromptResult:
    messages = [t.PromptMessage(role=each.role, content=content(each.content)) for each in value.messages]  # type: ignore[arg-type]  # pydantic checks the role
    return t.GetPromptResult(messages=messages, description=value.description)


def resource_result(value: ResourceResult) -> t.ReadResourceResult:
    return t.ReadResourceResult(contents=[contents(each) for each in value.contents])


# --- errors ------------------------------------------------------------------------------------------------


def error_result(error: GreenroomError) -> t.CallToolResult:
    """An error that a model can read and react to."""
    described = {"code": error.code, "name": error.name, "message": error.message, "data": dict(error.data)}
    return t.CallToolResult(
        content=[t.TextContent(type="text", text=error.message)],
        structured_content={"error": described},
        is_error=True,
    )


def protocol_error(error: GreenroomError, *, legacy: bool) -> MCPError:
    """An error of the protocol, for what has no result to put it into."""
    match error:
        case ResourceNotFound(uri=uri):
            code = LEGACY_RESOURCE_NOT_FOUND if legacy else t.INVALID_PARAMS
            return MCPError(code, error.message, {"uri": uri})
        case MissingClientCapability(capabilities=capabilities):
            required: dict[str, Any] = {name: {} for name in capabilities}
            return MCPError(t.MISSING_REQUIRED_CLIENT_CAPABILITY, error.message, {"requiredCapabilities": required})
        case ProtocolFault():
            return MCPError(t.INVALID_PARAMS, error.message, {"name": error.name, **error.data})
        case _:
            return MCPError(t.INTERNAL_ERROR, error.message, {"code": error.code, "name": error.name, **error.data})


# --- questions and answers ---------------------------------------------------------------------------------


def abilities(declared: t.ClientCapabilities | None) -> frozenset[Ability]:
    if declared is None:
        return frozenset()
    able = set()
    elicitation = declared.elicitation
    # A client that declares only the URL kind of elicitation cannot show a form.
    if elicitation is not None and (elicitation.form is not None or elicitation.url is None):
        able.add(Ability.ELICIT)
    if declared.sampling is not None:
        able.add(Ability.SAMPLE)
    if declared.roots is not None:
        able.add(Ability.ROOTS)
    return frozenset(able)


def question_request(question: Question) -> t.ElicitRequest | t.CreateMessageRequest | t.ListRootsRequest:
    match question:
        case Elicit(message, schema):
            return t.ElicitRequest(params=t.ElicitRequestFormParams(message=message, requested_schema=dict(schema)))
        case Sample(text, max_tokens, system_prompt):
            said = t.SamplingMessage(role="user", content=t.TextContent(type="text", text=text))
            return t.CreateMessageRequest(
                params=t.CreateMessageRequestParams(messages=[said], max_tokens=max_tokens, system_prompt=system_prompt)
            )
        case ListRoots():
            return t.ListRootsRequest()


def answer(value: t.InputResponse) -> Answer:
    match value:
        case t.ElicitResult():
            return Elicited(value.action, dict(value.content or {}))
        case t.ListRootsResult():
            return Roots([Root(str(root.uri), root.name) for root in value.roots])
        case _:
            blocks = value.content if isinstance(value.content, list) else [value.content]
            text = "\n".join(block.text for block in blocks if isinstance(block, t.TextContent))
            return Sampled(text, value.model)


ANSWER_TYPES: Mapping[type[Question], type[t.ElicitResult | t.CreateMessageResult | t.ListRootsResult]] = {
    Elicit: t.ElicitResult,
    Sample: t.CreateMessageResult,
    ListRoots: t.ListRootsResult,
}

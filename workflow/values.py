"""What a workflow shows and what it gives back, as plain frozen values.

Nothing here knows MCP, HTTP or Trio. `transport` translates these to the wire; `actors` carries them.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from greenroom.workflow.events import Trace

Json = Mapping[str, Any]


class SessionUse(enum.Enum):
    """How a tool stands to the caller's session."""

    REQUIRED = "required"
    """It is a turn of the caller's session; without one the call is refused with 404."""
    OPTIONAL = "optional"
    """A turn of the session that the call names or is bound to; else it plays in a session of its own."""
    NEVER = "never"
    """Always a session of its own, opened for the call and closed after it."""


@attrs.frozen
class ToolHints:
    """Advice to a client on how careful to be; never a guarantee."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@attrs.frozen
class Tool:
    name: str
    description: str
    input_schema: Json
    output_schema: Json | None = None
    title: str | None = None
    hints: ToolHints | None = None
    session_use: SessionUse = SessionUse.REQUIRED


@attrs.frozen
class PromptArgument:
    name: str
    description: str = ""
    required: bool = True


@attrs.frozen
class Prompt:
    name: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()
    title: str | None = None


@attrs.frozen
class Resource:
    uri: str
    name: str
    description: str = ""
    mime_type: str | None = None


@attrs.frozen
class ResourceTemplate:
    uri_template: str
    name: str
    description: str = ""
    mime_type: str | None = None


@attrs.frozen
class TextContents:
    uri: str
    text: str
    mime_type: str | None = "text/plain"


@attrs.frozen
class BlobContents:
    uri: str
    data: bytes
    mime_type: str | None = "application/octet-stream"


Contents = TextContents | BlobContents


@attrs.frozen
class Text:
    text: str


@attrs.frozen
class Image:
    data: bytes
    mime_type: str


@attrs.frozen
class Audio:
    data: bytes
    mime_type: str


@attrs.frozen
class Embedded:
    contents: Contents


Content = Text | Image | Audio | Embedded


@attrs.frozen
class ToolResult:
    """The answer to a `CallTool`. `structured` must match the tool's output schema, if it has one.

    `traces` are what the turn reported on its way; a client that did not see them go by gets them with the
    answer, as `traces` in `structured`.
    """

    content: Sequence[Content] = ()
    structured: Json | None = None
    is_error: bool = False
    traces: Sequence[Trace] = ()


@attrs.frozen
class PromptMessage:
    role: str
    content: Content


@attrs.frozen
class PromptResult:
    messages: Sequence[PromptMessage]
    description: str | None = None


@attrs.frozen
class ResourceResult:
    contents: Sequence[Contents]


Result = ToolResult | PromptResult | ResourceResult


@attrs.frozen
class CallTool:
    name: str
    arguments: Json = attrs.field(factory=dict)


@attrs.frozen
class GetPrompt:
    name: str
    arguments: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class ReadResource:
    uri: str


Order = CallTool | GetPrompt | ReadResource
"""What a turn is asked to do."""


@attrs.frozen
class PromptRef:
    name: str


@attrs.frozen
class TemplateRef:
    uri_template: str


@attrs.frozen
class Completions:
    """Suggestions for an argument that is being typed; at most a hundred are sent."""

    values: Sequence[str] = ()
    total: int | None = None

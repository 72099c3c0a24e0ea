"""The port between a workflow and a language model.

Values and one protocol; no I/O, and no word of litellm or of a process. Workflows stand above and say what they need a
model for (`Purpose`), never which model that is: the operator decides. `process` stands below.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import attrs


class Purpose(enum.Enum):
    """What a model is needed for. Each has a model and a key of its own; the value is how a sentence names it."""

    AGENT = "the agent"
    PARAM_EXTRACTION = "parameter extraction"
    CONVERSATION_STORE = "the conversation store"

    @property
    def model_variable(self) -> str:
        return f"LLM_{self.name}"

    @property
    def key_variable(self) -> str:
        return f"LITELLM_API_KEY_{self.name}"


@attrs.frozen
class ToolCall:
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@attrs.frozen
class Message:
    """One message of a conversation.

    `tool_calls` belong to the assistant's messages; the result of each is a message of the role "tool" that carries the
    call's id. `content` is a text, or the list of parts that the chat completions API takes.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str | Sequence[Mapping[str, Any]] = attrs.field(repr=False)
    tool_calls: Sequence[ToolCall] = attrs.field(default=(), repr=False)
    tool_call_id: str | None = None


@attrs.frozen
class JsonSchema:
    """The form that an answer must have. A strict schema lists all its properties as required and allows no others."""

    name: str
    schema: Mapping[str, Any]
    strict: bool = True


@attrs.frozen
class ToolDefinition:
    """A tool that the model may ask for; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@attrs.frozen
class Request:
    """One question to a model. `max_tokens` and `temperature` are the model's own when they are not given."""

    purpose: Purpose
    messages: Sequence[Message]
    json_schema: JsonSchema | None = None
    tools: Sequence[ToolDefinition] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stream: bool = False


@attrs.frozen
class Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0


@attrs.frozen
class Completion:
    """A model's answer. `parsed` has a value if a schema was asked for and the model did not call tools instead."""

    text: str = attrs.field(repr=False)
    parsed: Any = attrs.field(default=None, repr=False)
    tool_calls: tuple[ToolCall, ...] = attrs.field(default=(), repr=False)
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""


@attrs.frozen
class Delta:
    """A piece of an answer on its way. `attempt` grows when the answer starts anew: drop what came before."""

    text: str = attrs.field(repr=False)
    attempt: int = 1


class LanguageModel(Protocol):
    def configured(self, purpose: Purpose) -> bool:
        """Whether there is a model for this purpose. Says nothing of whether it answers."""

    async def complete(self, request: Request, *, on_delta: Callable[[Delta], None] | None = None) -> Completion:
        """Ask, and wait for the whole answer. Cancelling the wait cancels the call at the provider.

        `on_delta` hears the text of a `stream` request as it comes; it must not block. Raises `LlmError`.
        """

"""Between the port's values and what travels: a request to litellm's arguments, an answer to a `Completion`.

Pure. An answer that is not what was asked for is an `Unusable`, and says so in a sentence for the model, which gets one
chance to mend it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from greenroom.workflow.llm.port import Completion, JsonSchema, Message, Request, ToolCall, Usage
from greenroom.workflow.llm.routes import Route

MASK = "***"
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_SHORTEST_SCRUBBED = 8
"""Shorter pieces of a prompt are words that any sentence may have."""


@attrs.frozen
class Unusable:
    """An answer that came, and will not do. `complaint` is written for the model."""

    text: str = attrs.field(repr=False)
    complaint: str = attrs.field(repr=False)


# --- there -----------------------------------------------------------------------------------------------------------


def arguments(request: Request, route: Route, timeout: float) -> dict[str, Any]:
    """What the child passes to litellm. Holds the key, so it is for the socket and for nothing else."""
    every = {
        "model": route.model,
        "api_key": route.key.reveal() if route.key is not None else None,
        "api_base": route.base,
        "timeout": timeout,
        "messages": [_message(message) for message in request.messages],
        "response_format": _response_format(request.json_schema) if request.json_schema is not None else None,
        "tools": [_tool(*attrs.astuple(tool)) for tool in request.tools] if request.tools else None,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stream": request.stream or None,
    }
    return {name: value for name, value in every.items() if value is not None}


def _message(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in message.tool_calls
        ]
    return wire


def _response_format(form: JsonSchema) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": form.name, "schema": dict(form.schema), "strict": form.strict},
    }


def _tool(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": dict(parameters)}}


# --- and back --------------------------------------------------------------------------------------------------------


def completion(answer: Mapping[str, Any], request: Request) -> Completion | Unusable:
    text: str = answer["text"]
    calls = _tool_calls(answer["tool_calls"])
    if isinstance(calls, str):
        return Unusable(text, calls)
    parsed = None
    if request.json_schema is not None and not calls:
        try:
            parsed = _parsed(text)
        except ValueError as error:
            cut_off = " It was cut off: be brief." if answer["finish_reason"] == "length" else ""
            return Unusable(text, f"That is not JSON ({error}).{cut_off} {_wanted(request.json_schema)}")
        if (fault := _fault(parsed, request.json_schema.schema)) is not None:
            return Unusable(text, f"That JSON does not fit: {fault}. {_wanted(request.json_schema)}")
    return Completion(
        text=text,
        parsed=parsed,
        tool_calls=calls,
        usage=Usage(**answer["usage"]),
        model=answer["model"],
        finish_reason=answer["finish_reason"],
    )


def mended(request: Request, unusable: Unusable) -> Request:
    """The same request once more, with what was wrong with the answer."""
    said = [Message("assistant", unusable.text)] if unusable.text else []
    return attrs.evolve(request, messages=[*request.messages, *said, Message("user", unusable.complaint)])


def _tool_calls(given: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...] | str:
    calls = []
    for call in given:
        try:
            values = json.loads(call["arguments"] or "{}")
        except ValueError:
            values = None
        if not isinstance(values, dict):
            return f"You called the tool {call['name']} with arguments that are not a JSON object. Call it again."
        calls.append(ToolCall(call["id"], call["name"], values))
    return tuple(calls)


def _parsed(text: str) -> Any:
    # Models without native structured output like to put their JSON into a Markdown fence.
    fenced = _FENCE.match(text)
    return json.loads(fenced[1] if fenced else text)


def _fault(value: Any, schema: Mapping[str, Any]) -> str | None:
    # An empty registry: the default one goes to the network for a `$ref` that it does not know.
    validator = Draft202012Validator(schema, registry=Registry())
    try:
        error = best_match(validator.iter_errors(value))
    except Unresolvable as unresolvable:
        return f"its schema refers to {unresolvable.ref!r}, which is not there"
    return None if error is None else f"{error.json_path}: {error.message}"


def _wanted(form: JsonSchema) -> str:
    # Repeated here, because litellm leaves the schema out for a model that it believes cannot take one.
    return f"Answer with nothing but one JSON value that fits this schema: {json.dumps(form.schema)}"


# --- for the log -----------------------------------------------------------------------------------------------------


def scrubbed(text: str, secrets: Iterable[str], request: Request | None = None, limit: int = 500) -> str:
    """`text` without keys and without the prompt, which providers like to quote. Only for the log."""
    for secret in sorted({*secrets, *_lines_of(request)}, key=len, reverse=True):
        if secret:
            text = text.replace(secret, MASK)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def _lines_of(request: Request | None) -> Iterable[str]:
    for message in request.messages if request is not None else ():
        texts = [message.content] if isinstance(message.content, str) else [str(part) for part in message.content]
        for line in "\n".join(texts).splitlines():
            if len(line.strip()) >= _SHORTEST_SCRUBBED:
                yield line.strip()

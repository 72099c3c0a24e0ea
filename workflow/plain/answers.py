"""From what a plain function returned to a response: text for a person, and the same as plain JSON for a program.

A text is itself, nothing is "Done.", a dict or an object with fields becomes lines and its fields the artifacts, any
other value is the artifact `result`. Whoever returns a `CommandOutput` or a `CommandResponse` has the last word.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping
from typing import Any

import attrs
from pydantic_core import PydanticSerializationError, to_jsonable_python

from greenroom.workflow.compat.types import CommandOutput, CommandResponse
from greenroom.workflow.engine.plain import jsonable

DONE, NOTHING = "Done.", "Nothing."
MAX_ITEMS = 1000
"""Of what a generator yields: one may go on for ever."""
_MAX_MESSAGE = 2000


def answer_of(value: Any) -> Any:
    """What the engine takes for a command's answer."""
    if hasattr(value, "command_responses") or hasattr(value, "command_response"):
        return value
    response = value if isinstance(value, CommandResponse) else _response_of(value)
    return CommandOutput(command_responses=[response])


def failure_of(command: str, error: BaseException) -> CommandOutput:
    """The author's own words, if there are any; never where in the code it was."""
    message = str(error).strip()
    kind = type(error).__name__
    # The message of a KeyError is the key, and says nothing alone.
    text = f"{kind}: {message}" if message and isinstance(error, KeyError) else message
    said = text or f"{command} failed with {kind}."
    cut = said if len(said) <= _MAX_MESSAGE else f"{said[:_MAX_MESSAGE]}..."
    return CommandOutput(command_responses=[CommandResponse(response=cut, success=False, artifacts={"error": kind})])


def _response_of(value: Any) -> CommandResponse:
    if value is None:
        return CommandResponse(response=DONE)
    if isinstance(value, str) and type(value) is str:
        return CommandResponse(response=value)
    if inspect.isgenerator(value):
        value = list(itertools.islice(value, MAX_ITEMS))
    data = as_data(value)
    artifacts = data if isinstance(data, dict) else {"result": data}
    return CommandResponse(response="\n".join(_lines(data)), artifacts=artifacts)


def as_data(value: Any) -> Any:
    """Plain JSON; an object without fields is what it calls itself."""
    try:
        # The engine's own turns what is left over, such as an infinite number, into words.
        return jsonable(to_jsonable_python(value, fallback=_object_as_data, bytes_mode="base64"))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        return _name_of(value)


def _object_as_data(value: Any) -> Any:
    if attrs.has(type(value)):
        return attrs.asdict(value, recurse=False)
    if isinstance(value, Mapping):
        return dict(value)
    return _name_of(value)


def _name_of(value: Any) -> str:
    """Not Python's own `repr`, which tells an address and nothing else."""
    kind = type(value)
    has_words = any("__str__" in vars(cls) or "__repr__" in vars(cls) for cls in kind.__mro__[:-1])
    return str(value) if has_words else kind.__name__


def _lines(data: Any) -> list[str]:
    match data:
        case dict() if data:
            return [line for key, value in data.items() for line in _entry(f"{key}:", value)]
        case list() if data:
            return [line for value in data for line in _item(value)]
        case dict() | list():
            return [NOTHING]
        case _:
            return [_word(data)]


def _entry(label: str, value: Any) -> list[str]:
    if isinstance(value, dict | list) and value:
        return [label, *(f"  {line}" for line in _lines(value))]
    return [f"{label} {_word(value)}"]


def _item(value: Any) -> list[str]:
    """A flat object takes one line, because a list of them is read as a table is."""
    if isinstance(value, dict) and value and not any(isinstance(each, dict | list) for each in value.values()):
        return ["- " + ", ".join(f"{key}: {_word(each)}" for key, each in value.items())]
    first, *rest = _lines(value) if isinstance(value, dict | list) else [_word(value)]
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _word(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case dict() | list():
            return "nothing"
        case _:
            return str(value)

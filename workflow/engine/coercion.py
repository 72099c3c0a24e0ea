"""From what a caller gave to what a command's `Input` wants, and every reason why not.

Pure: values in, values or errors out. Text comes from tags, other JSON types from callers that have them; both are
accepted wherever the meaning is plain, and nothing is guessed. The final word is pydantic's: the bounds and
validators of the `Input` itself are applied when it is built.
"""

from __future__ import annotations

import ast
import enum
import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, get_args, get_origin

import attrs
from pydantic import BaseModel, ValidationError

from greenroom.workflow.engine.annotations import alternatives, is_no_value, item_kind
from greenroom.workflow.engine.definition import CommandDef, ParameterDef
from greenroom.workflow.engine.plain import jsonable

_SWITCHES = {"true": True, "false": False, "1": True, "0": False}
_NO = object()
"""No value of that type. `None` will not do: it may be one."""


@attrs.frozen
class ParameterError:
    parameter: str
    """Empty if it is about all of them together."""
    problem: str
    """A whole sentence, with the parameter's name in it."""
    suggestions: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        plain = {"parameter": self.parameter, "problem": self.problem, "suggestions": list(self.suggestions)}
        return {key: value for key, value in plain.items() if value}


def build_input(command: CommandDef, raw: Mapping[str, Any]) -> tuple[BaseModel | None, list[ParameterError]]:
    """The command's `Input`, or what is wrong. A command without one has no parameters and gets None."""
    values, errors = coerce(command.parameters, raw)
    if errors or command.input_model is None:
        return None, errors
    try:
        return command.input_model.model_validate(values, by_name=True), []
    except ValidationError as invalid:
        return None, [_as_error(detail) for detail in invalid.errors(include_url=False)]


def coerce(parameters: Sequence[ParameterDef], raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[ParameterError]]:
    """A parameter that may take its default is left out of the values."""
    known = {parameter.name for parameter in parameters}
    listed = ", ".join(sorted(known)) or "none"
    errors = [
        ParameterError(name, f"There is no parameter {name!r}; the parameters are: {listed}.")
        for name in raw
        if name not in known
    ]
    values: dict[str, Any] = {}
    for parameter in parameters:
        given = raw.get(parameter.name)
        if _is_missing(parameter, given):
            if parameter.required:
                errors.append(_missing(parameter))
            elif not parameter.has_default:
                values[parameter.name] = None
            continue
        value = _first_fit(parameter.kinds, given)
        error = _unfit(parameter, given) if value is _NO else _off_pattern(parameter, value)
        if error is not None:
            errors.append(error)
        else:
            values[parameter.name] = value
    return values, errors


def _is_missing(parameter: ParameterDef, given: Any) -> bool:
    if isinstance(given, str) and not given.strip() and str not in parameter.kinds:
        return True
    # An empty list says something where leaving it out would be allowed too.
    return is_no_value(given) and not (isinstance(given, list | tuple) and parameter.is_optional)


def _missing(parameter: ParameterDef) -> ParameterError:
    problem = f"{parameter.name} is missing"
    about = f" ({parameter.description})" if parameter.description else ""
    sources = " or ".join(parameter.available_from)
    ask = f" The command {sources} tells it." if sources else ""
    return ParameterError(parameter.name, f"{problem}: it must be {_expected(parameter)}{about}.{ask}")


def _unfit(parameter: ParameterDef, given: Any) -> ParameterError:
    return ParameterError(
        parameter.name,
        f"{parameter.name} is {_quoted(given)}, but it must be {_expected(parameter)}.",
        tuple(str(choice) for choice in parameter.enum),
    )


def _off_pattern(parameter: ParameterDef, value: Any) -> ParameterError | None:
    if parameter.pattern is None or not isinstance(value, str):
        return None
    with suppress(re.error):  # a pattern in another dialect is left to pydantic, which took it
        if re.fullmatch(parameter.pattern, value) is None:
            example = f", such as {parameter.examples[0]}" if parameter.examples else ""
            return ParameterError(
                parameter.name,
                f"{parameter.name} is {_quoted(value)}, but it must match the pattern {parameter.pattern}{example}.",
            )
    return None


def _expected(parameter: ParameterDef) -> str:
    if parameter.enum and not parameter.is_list:
        return "one of: " + ", ".join(str(choice) for choice in parameter.enum)
    return parameter.type


def _as_error(detail: Any) -> ParameterError:
    where = ".".join(str(part) for part in detail["loc"]) or "the parameters"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return ParameterError(str(detail["loc"][0]) if detail["loc"] else "", f"{where}: {message}.")


def _quoted(value: Any) -> str:
    text = json.dumps(jsonable(value), ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _first_fit(kinds: Sequence[Any], given: Any) -> Any:
    for kind in kinds:
        if (value := _as_kind(kind, given)) is not _NO:
            return value
    return _NO


def _as_kind(kind: Any, given: Any) -> Any:
    inner = item_kind(kind)
    if inner is not None:
        return _as_list(inner, given)
    if kind is str:
        return given if isinstance(given, str) else _as_text(given)
    if kind is bool:
        return given if isinstance(given, bool) else _SWITCHES.get(str(given).strip().lower(), _NO)
    if kind is int:
        return _as_integer(given)
    if kind is float:
        return _as_number(given)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _as_member(kind, given)
    if get_origin(kind) is Literal:
        return next((choice for choice in get_args(kind) if _same(choice, given)), _NO)
    return _as_structure(given)


def _as_text(given: Any) -> Any:
    """A number is as good as its digits where a text is due; a list or an object is not."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return str(given) if isinstance(given, int | float) else _NO


def _as_integer(given: Any) -> Any:
    if isinstance(given, bool):
        return _NO
    if isinstance(given, float):
        return int(given) if given.is_integer() else _NO
    with suppress(ValueError):
        return int(given) if isinstance(given, int | str) else _NO
    return _NO


def _as_number(given: Any) -> Any:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return _NO
    with suppress(ValueError, OverflowError):
        number = float(given)
        # JSON has no word for the others, and no command can mean them.
        return number if math.isfinite(number) else _NO
    return _NO


def _as_member(kind: type[enum.Enum], given: Any) -> Any:
    if isinstance(given, kind):
        return given
    for member in kind:
        if _same(member.value, given):
            return member
    if isinstance(given, str):
        return next((member for member in kind if member.name.casefold() == given.strip().casefold()), _NO)
    return _NO


def _same(choice: Any, given: Any) -> bool:
    return bool(choice == given) or (isinstance(given, str) and str(choice) == given.strip())


def _as_list(inner: Any, given: Any) -> Any:
    items = _items_of(given) if isinstance(given, str) else given
    if not isinstance(items, list | tuple):
        return _NO
    kinds, _ = alternatives(inner)
    values = [_first_fit(kinds, item) for item in items]
    return _NO if any(value is _NO for value in values) else values


def _items_of(text: str) -> list[Any]:
    """JSON, a Python literal, commas, or spaces: whichever it is first."""
    text = text.strip()
    if text.startswith("["):
        for read in (json.loads, ast.literal_eval):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                items = read(text)
                if isinstance(items, list):
                    return items
    if "," in text:
        return [part.strip().strip("\"'") for part in text.split(",")]
    if not any(mark in text for mark in "[]{}\"'"):
        return text.split()
    return [text.strip("\"'")]


def _as_structure(given: Any) -> Any:
    """A type that only pydantic knows: text that is JSON is read, anything else goes there as it is."""
    if isinstance(given, str) and given.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            return json.loads(given)
    return given

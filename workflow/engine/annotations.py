"""What a pydantic field says about a parameter: its type in words, whether it must be given, what it may be.

Pure reading; `coercion` turns values into these types.
"""

from __future__ import annotations

import collections.abc
import enum
import re
import sys
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from greenroom.workflow.compat.environment import NOT_FOUND
from greenroom.workflow.engine.definition import ParameterDef
from greenroom.workflow.engine.plain import jsonable

_WORDS = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", Any: "any value"}
_LISTS = (list, set, frozenset, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Set)
_SENTINELS = (-sys.maxsize, -sys.float_info.max)
"""The numbers that stand for "no value was given"."""


def parameter_of(name: str, field: FieldInfo) -> ParameterDef:
    kinds, is_optional = alternatives(field.annotation)
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    has_default, default = _default_of(field)
    return ParameterDef(
        name=name,
        type=" or ".join(dict.fromkeys(type_in_words(kind) for kind in kinds)),
        required=not is_optional and (not has_default or is_no_value(default)),
        has_default=has_default and not is_no_value(default),
        default=jsonable(default),
        description=(field.description or "").strip(),
        examples=tuple(field.examples or ()),
        enum=tuple(choice for kind in kinds for choice in choices(kind)) or _strings(extra.get("enum")),
        pattern=_pattern_of(field),
        is_list=any(item_kind(kind) is not None for kind in kinds),
        is_optional=is_optional,
        available_from=_strings(extra.get("available_from")),
        db_lookup=bool(extra.get("db_lookup")),
        kinds=kinds,
    )


def is_no_value(value: Any) -> bool:
    """Whether it stands for "nothing was given": FastWorkflow has a word, two numbers and the empty list for it."""
    if value is None or (isinstance(value, str) and value == NOT_FOUND):
        return True
    if isinstance(value, list | tuple):
        return not value
    return isinstance(value, int | float) and not isinstance(value, bool) and value in _SENTINELS


def alternatives(annotation: Any) -> tuple[tuple[Any, ...], bool]:
    """The types that it may be, and whether `None` is one of them."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) not in (Union, types.UnionType):
        return (annotation,), annotation is type(None)
    kinds: list[Any] = []
    optional = False
    for member in get_args(annotation):
        if member is type(None):
            optional = True
            continue
        inner, inner_optional = alternatives(member)
        kinds += inner
        optional = optional or inner_optional
    return tuple(kinds), optional


def item_kind(kind: Any) -> Any | None:
    """What the items of a list are, if it is one."""
    origin = get_origin(kind) or kind
    if origin not in _LISTS:
        return None
    arguments = [argument for argument in get_args(kind) if argument is not Ellipsis]
    if any(argument != arguments[0] for argument in arguments[1:]):
        # A tuple with a type for each place is one value, which pydantic reads as a whole.
        return None
    return arguments[0] if arguments else str


def choices(kind: Any) -> tuple[Any, ...]:
    """The values to choose from, if the type is a closed set of them."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return tuple(jsonable(member.value) for member in kind)
    if get_origin(kind) is Literal:
        return get_args(kind)
    inner = item_kind(kind)
    return choices(inner) if inner is not None else ()


def type_in_words(kind: Any) -> str:
    inner = item_kind(kind)
    if inner is not None:
        words = " or ".join(dict.fromkeys(type_in_words(member) for member in alternatives(inner)[0]))
        return f"list of {words}"
    if of := choices(kind):
        return " or ".join(dict.fromkeys(_WORDS.get(type(value), "string") for value in of))
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, BaseModel):
        return "object"
    return _WORDS.get(origin) or str(getattr(origin, "__name__", origin)).lower()


def _default_of(field: FieldInfo) -> tuple[bool, Any]:
    if field.is_required():
        return False, None
    if field.default_factory is None:
        return True, field.default
    # A factory may do anything, so it is not called just to be shown, except for the two that are harmless.
    return True, {list: [], dict: {}}.get(field.default_factory, "computed")  # type: ignore[call-overload]


def _pattern_of(field: FieldInfo) -> str | None:
    for fact in field.metadata:
        pattern = getattr(fact, "pattern", None)
        if pattern is not None:
            return pattern.pattern if isinstance(pattern, re.Pattern) else str(pattern)
    return None


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()

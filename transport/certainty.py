"""Schemas compiled to a check that only ever says "certainly valid" or "ask". Pure.

A full validator walks a schema anew for every value. Most calls fit, and most schemas say little: a type, some
properties, which of them are required, bounds. For those a few closures decide in a microsecond what `jsonschema` takes
fifty for. What they do not know, or do not let pass, goes to `jsonschema`, whose word counts and whose messages are
told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]

_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
_KNOWN = _ANNOTATIONS | {
    "type",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
}
_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
"""By exact type: to Python a bool is an integer, to JSON it is not."""


def unsure(value: Any) -> bool:
    return False


def sure(value: Any) -> bool:
    return True


def certainly(schema: Any) -> Check:
    """A check that is true only of values that are valid under a schema, which itself must be valid."""
    if schema is True:
        return sure
    if not isinstance(schema, Mapping) or not all(key in _KNOWN or key.startswith("x-") for key in schema):
        return unsure
    named = schema.get("type", list(_KINDS))
    kinds = {kind for name in ([named] if isinstance(named, str) else named) for kind in _KINDS[name]}
    makers = {str: _of_text, int: _of_number, float: _of_number, list: _of_array, dict: _of_object}
    table = {kind: makers.get(kind, _of_nothing_more)(schema) for kind in kinds}

    def check(value: Any) -> bool:
        each = table.get(type(value))
        return each is not None and each(value)

    return check


def _of_nothing_more(schema: Mapping[str, Any]) -> Check:
    return unsure if "enum" in schema else sure


def _of_text(schema: Mapping[str, Any]) -> Check:
    if "enum" in schema:
        known = frozenset(each for each in schema["enum"] if type(each) is str)
        if "minLength" in schema or "maxLength" in schema:
            return unsure
        return known.__contains__
    if "minLength" not in schema and "maxLength" not in schema:
        return sure
    least, most = schema.get("minLength", 0), schema.get("maxLength", float("inf"))
    return lambda value: bool(least <= len(value) <= most)


def _of_number(schema: Mapping[str, Any]) -> Check:
    if "enum" in schema:
        return unsure
    least, most = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")

    def check(value: Any) -> bool:
        return bool(least <= value <= most and (above is None or value > above) and (below is None or value < below))

    return check


def _of_array(schema: Mapping[str, Any]) -> Check:
    if "enum" in schema:
        return unsure
    of_each = certainly(schema.get("items", True))
    least, most = schema.get("minItems", 0), schema.get("maxItems", float("inf"))
    return lambda value: least <= len(value) <= most and all(map(of_each, value))


def _of_object(schema: Mapping[str, Any]) -> Check:
    if "enum" in schema:
        return unsure
    properties = {name: certainly(each) for name, each in schema.get("properties", {}).items()}
    required = tuple(schema.get("required", ()))
    of_others = certainly(schema.get("additionalProperties", True))

    def check(value: Any) -> bool:
        for name in required:
            if name not in value:
                return False
        return all(properties.get(name, of_others)(each) for name, each in value.items())

    return check

"""Words from a command line or a prompt, read as a JSON schema has them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

_TRUE, _FALSE = ("true", "yes", "y", "on", "1"), ("false", "no", "n", "off", "0")


def read_pairs(pairs: Iterable[tuple[str, str]], schema: Mapping[str, Any]) -> dict[str, Any]:
    """`key=value` pairs as a tool's arguments. Raises `ValueError` with a sentence."""
    known = schema.get("properties")
    properties = known if isinstance(known, Mapping) else {}
    arguments: dict[str, Any] = {}
    for key, text in pairs:
        if key in arguments:
            raise ValueError(f'{key} is given twice; for a list write {key}=\'["one", "two"]\'.')
        arguments[key] = read_value(key, text, properties.get(key))
    return arguments


def read_value(key: str, text: str, schema: Any) -> Any:
    """A text is taken as it stands where a text is wanted; else it is JSON, or a word for yes or no."""
    kinds = _kinds(schema)
    if not kinds:
        return _json_or_text(text)
    if "boolean" in kinds and text.lower() in _TRUE + _FALSE and not (kinds & {"integer", "number"} and text in "01"):
        return text.lower() in _TRUE
    if kinds == {"string"}:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
        if "string" not in kinds:
            raise ValueError(f"{key} must be {_listed(kinds)}, and {text!r} is not.") from None
        return text
    if _kind_of(value) & kinds:
        return value
    if "string" in kinds:
        return text
    raise ValueError(f"{key} must be {_listed(kinds)}, and {text!r} is not.")


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _kinds(schema: Any) -> set[str]:
    """The JSON types that a schema allows, as far as it says so plainly; none if it does not."""
    if not isinstance(schema, Mapping):
        return set()
    kind = schema.get("type")
    if isinstance(kind, str):
        return {kind}
    if isinstance(kind, list):
        return {each for each in kind if isinstance(each, str)}
    if "enum" in schema and isinstance(schema["enum"], list):
        return {kind for value in schema["enum"] for kind in _kind_of(value)}
    for either in ("anyOf", "oneOf"):
        if isinstance(schema.get(either), list):
            return {kind for each in schema[either] for kind in _kinds(each)}
    return set()


def _kind_of(value: Any) -> set[str]:
    match value:
        case None:
            return {"null"}
        case bool():
            return {"boolean"}
        case int():
            return {"integer", "number"}
        case float():
            return {"number", "integer"} if value.is_integer() else {"number"}
        case str():
            return {"string"}
        case list():
            return {"array"}
        case _:
            return {"object"}


def _listed(kinds: set[str]) -> str:
    named = sorted(f"an {kind}" if kind[0] in "aio" else f"a {kind}" for kind in kinds - {"null"})
    return " or ".join(named) or "null"

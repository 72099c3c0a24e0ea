"""What the compiled check calls valid is valid; and it knows the schemas that this product has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from greenroom.transport.bill import option_schemas
from greenroom.transport.certainty import certainly
from tests.lean.requests import JSON

_NAMES = st.sampled_from(["a", "b", "c"])
_BOUNDS = st.one_of(st.integers(-3, 6), st.floats(-3, 6))
_SIZES = st.integers(0, 4)
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def _schema(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords = {
        "type": st.one_of(_TYPES, st.lists(_TYPES, min_size=1, max_size=3, unique=True)),
        "enum": st.lists(st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.text("ab", max_size=1)), max_size=3),
        "properties": st.dictionaries(_NAMES, inner, max_size=3),
        "required": st.lists(_NAMES, max_size=2, unique=True),
        "additionalProperties": st.one_of(st.booleans(), inner),
        "items": inner,
        "minItems": _SIZES,
        "maxItems": _SIZES,
        "minLength": _SIZES,
        "maxLength": _SIZES,
        "minimum": _BOUNDS,
        "maximum": _BOUNDS,
        "exclusiveMinimum": _BOUNDS,
        "exclusiveMaximum": _BOUNDS,
        "pattern": st.just("^a"),
        "const": st.one_of(st.none(), st.integers(0, 1)),
        "not": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "minProperties": _SIZES,
        "uniqueItems": st.booleans(),
        "multipleOf": st.just(2),
        "dependentRequired": st.just({"a": ["b"]}),
        "format": st.just("date"),
        "title": st.just("t"),
        "x-anything": st.just(1),
    }
    usual = ["type", "type", "properties", "required", "items", "minimum", "maxLength", "additionalProperties", "enum"]
    names = st.lists(st.sampled_from([*usual * 6, *keywords]), max_size=4, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: keywords[name] for name in chosen}))


SCHEMAS = st.recursive(st.one_of(st.booleans(), _schema(st.booleans())), _schema, max_leaves=6)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 6), st.floats(-3, 6), st.text("ab", max_size=5), JSON),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_NAMES, inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=250, deadline=None)
@given(SCHEMAS, st.lists(VALUES, min_size=5, max_size=30))
def test_whatever_is_certain_is_valid(schema: Any, values: list[Any]) -> None:
    validator = Draft202012Validator(schema)
    check = certainly(schema)
    for value in values:
        assert not check(value) or validator.is_valid(value), value


KNOWN = {
    "type": "object",
    "properties": {
        **option_schemas(600.0),
        "count": {"type": "integer", "minimum": 0},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "either": {"type": ["string", "null"], "description": "or not"},
    },
    "required": ["count"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value",
    [
        {"count": 0},
        {"count": 3, "names": ["a"], "either": None, "session_id": "x", "on_timeout": "defer"},
        {"count": 3, "timeout_seconds": 0.5, "idempotency_key": "k", "either": "x", "user_id": ""},
    ],
)
def test_ordinary_arguments_are_certain(value: Any) -> None:
    assert Draft202012Validator(KNOWN).is_valid(value)
    assert certainly(KNOWN)(value)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"count": -1},
        {"count": True},
        {"count": "1"},
        {"count": 1, "names": []},
        {"count": 1, "names": [1]},
        {"count": 1, "more": 1},
        {"count": 1, "timeout_seconds": 0},
        {"count": 1, "timeout_seconds": 601},
        {"count": 1, "on_timeout": "sing"},
        {"count": 1, "idempotency_key": ""},
        [],
        None,
    ],
)
def test_what_does_not_fit_is_never_certain(value: Any) -> None:
    assert not Draft202012Validator(KNOWN).is_valid(value)
    assert not certainly(KNOWN)(value)


def test_a_schema_with_a_word_that_is_not_known_is_never_certain() -> None:
    assert certainly({"type": "string"})("x")
    assert not certainly({"type": "string", "pattern": "^x"})("x")
    assert not certainly({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})("x")
    assert not certainly(False)("x")

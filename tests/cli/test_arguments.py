"""Words as values, by the schema of the tool."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.commands.arguments import read_pairs, read_value

ANY_OF = {"anyOf": [{"type": "integer"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("12", {"type": "string"}, "12"),
        ("true", {"type": "string"}, "true"),
        ("", {"type": "string"}, ""),
        ("12", {"type": "integer"}, 12),
        ("1.5", {"type": "number"}, 1.5),
        ("2", {"type": "number"}, 2),
        ("yes", {"type": "boolean"}, True),
        ("0", {"type": "boolean"}, False),
        ("1", {"type": ["boolean", "number", "null"]}, 1),
        ("true", {"type": ["boolean", "number", "null"]}, True),
        ('["a"]', {"type": "array"}, ["a"]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("null", {"type": ["string", "null"]}, None),
        ("words", {"type": ["string", "null"]}, "words"),
        ("12", {"type": ["string", "null"]}, "12"),
        ("7", ANY_OF, 7),
        ("red", {"enum": ["red", "blue"]}, "red"),
        ("3", {"enum": [1, 2, 3]}, 3),
        ("3", None, 3),
        ("three", None, "three"),
        ("3", {}, 3),
        ("3", True, 3),
    ],
)
def test_a_word_is_read_as_the_schema_has_it(text: str, schema: Any, value: Any) -> None:
    read = read_value("key", text, schema)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "schema", "sentence"),
    [
        ("x", {"type": "integer"}, "key must be an integer, and 'x' is not."),
        ("1.5", {"type": "integer"}, "key must be an integer, and '1.5' is not."),
        ('"a"', {"type": "array"}, "key must be an array, and '\"a\"' is not."),
        ("maybe", {"type": "boolean"}, "key must be a boolean, and 'maybe' is not."),
        ("x", ANY_OF, "key must be an integer, and 'x' is not."),
    ],
)
def test_a_word_that_cannot_be_meant_is_refused_in_a_sentence(text: str, schema: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read_value("key", text, schema)
    assert str(caught.value) == sentence


def test_a_key_that_is_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="a is given twice"):
        read_pairs([("a", "1"), ("a", "2")], {})


def test_a_schema_that_makes_no_sense_is_no_reason_to_fail() -> None:
    assert read_pairs([("a", "1")], {"properties": ["a"]}) == {"a": 1}

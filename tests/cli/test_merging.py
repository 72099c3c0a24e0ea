"""One more entry in somebody else's JSON: nothing else in it changes, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.commands.merging import AlreadyThere, CannotMerge, merge

ENTRY = {"url": "http://127.0.0.1:8000/mcp"}

keys = st.text(st.characters(exclude_categories=()))
"""Lone surrogates too: JSON can say them, UTF-8 cannot."""
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | keys,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=15,
)
objects = st.dictionaries(keys, values, max_size=5)
servers = st.dictionaries(keys, values, max_size=4)


def ordered(value: Any) -> str:
    """JSON with its order, in which 1, 1.0 and true are three different things."""
    return json.dumps(value)


@given(objects, st.none() | servers, st.sampled_from([None, 1, 2, 4, "\t"]), st.booleans())
def test_everything_else_is_kept_with_its_order(
    content: dict[str, Any], known: dict[str, Any] | None, indent: Any, ascii_only: bool
) -> None:
    content.pop("mcpServers", None)
    if known is not None:
        known.pop("greenroom", None)
        content["mcpServers"] = known
    written = json.dumps(content, indent=indent, ensure_ascii=ascii_only)
    try:
        before = written.encode()
    except UnicodeEncodeError:
        before = json.dumps(content, indent=indent).encode()
    after = json.loads(merge(before, "mcpServers", "greenroom", ENTRY))
    assert after["mcpServers"].pop("greenroom") == ENTRY
    if known is None:
        assert after.pop("mcpServers") == {}
    assert ordered(after) == ordered(content)


@given(objects, servers)
def test_doing_it_twice_is_doing_it_once(content: dict[str, Any], known: dict[str, Any]) -> None:
    known.pop("greenroom", None)
    before = json.dumps({**content, "mcpServers": known}).encode()
    once = merge(before, "mcpServers", "greenroom", ENTRY)
    assert merge(once, "mcpServers", "greenroom", ENTRY) == once


@given(st.binary(max_size=60))
def test_bytes_that_are_no_object_are_refused_and_never_guessed_at(raw: bytes) -> None:
    try:
        after = merge(raw, "mcpServers", "greenroom", ENTRY)
    except CannotMerge:
        return
    text = raw.removeprefix(b"\xef\xbb\xbf").decode()
    before = json.loads(text) if text.strip() else {}
    assert json.loads(after.removeprefix(b"\xef\xbb\xbf")) == {**before, "mcpServers": {"greenroom": ENTRY}}


@pytest.mark.parametrize("before", [b"", b"  \n", b"{}", b"{ }\n"])
def test_an_empty_file_becomes_one_with_the_entry_alone(before: bytes) -> None:
    assert json.loads(merge(before, "servers", "g", ENTRY)) == {"servers": {"g": ENTRY}}


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (b'{"a": 1,}', "is not valid JSON"),
        (b"{", "is not valid JSON"),
        (b'{\n  // mine\n  "a": 1\n}', "has comments in it (line 2, column 3), which would be lost"),
        (b'{"a": 1 /* one */}', "has comments in it"),
        (b'// first\n{"a": 1}', "has comments in it"),
        (b"[1]", "does not hold a JSON object"),
        (b'"text"', "does not hold a JSON object"),
        (b'{"mcpServers": []}', 'has a "mcpServers" that is not an object'),
        (b'{"mcpServers": null}', 'has a "mcpServers" that is not an object'),
        (b'{"a": 1, "a": 2}', 'has "a" twice in one object'),
        (b'{"x": {"a": 1, "a": 1}}', 'has "a" twice in one object'),
        (b'{"a": NaN}', "has NaN in it"),
        (b'{"a": 1e999}', "too large to be kept"),
        (b'{"a": "\xff"}', "is not text in UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read"),
    ],
)
def test_what_cannot_be_kept_whole_is_not_touched(before: bytes, why: str) -> None:
    with pytest.raises(CannotMerge) as caught:
        merge(before, "mcpServers", "greenroom", ENTRY)
    assert why in str(caught.value)


def test_another_entry_of_the_same_name_is_only_replaced_when_asked_and_keeps_its_place() -> None:
    before = b'{"mcpServers": {"greenroom": {"url": "http://other/mcp"}, "zoo": {}}, "z": 1}'
    with pytest.raises(AlreadyThere):
        merge(before, "mcpServers", "greenroom", ENTRY)
    after = json.loads(merge(before, "mcpServers", "greenroom", ENTRY, replace=True))
    assert list(after["mcpServers"].items()) == [("greenroom", ENTRY), ("zoo", {})]
    assert list(after) == ["mcpServers", "z"]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (b'{\n\t"a": 1\n}\n', b'{\n\t"a": 1,\n\t"s": {\n\t\t"g": {}\n\t}\n}\n'),
        (b'{\n    "a": 1\n}', b'{\n    "a": 1,\n    "s": {\n        "g": {}\n    }\n}'),
        (b'{\r\n  "a": 1\r\n}\r\n', b'{\r\n  "a": 1,\r\n  "s": {\r\n    "g": {}\r\n  }\r\n}\r\n'),
        (b"\xef\xbb\xbf{}", b'\xef\xbb\xbf{\n  "s": {\n    "g": {}\n  }\n}'),
        ('{"ä": "日"}'.encode(), '{\n  "ä": "日",\n  "s": {\n    "g": {}\n  }\n}'.encode()),
    ],
)
def test_the_file_is_written_in_its_own_manner(before: bytes, expected: bytes) -> None:
    assert merge(before, "s", "g", {}) == expected

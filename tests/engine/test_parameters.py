"""The explicit form of a command, read and written."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.workflow.engine.coercion import coerce
from greenroom.workflow.engine.definition import ParameterDef
from greenroom.workflow.engine.parameters import (
    CommandText,
    Malformed,
    command_name,
    format_command,
    parse_command,
)

ONE = (ParameterDef("note", "string", True, kinds=(str,)),)
TWO = (
    ParameterDef("to", "string", True, kinds=(str,)),
    ParameterDef("tags", "list of string", False, is_list=True, is_optional=True, kinds=(list[str],)),
)

# Every code point there is, lone surrogates too.
any_text = st.text(st.characters(codec=None, exclude_categories=()))


def parsed(text: str, parameters: tuple[ParameterDef, ...] = TWO) -> dict[str, Any]:
    result = parse_command(text, parameters)
    assert isinstance(result, CommandText), result
    return dict(result.parameters)


def malformed(text: str, parameters: tuple[ParameterDef, ...] = TWO) -> Malformed:
    result = parse_command(text, parameters)
    assert isinstance(result, Malformed), result
    return result


def test_a_name_ends_at_space_parenthesis_or_tag() -> None:
    for text in ("  add_user", "add_user <a>1</a>", "add_user<a>1</a>", "add_user(1, 2)", "add_user\n<a>1</a>"):
        assert command_name(text) == "add_user"
    assert command_name("ChatRoom/add_user x") == "ChatRoom/add_user"


def test_tags_may_come_in_any_order_and_on_their_own_lines() -> None:
    assert parsed("send\n  <tags>a</tags>\n  <to>bob</to>\n") == {"to": "bob", "tags": "a"}


def test_a_value_is_literal_up_to_its_own_closing_tag() -> None:
    value = "if a < b && c > d: print(\"<b>'x'</b>\")\n\nAT&T &unknown; 100% ½ 🙂"
    assert parsed(f"send <to>{value}</to>") == {"to": value}


def test_entities_stand_for_characters_and_are_decoded_once() -> None:
    assert parsed("send <to>&lt;/to&gt; &amp;lt; &quot;&apos; &#x1F642; &#10;</to>") == {"to": "</to> &lt; \"' 🙂 \n"}
    assert parsed("send <to>&#99999999; &#x110000; &;</to>") == {"to": "&#99999999; &#x110000; &;"}


def test_white_space_around_a_value_is_dropped() -> None:
    assert parsed("send <to>\n  bob\n</to>") == {"to": "bob"}


def test_an_empty_tag_is_an_empty_text() -> None:
    assert parsed("send <to></to>") == {"to": ""}


def test_a_tag_name_may_differ_in_case() -> None:
    assert parsed("send <To>bob</To>") == {"to": "bob"}


def test_a_repeated_tag_gives_a_list() -> None:
    assert parsed("send <to>bob</to> <tags>a, b</tags> <tags>c</tags> <tags>d</tags>")["tags"] == ["a, b", "c", "d"]


def test_a_single_parameter_accepts_any_tag_name() -> None:
    assert parsed("jot <anything>x</anything>", ONE) == {"note": "x"}


@pytest.mark.parametrize(
    ("text", "parameters", "problem", "position"),
    [
        ("", TWO, "must begin with its name", 0),
        ("   ", TWO, "must begin with its name", 3),
        ("<to>bob</to>", TWO, "must begin with its name", 0),
        ("send <to>bob", TWO, "<to> is never closed with </to>", 5),
        ("send <to>bob</tags>", TWO, "<to> is never closed with </to>", 5),
        ("send <to>bob</to> hello", TWO, "text outside of any tag: 'hello'", 18),
        ("send hello <to>bob</to>", TWO, "text outside of any tag: 'hello'", 5),
        ("send(bob)", TWO, "text outside of any tag: '(bob)'", 4),
        ("send </to>", TWO, "text outside of any tag", 5),
        ("send <nobody>bob</nobody>", TWO, "no parameter 'nobody'; the parameters are: to, tags", 5),
        ("send <to>a</to> <to>b</to>", TWO, "to is given twice", 16),
        ("jot <a>1</a> <b>2</b>", ONE, "note is given twice", 13),
        ("list <a>1</a>", (), "takes no parameters", 5),
    ],
)
def test_a_malformed_text_says_what_is_wrong_and_where(
    text: str, parameters: tuple[ParameterDef, ...], problem: str, position: int
) -> None:
    found = malformed(text, parameters)
    assert problem in found.problem
    assert found.position == position


@given(any_text)
def test_whatever_is_written_is_read_back(value: str) -> None:
    assert parsed(format_command("jot", {"note": value}), ONE) == {"note": value}


@given(to=any_text, tags=st.lists(any_text))
def test_texts_and_lists_survive_the_way_through_a_command(to: str, tags: list[str]) -> None:
    text = format_command("send", {"to": to, "tags": tags})
    assert command_name(text) == "send"
    # The one text that means that there is none.
    expected = {"tags": tags} if to == "NOT_FOUND" else {"to": to, "tags": tags}
    assert coerce(TWO, parsed(text))[0] == expected


@given(any_text)
def test_no_text_makes_the_parser_fail(text: str) -> None:
    assert isinstance(parse_command(text, TWO), CommandText | Malformed)
    assert isinstance(parse_command(f"send {text}", ONE), CommandText | Malformed)
    assert isinstance(parse_command(f"send <to>{text}", TWO), CommandText | Malformed)


class Colour(enum.Enum):
    RED = "red & green"


def test_other_values_are_written_in_the_form_that_is_read() -> None:
    values = {"a": True, "b": 2, "c": 2.5, "d": Colour.RED, "e": None, "f": {"x": [1]}}
    assert format_command("x", values) == 'x <a>true</a> <b>2</b> <c>2.5</c> <d>red &amp; green</d> <f>{"x": [1]}</f>'

"""Which parameters a sentence holds, and which it leaves open."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.workflow.routing import Extracted, Kind, Parameter, extract

P = Parameter
TWO_NUMBERS = [P("first_num", "float"), P("second_num", "float")]
STATUS = P("status", "enum", choices=("pending", "shipped", "on_hold"))
MAIL = P("contact", pattern=r"[\w.]+@[\w.]+")


@pytest.mark.parametrize(
    ("sentence", "parameters", "command", "values"),
    [
        # numbers
        ("what is the sum of 3 and four", TWO_NUMBERS, "add", {"first_num": 3.0, "second_num": 4.0}),
        ("second num is 5 and first num 7", TWO_NUMBERS, "add", {"first_num": 7.0, "second_num": 5.0}),
        ("add twenty-five to 1,200.5", TWO_NUMBERS, "add", {"first_num": 25.0, "second_num": 1200.5}),
        ("wait forty two seconds", [P("seconds", "int")], "wait", {"seconds": 42}),
        ("wait a hundred seconds", [P("seconds", "int")], "wait", {"seconds": 100}),
        ("set volume to fifty percent", [P("volume", "int")], "set_volume", {"volume": 50}),
        ("charge $12.50", [P("amount", "float")], "charge", {"amount": 12.5}),
        ("cool down to -5", [P("degrees", "int")], "cool", {"degrees": -5}),
        # patterns
        ("write to ann@example.org today", [MAIL], "write", {"contact": "ann@example.org"}),
        ("look up A-17", [P("code", pattern=r"[A-Z]-\d+")], "look_up", {"code": "A-17"}),
        ("call 555 123 4567", [P("phone", pattern=r"\d{3} \d{3} \d{4}")], "call", {"phone": "555 123 4567"}),
        ("invite joe@x.io", [P("email")], "invite", {"email": "joe@x.io"}),
        # enumerations
        ("show the shipped ones", [STATUS], "show_orders", {"status": "shipped"}),
        ("show pendng orders", [STATUS], "show_orders", {"status": "pending"}),
        ("what is on hold", [STATUS], "show_orders", {"status": "on_hold"}),
        # booleans
        ("turn notifications off", [P("enabled", "bool")], "set_notifications", {"enabled": False}),
        ("archive with compress", [P("compress", "bool")], "archive", {"compress": True}),
        ("archive without compress", [P("compress", "bool")], "archive", {"compress": False}),
        ("is it public: yes", [P("public", "bool")], "publish", {"public": True}),
        # introduced values
        ("create a todo called Buy milk", [P("title")], "create_todo", {"title": "Buy milk"}),
        ("send a note to Bob saying see you", [P("to"), P("text")], "send", {"to": "Bob", "text": "see you"}),
        ("fly from New York to Oslo", [P("origin"), P("destination")], "fly",
         {"origin": "New York", "destination": "Oslo"}),
        ("I want to move from desk 4 to the lab", [P("source"), P("target")], "move",
         {"source": "desk 4", "target": "the lab"}),
        ("show order 5512", [P("order_id")], "show_order", {"order_id": "5512"}),
        ("show order number 5512", [P("order_id")], "show_order", {"order_id": "5512"}),
        ("set name to Zoe", [P("name")], "set", {"name": "Zoe"}),
        ("book it for Ann on 2024-05-03", [P("date")], "book", {"date": "2024-05-03"}),
        ("remind me on next Monday", [P("day")], "remind", {"day": "next Monday"}),
        # quoted text and examples
        ('rename "old plan" "new plan"', [P("before"), P("after")], "rename",
         {"before": "old plan", "after": "new plan"}),
        ("cancel #W2378156 at once", [P("ref", examples=("#W0000000",))], "cancel", {"ref": "#W2378156"}),
        ("paint it red now", [P("colour", examples=("red", "blue"))], "paint", {"colour": "red"}),
        # lists
        ("add tags red, green and blue", [P("tags", "list")], "add_tags", {"tags": ("red", "green", "blue")}),
        ("tags 'a b' 'c'", [P("tags", "list")], "", {"tags": ("a b", "c")}),
        # what is left
        ("please find the user Ann Lee", [P("who")], "find_user", {"who": "Ann Lee"}),
        ("search for cats in hats", [P("query")], "search", {"query": "cats in hats"}),
        ("weigh down by 3 kilos", [P("kilos", "int"), P("what", required=False)], "weigh", {"kilos": 3}),
    ],
)  # fmt: skip
def test_parameters_are_found(sentence: str, parameters: list[Parameter], command: str, values: dict[str, Any]) -> None:
    assert extract(sentence, parameters, command) == Extracted(values, ())


@pytest.mark.parametrize(
    ("sentence", "parameters", "command", "missing"),
    [
        ("add 5", TWO_NUMBERS, "add", ("first_num", "second_num")),
        ("add 1 and 2 and 3", TWO_NUMBERS, "add", ("first_num", "second_num")),
        ("show shipped or pending orders", [STATUS], "show_orders", ("status",)),
        ("write to a@b.c or d@e.f", [MAIL], "write", ("contact",)),
        ("put the lamp on the table", [P("thing")], "put", ("thing",)),
        ("add user", [P("user_name")], "add_user", ("user_name",)),
        ("show me the last one", [P("count", "int")], "show", ("count",)),
        ("meet on Monday", [P("confirmed", "bool")], "meet", ("confirmed",)),
        ("pay 3.5", [P("coins", "int")], "pay", ("coins",)),
        ("", [P("anything")], "", ("anything",)),
    ],
)
def test_what_could_go_two_ways_or_is_not_there_is_missing(
    sentence: str, parameters: list[Parameter], command: str, missing: tuple[str, ...]
) -> None:
    assert extract(sentence, parameters, command) == Extracted({}, missing)


def test_one_word_is_never_two_parameters() -> None:
    found = extract("order 7", [P("count", "int"), P("size", "int", required=False)], "order")
    assert found == Extracted({"count": 7}, ())


def test_an_optional_parameter_is_never_missing() -> None:
    assert extract("list", [P("limit", "int", required=False)], "list") == Extracted({}, ())


def test_a_text_that_is_too_long_to_be_a_sentence_is_not_cut_but_left() -> None:
    assert extract("find " + "very " * 5000 + "much", [P("query")], "find") == Extracted({}, ("query",))


def test_a_pattern_that_is_no_regular_expression_finds_nothing() -> None:
    assert extract("look up (", [P("code", pattern="(")], "look_up") == Extracted({}, ("code",))


parameters = st.builds(
    Parameter,
    name=st.sampled_from(["id", "user_id", "to", "from", "name", "when", "", "_", "naïve", "orderId"]),
    type=st.sampled_from(get_args(Kind)),
    required=st.booleans(),
    pattern=st.sampled_from([None, r"\w+", r".*", "(", r"#\d+"]),
    examples=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    choices=st.lists(st.text(max_size=5), max_size=3).map(tuple),
)
sentences = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            ["to", "from", "id", "name", "is", "set", "user", "one", "hundred", "7", "on", '"', "'", ",", "no", "#1"]
        )
    ).map(" ".join),
)


@given(sentences, st.lists(parameters, max_size=4), st.text(max_size=10))
def test_no_sentence_makes_extraction_fail(sentence: str, wanted: list[Parameter], command: str) -> None:
    found = extract(sentence, wanted, command)
    names = {parameter.name for parameter in wanted}
    assert found.values.keys() <= names
    assert set(found.missing) <= names - found.values.keys()

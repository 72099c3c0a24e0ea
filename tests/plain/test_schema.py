"""What becomes of a function's parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, create_model

from greenroom.workflow.engine import InvalidParameters, ParameterDef, example_of
from greenroom.workflow.engine.annotations import parameter_of
from greenroom.workflow.plain.schema import Own, Schema, schema_of
from tests.plain.apps import artifacts, parameters, says, session


def read(function: Any, contexts: Sequence[type] = (), *, is_bound: bool = False) -> Schema:
    complaints: list[str] = []
    schema = schema_of(function, is_bound=is_bound, contexts=contexts, complain=complaints.append)
    assert complaints == []
    return schema


def complaints_about(function: Any) -> list[str]:
    complaints: list[str] = []
    schema_of(function, is_bound=False, contexts=(), complain=complaints.append)
    return complaints


KINDS = """
    class Size(Enum):
        SMALL = "small"
        LARGE = "large"

    class Order(BaseModel):
        tea: str
        cups: int = 1

    def f(
        text: str,
        whole: int,
        number: float,
        switch: bool,
        size: Size,
        way: Literal["here", "to go"],
        texts: list[str],
        wholes: list[int],
        table: dict[str, int],
        day: date,
        moment: datetime,
        order: Order,
        pair: tuple[int, str],
    ) -> dict[str, Any]:
        return dict(locals())
"""


def test_every_kind_of_type_hint_is_described(tmp_path: Path) -> None:
    described = parameters(tmp_path, KINDS)
    assert {name: each.type for name, each in described.items()} == {
        "text": "string",
        "whole": "integer",
        "number": "number",
        "switch": "boolean",
        "size": "string",
        "way": "string",
        "texts": "list of string",
        "wholes": "list of integer",
        "table": "object",
        "day": "date",
        "moment": "datetime",
        "order": "object",
        "pair": "tuple",
    }
    assert described["size"].enum == ("small", "large")
    assert described["way"].enum == ("here", "to go")
    assert all(each.required for each in described.values())


def test_the_example_of_a_command_can_be_run(tmp_path: Path) -> None:
    text = """
        from datetime import time
        from decimal import Decimal
        from uuid import UUID
        def f(a: str, b: int, c: float, d: bool, e: date, g: datetime, h: time, i: Decimal, j: UUID, k: dict) -> str:
            return "run"
        """
    instance = session(tmp_path, text)
    assert says(instance, example_of(instance.find("f").command)) == ["run"]


def test_a_function_gets_values_of_the_types_that_it_asks_for(tmp_path: Path) -> None:
    given_as_text = {
        "text": "a",
        "whole": "3",
        "number": "2.5",
        "switch": "true",
        "size": "LARGE",
        "way": "to go",
        "texts": "a, b",
        "wholes": "[1, 2]",
        "table": '{"a": 1}',
        "day": "2026-02-03",
        "moment": "2026-02-03T04:05:06",
        "order": '{"tea": "assam"}',
        "pair": '[1, "x"]',
    }
    command = "f " + " ".join(f"<{name}>{value}</{name}>" for name, value in given_as_text.items())
    assert artifacts(session(tmp_path, KINDS), command) == {
        "text": "a",
        "whole": 3,
        "number": 2.5,
        "switch": True,
        "size": "large",
        "way": "to go",
        "texts": ["a", "b"],
        "wholes": [1, 2],
        "table": {"a": 1},
        "day": "2026-02-03",
        "moment": "2026-02-03T04:05:06",
        "order": {"tea": "assam", "cups": 1},
        "pair": [1, "x"],
    }


def test_defaults_count_even_those_that_a_command_file_has_for_nothing(tmp_path: Path) -> None:
    text = """
        def f(a: int = 7, b: list[str] = [], c: str = "", d: dict[str, int] = {}, e: tuple[int, ...] = ()) -> str:
            return repr((a, b, c, d, e))
    """
    assert not any(each.required for each in parameters(tmp_path, text).values())
    assert says(session(tmp_path, text), "f") == ["(7, [], '', {}, ())"]


def test_a_default_that_can_be_changed_is_not_shared_between_calls(tmp_path: Path) -> None:
    instance = session(tmp_path, "def f(a: list[str] = []) -> list[str]:\n    a.append('x')\n    return a\n")
    assert says(instance, "f", "f") == ["- x", "- x"]


@pytest.mark.parametrize("hint", ["int | None", "Optional[int]", "int | None = None", "int = None"])
def test_none_may_be_left_out(tmp_path: Path, hint: str) -> None:
    text = f"def f(a: {hint}) -> str:\n    return repr(a)\n"
    described = parameters(tmp_path, text)["a"]
    assert (described.required, described.is_optional, described.type) == (False, True, "integer")
    assert says(session(tmp_path, text), "f", "f <a>4</a>") == ["None", "4"]


def test_the_hint_can_carry_bounds_and_a_description() -> None:
    def f(
        a: Annotated[int, Field(ge=1, description="how many")],
        b: Annotated[str, "the title"],
        c: Annotated[str, Field(pattern="[A-Z]+", examples=["ABC"])] = "X",
    ) -> None:
        """Do it.

        Args:
            a: not this
            b: nor that
            c: a code
        """

    a, b, c = read(f).parameters
    assert (a.description, b.description, c.description) == ("how many", "the title", "a code")
    assert (c.pattern, c.examples, c.default) == ("[A-Z]+", ("ABC",), "X")


def test_bounds_are_kept(tmp_path: Path) -> None:
    instance = session(tmp_path, "def f(a: Annotated[int, Field(ge=1)]) -> int:\n    return a\n")
    with pytest.raises(InvalidParameters, match="greater than or equal to 1"):
        instance.execute_text("f <a>0</a>")


@pytest.mark.parametrize("name", ["copy", "json", "schema", "model_name", "validate", "dict"])
def test_a_parameter_may_have_a_name_that_pydantic_uses(tmp_path: Path, name: str) -> None:
    instance = session(tmp_path, f"def f({name}: str, b: int = 2) -> str:\n    return {name} * b\n")
    assert says(instance, f"f <{name}>ab</{name}>") == ["abab"]


def test_a_parameter_of_a_context_class_is_the_sessions_to_fill_in() -> None:
    class Basket:
        def show(self) -> None: ...

    def f(item: str, basket: Basket, other: Basket | None = None) -> None: ...

    f.__annotations__ = {"item": str, "basket": Basket, "other": Basket | None, "return": None}
    schema = read(f, [Basket])
    assert [each.name for each in schema.parameters] == ["item"]
    assert schema.own == {"basket": Own(Basket, is_required=True), "other": Own(Basket, is_required=False)}


def test_a_parameter_that_begins_with_an_underscore_keeps_its_default(tmp_path: Path) -> None:
    text = "def f(a: int, _seen=(), *, b: int = 1) -> str:\n    return repr((a, _seen, b))\n"
    assert list(parameters(tmp_path, text)) == ["a", "b"]
    assert says(session(tmp_path, text), "f <a>1</a>") == ["(1, (), 1)"]


def test_all_that_is_wrong_with_a_signature_is_said_at_once() -> None:
    class Thing: ...

    def f(a, /, b, c: Thing, d: Nowhere, _e, *args: int, **more: int) -> None: ...  # type: ignore[name-defined, no-untyped-def] # noqa: F821

    f.__annotations__["c"] = Thing
    said = complaints_about(f)
    assert len(said) == 7
    for wanted in (
        "'a' is positional-only",
        "*args has no place",
        "**more has no place",
        "'b' has no type hint",
        "'c' cannot be described",
        "'d', Nowhere, cannot be understood",
        "'_e' begins with _",
    ):
        assert any(wanted in each for each in said), wanted


@pytest.mark.parametrize("name", ["model_fields_set", "model_config", "model_dump", "model_fields"])
def test_a_name_that_pydantic_cannot_do_without_is_refused(name: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def f({name}: str): ...", space)
    assert [name in each and "choose another" in each for each in complaints_about(space["f"])] == [True]


def test_a_hint_that_only_a_type_checker_knows_spoils_no_other() -> None:
    def f(a: int) -> Nowhere: ...  # type: ignore[name-defined] # noqa: F821

    assert [each.name for each in read(f).parameters] == ["a"]


# --- the same as a command file's Input ---------------------------------------------------------------------

_SIMPLE: st.SearchStrategy[Any] = st.sampled_from([str, int, float, bool, date, Literal["a", "b"], dict[str, int]])
_HINTS = st.recursive(
    _SIMPLE,
    lambda inner: st.one_of(inner.map(lambda hint: list[hint]), inner.map(lambda hint: hint | None)),  # type: ignore[valid-type]
    max_leaves=3,
)


@given(st.dictionaries(st.from_regex(r"p_[a-z]{0,6}", fullmatch=True), _HINTS, min_size=1, max_size=5))
def test_a_signature_says_what_an_input_with_the_same_fields_says(hints: dict[str, Any]) -> None:
    names = ", ".join(hints)
    space: dict[str, Any] = {}
    exec(f"def f({names}): ...", space)
    space["f"].__annotations__ = hints
    wanted = create_model("Input", **{name: (hint, ...) for name, hint in hints.items()})  # type: ignore[call-overload]
    assert _comparable(read(space["f"]).parameters) == _comparable(
        [parameter_of(name, field) for name, field in wanted.model_fields.items()]
    )


def _comparable(found: Sequence[ParameterDef]) -> list[dict[str, Any]]:
    return [attrs.asdict(each, filter=lambda attribute, _: attribute.name != "kinds") for each in found]


@given(st.dictionaries(st.text(min_size=1), st.integers() | st.none() | st.text(), max_size=5), st.text())
def test_what_a_client_sends_is_what_the_function_gets(table: dict[str, Any], text: str) -> None:
    def f(table: dict[str, Any], text: str) -> None: ...

    f.__annotations__ = {"table": dict[str, Any], "text": str}
    model = read(f).input_model
    assert model is not None
    built = model.model_validate({"table": json.loads(json.dumps(table)), "text": text})
    assert (built.table, built.text) == (table, text)  # type: ignore[attr-defined]

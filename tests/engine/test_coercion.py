"""What a caller may give for each kind of parameter."""

from __future__ import annotations

import enum
import sys
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from pydantic import BaseModel, ConfigDict, Field

from greenroom.workflow.engine.annotations import parameter_of
from greenroom.workflow.engine.coercion import build_input
from greenroom.workflow.engine.definition import CommandDef

OldOptional = Optional[int]  # noqa: UP045 - as most command files write it
OldUnion = Union[int, str]  # noqa: UP007


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    city: str


def command(model: type[BaseModel]) -> CommandDef:
    parameters = tuple(parameter_of(name, field) for name, field in model.model_fields.items())
    return CommandDef(context="*", name="try", parameters=parameters, input_model=model)


def one_field(annotation: Any, **field: Any) -> CommandDef:
    namespace = (
        {"__annotations__": {"x": annotation}, "x": Field(**field)} if field else {"__annotations__": {"x": annotation}}
    )
    return command(type("Input", (BaseModel,), {**namespace, "__module__": __name__}))


def accepted(annotation: Any, raw: Any, **field: Any) -> Any:
    model, errors = build_input(one_field(annotation, **field), {"x": raw})
    assert not errors
    return model.x  # type: ignore[union-attr]


def refused(annotation: Any, raw: Any, **field: Any) -> str:
    model, errors = build_input(one_field(annotation, **field), {"x": raw})
    assert model is None
    [error] = errors
    assert error.parameter == "x"
    return error.problem


@pytest.mark.parametrize(
    ("annotation", "raw", "value"),
    [
        (str, "a", "a"),
        (str, 12, "12"),
        (str, True, "true"),
        (str, "", ""),
        (bool, "TRUE", True),
        (bool, " false ", False),
        (bool, "1", True),
        (bool, 0, False),
        (int, " 12 ", 12),
        (int, -3, -3),
        (int, 4.0, 4),
        (float, "2.5", 2.5),
        (float, 3, 3.0),
        (Size, "s", Size.SMALL),
        (Size, "large", Size.LARGE),
        (Size, "LARGE", Size.LARGE),
        (Level, "2", Level.HIGH),
        (Level, 1, Level.LOW),
        (Level, "low", Level.LOW),
        (Literal["a", 3], "3", 3),
        (OldOptional, "5", 5),
        (int | None, "5", 5),
        (OldUnion, "5", 5),
        (OldUnion, "five", "five"),
        (Annotated[str, Field(max_length=3)], "abc", "abc"),
        (Address, '{"city": "Oslo"}', Address(city="Oslo")),
        (Address, {"city": "Oslo"}, Address(city="Oslo")),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Any, "x", "x"),
    ],
)
def test_a_value_that_means_the_type_is_taken(annotation: Any, raw: Any, value: Any) -> None:
    result = accepted(annotation, raw)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('["a", "b,c"]', ["a", "b,c"]),
        ("['a', 'b']", ["a", "b"]),
        ("a, 'b' ,\"c\"", ["a", "b", "c"]),
        ("a b", ["a", "b"]),
        ("'a b'", ["a b"]),
        ("a", ["a"]),
        (["a", 1], ["a", "1"]),
        ("[not json", ["[not json"]),
    ],
)
def test_a_list_comes_in_several_forms(raw: Any, value: list[str]) -> None:
    assert accepted(list[str], raw) == value


def test_the_items_of_a_list_are_coerced_too() -> None:
    assert accepted(list[int], "1, 2") == [1, 2]
    assert accepted(set[Size], "s l") == {Size.SMALL, Size.LARGE}
    assert accepted(tuple[int, ...], "[1, 2]") == (1, 2)
    assert accepted(list[Address], '[{"city": "Oslo"}]') == [Address(city="Oslo")]
    assert "must be list of integer" in refused(list[int], "1, x")


@pytest.mark.parametrize(
    ("annotation", "raw", "problem"),
    [
        (int, "abc", 'x is "abc", but it must be integer'),
        (int, True, "x is true, but it must be integer"),
        (int, "2.5", "must be integer"),
        (float, "nan", "must be number"),
        (float, "1e999", "must be number"),
        (bool, "yes", "must be boolean"),
        (bool, 2, "must be boolean"),
        (Size, "medium", "must be one of: s, l"),
        (Literal["a", "b"], "c", "must be one of: a, b"),
        (str, ["a"], "must be string"),
        (str, {"a": 1}, "must be string"),
        (list[str], 5, "must be list of string"),
        (int | bool, "x", "must be integer or boolean"),
        (Address, "Oslo", "x: "),
        (Address, '{"city": 5}', "x.city: "),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_in_a_sentence(annotation: Any, raw: Any, problem: str) -> None:
    assert problem in refused(annotation, raw)


def test_a_pattern_must_match_the_whole_value() -> None:
    assert accepted(str, "#W1", pattern=r"#?\w+") == "#W1"
    assert refused(str, "#W1 and", pattern=r"#?\w+").endswith(r"it must match the pattern #?\w+.")
    assert "such as #W7" in refused(str, "#W1 and more", pattern=r"#?\w+", examples=["#W7"])


def test_bounds_and_lengths_of_the_model_count() -> None:
    assert "at least 3 characters" in refused(str, "x", min_length=3)
    assert "greater than or equal to 0" in refused(int, "-1", ge=0)


NO_VALUE: list[Any] = [None, "NOT_FOUND", -sys.maxsize, -sys.float_info.max, []]


@pytest.mark.parametrize("raw", NO_VALUE)
def test_what_stands_for_no_value_is_missing_where_one_is_required(raw: Any) -> None:
    assert "x is missing" in refused(str, raw, description="A thing")
    assert "x is missing" in refused(list[str], raw)


@pytest.mark.parametrize("default", ["NOT_FOUND", None, -sys.maxsize])
def test_a_default_that_stands_for_no_value_makes_a_parameter_required(default: Any) -> None:
    _, errors = build_input(one_field(str, default=default), {})
    assert [error.parameter for error in errors] == ["x"]


@pytest.mark.parametrize("raw", NO_VALUE)
def test_a_default_counts(raw: Any) -> None:
    assert accepted(str, raw, default="summary") == "summary"
    assert accepted(bool, raw, default=False) is False


def test_an_optional_parameter_may_be_left_out_even_without_a_default() -> None:
    for annotation in (OldOptional, str | None):
        model, errors = build_input(one_field(annotation), {})
        assert not errors
        assert model.x is None  # type: ignore[union-attr]
    assert accepted(list[str] | None, []) == []


def test_an_empty_tag_is_no_number() -> None:
    assert "x is missing" in refused(int, "")
    assert accepted(OldOptional, "") is None


def test_every_problem_is_told_at_once() -> None:
    class Input(BaseModel):
        a: int
        b: Size
        c: str = "x"

    _, errors = build_input(command(Input), {"b": "z", "d": 1})
    assert [error.parameter for error in errors] == ["d", "a", "b"]
    assert errors[2].suggestions == ("s", "l")


def test_a_field_with_an_alias_is_given_by_its_name() -> None:
    class Input(BaseModel):
        model_config = ConfigDict(extra="forbid")
        user_name: str = Field(alias="userName")

    model, errors = build_input(command(Input), {"user_name": "bob"})
    assert not errors
    assert model.user_name == "bob"  # type: ignore[union-attr]


def test_what_a_field_says_becomes_a_description_of_the_parameter() -> None:
    class Input(BaseModel):
        order: Annotated[
            str,
            Field(
                default="NOT_FOUND",
                description=" The order ",
                pattern="#.*",
                examples=["#1"],
                json_schema_extra={"available_from": ["get_user"], "db_lookup": True, "enum": ["#1", "#2"]},
            ),
        ]
        sizes: list[Size] = Field(default_factory=list)
        when: int | None = 3

    order, sizes, when = command(Input).parameters
    assert (order.type, order.required, order.description, order.pattern) == ("string", True, "The order", "#.*")
    assert (order.examples, order.available_from, order.db_lookup, order.enum) == (
        ("#1",),
        ("get_user",),
        True,
        ("#1", "#2"),
    )
    assert (sizes.type, sizes.required, sizes.is_list, sizes.enum) == ("list of string", True, True, ("s", "l"))
    assert (when.type, when.required, when.is_optional, when.default) == ("integer", False, True, 3)

"""The bill: schemas with the stage's own arguments in them, and arguments checked against them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from greenroom.config.errors import InvalidArguments
from greenroom.transport.mcp import wire
from greenroom.transport.mcp.bill import MAX_REPORTED, Act, StageOptions, make_bill, option_schemas
from greenroom.transport.mcp.house import HOUSE_TOOLS
from greenroom.workflow.conformance import ConformanceWorkflow
from greenroom.workflow.demo import DemoWorkflow
from greenroom.workflow.events import Direction, Trace
from greenroom.workflow.values import SessionUse, Tool, ToolResult

OPTIONS = option_schemas(600.0)
NAMES = {"session_id", "user_id", "timeout_seconds", "on_timeout", "idempotency_key"}


def tool(use: SessionUse = SessionUse.REQUIRED, /, name: str = "t", **schema: Any) -> Tool:
    return Tool(name, "A tool.", {"type": "object", **schema}, session_use=use)


def act(use: SessionUse = SessionUse.REQUIRED, /, output: dict[str, Any] | None = None, **schema: Any) -> Act:
    return Act.of(Tool("t", "A tool.", {"type": "object", **schema}, output, session_use=use), OPTIONS)


def faults(refusing: Act, arguments: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(InvalidArguments) as caught:
        refusing.check_arguments(arguments)
    return [(fault["path"], fault["message"]) for fault in caught.value.data["errors"]]


# --- the stage's own arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize("use", [SessionUse.REQUIRED, SessionUse.OPTIONAL])
def test_a_tool_of_a_session_takes_the_arguments_of_the_stage_beside_its_own(use: SessionUse) -> None:
    made = act(use, properties={"a": {"type": "string"}}, required=["a"], additionalProperties=False)
    assert set(made.input_schema["properties"]) == NAMES | {"a"}
    assert made.input_schema["required"] == ["a"]
    assert made.listed.input_schema == made.input_schema
    made.check_arguments({"a": "x", "session_id": "s", "user_id": "u", "timeout_seconds": 5, "on_timeout": "defer"})


def test_a_tool_that_is_always_on_its_own_is_shown_as_it_is() -> None:
    made = act(SessionUse.NEVER, properties={"session_id": {"type": "integer"}})
    assert made.input_schema == {"type": "object", "properties": {"session_id": {"type": "integer"}}}


def test_a_tool_without_properties_gets_those_of_the_stage() -> None:
    assert set(act().input_schema["properties"]) == NAMES


def test_the_schema_that_the_workflow_gave_is_not_changed() -> None:
    given_tool = tool(properties={"a": {}})
    Act.of(given_tool, OPTIONS)
    assert given_tool.input_schema == {"type": "object", "properties": {"a": {}}}


def test_proxies_may_route_on_the_session() -> None:
    assert act().input_schema["properties"]["session_id"]["x-mcp-header"] == "Session"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_workflow_may_not_use_an_argument_of_the_stage(name: str) -> None:
    with pytest.raises(ValueError, match=f"'t'.*{name!r}"):
        Act.of(tool(properties={name: {}}), OPTIONS)


@pytest.mark.parametrize("name", [house.name for house in HOUSE_TOOLS])
def test_a_workflow_may_not_have_a_tool_of_the_house(name: str) -> None:
    with pytest.raises(ValueError, match=repr(name)):
        make_bill([tool(name=name)], HOUSE_TOOLS, 600)


def test_the_tools_of_the_workflow_come_first_and_those_of_the_house_take_no_options() -> None:
    bill = make_bill([tool(name="b"), tool(name="a")], HOUSE_TOOLS, 600)
    assert list(bill) == ["b", "a", *(house.name for house in HOUSE_TOOLS)]
    assert set(bill["initialize"].input_schema["properties"]) == {"user_id", "conversation_id"}


def test_a_schema_that_is_none_is_noticed_before_anybody_calls() -> None:
    with pytest.raises(SchemaError):
        act(properties={"a": {"type": "strnig"}})


def test_an_output_schema_that_is_none_is_noticed_before_anybody_calls() -> None:
    with pytest.raises(SchemaError):
        act(output={"type": "strnig"})


@pytest.mark.parametrize("workflow", [DemoWorkflow(), ConformanceWorkflow()])
def test_what_is_built_in_makes_a_sound_bill(workflow: DemoWorkflow | ConformanceWorkflow) -> None:
    for made in make_bill(workflow.tools(), HOUSE_TOOLS, 600).values():
        Draft202012Validator.check_schema(made.input_schema)
        if made.tool.output_schema is not None:
            Draft202012Validator.check_schema(made.tool.output_schema)


# --- checking arguments ------------------------------------------------------------------------------------

NESTED = act(
    properties={
        "name": {"type": "string", "minLength": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {"type": "object", "properties": {"zip": {"type": "integer"}}, "required": ["zip"]},
    },
    required=["name"],
    additionalProperties=False,
)


def test_arguments_that_fit_pass() -> None:
    NESTED.check_arguments({"name": "x", "tags": ["a"], "place": {"zip": 1}})


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({}, "", "'name' is a required property"),
    ({"name": 7}, "name", "7 is not of type 'string'"),
    ({"name": "x", "tags": ["a", 1]}, "tags[1]", "1 is not of type 'string'"),
    ({"name": "x", "place": {}}, "place", "'zip' is a required property"),
    ({"name": "x", "place": {"zip": "a"}}, "place.zip", "'a' is not of type 'integer'"),
    ({"name": "x", "other": 1}, "", "Additional properties are not allowed ('other' was unexpected)"),
    ({"name": "x", "session_id": 7}, "session_id", "7 is not of type 'string'"),
    ({"name": "x", "timeout_seconds": 0}, "timeout_seconds", "0 is less than or equal to the minimum of 0"),
    ({"name": "x", "timeout_seconds": 601}, "timeout_seconds", "601 is greater than the maximum of 600.0"),
    ({"name": "x", "idempotency_key": "k" * 257}, "idempotency_key", f"'{'k' * 257}' is too long"),
    ({"name": "x", "on_timeout": "wait"}, "on_timeout", "'wait' is not one of ['cancel', 'defer']"),
]


@pytest.mark.parametrize(("arguments", "path", "message"), WRONG)
def test_a_fault_names_its_path_and_says_what_is_wrong(arguments: dict[str, Any], path: str, message: str) -> None:
    assert faults(NESTED, arguments) == [(path, message)]


def test_the_sentence_names_the_tool_and_every_fault() -> None:
    with pytest.raises(InvalidArguments) as caught:
        NESTED.check_arguments({"name": 7, "place": {}})
    assert caught.value.message == (
        "These arguments do not fit the tool t. name: 7 is not of type 'string'; place: 'zip' is a required property"
    )
    assert caught.value.code == 422


def test_a_fault_of_the_arguments_as_a_whole_has_a_name_too() -> None:
    with pytest.raises(InvalidArguments, match="arguments: 'name' is a required property"):
        NESTED.check_arguments({})


def test_only_so_many_faults_are_spelled_out() -> None:
    assert len(faults(NESTED, {"name": "x", "tags": list(range(50))})) == MAX_REPORTED


# --- splitting ---------------------------------------------------------------------------------------------


def test_the_workflow_never_sees_what_is_meant_for_the_stage() -> None:
    options, own = act().split(
        {"a": 1, "session_id": "s", "user_id": "u", "timeout_seconds": 5, "on_timeout": "defer", "idempotency_key": "k"}
    )
    assert options == StageOptions("s", "u", 5, "defer", "k")
    assert own == {"a": 1}


def test_what_is_left_out_has_its_default() -> None:
    assert act().split({})[0] == StageOptions(None, None, None, "cancel", None)


def test_a_tool_on_its_own_gets_everything() -> None:
    options, own = act(SessionUse.NEVER).split({"session_id": 7, "a": 1})
    assert options == StageOptions()
    assert own == {"session_id": 7, "a": 1}


@given(st.dictionaries(st.sampled_from([*NAMES, "a", "b", "_session_id"]), st.integers()))
def test_splitting_loses_and_invents_nothing(arguments: dict[str, Any]) -> None:
    options, own = act().split(arguments)
    ours = {name: getattr(options, name) for name in NAMES & arguments.keys()}
    assert {**own, **ours} == arguments
    assert not NAMES & own.keys()


# --- results -----------------------------------------------------------------------------------------------

NOTES = {
    "type": "object",
    "properties": {"notes": {"type": "array", "items": {"type": "string"}}},
    "required": ["notes"],
}


def test_a_result_that_follows_its_schema_has_no_fault() -> None:
    assert act(output=NOTES).fault_of({"notes": ["a"]}) is None


def test_a_tool_without_an_output_schema_may_give_anything() -> None:
    assert act().fault_of(None) is None
    assert act().fault_of({"a": object()}) is None


def test_a_structured_result_that_was_promised_and_is_missing_is_a_fault() -> None:
    fault = act(output=NOTES).fault_of(None)
    assert fault is not None
    assert "missing" in fault


def test_the_fault_of_a_result_says_where_and_what_kind_but_not_what_it_holds() -> None:
    fault = act(output=NOTES).fault_of({"notes": ["fine", {"secret": "swordfish"}]})
    assert fault == "notes[1]: type"


def test_a_result_still_follows_its_schema_when_the_traces_come_with_it() -> None:
    result = ToolResult(structured={"notes": []}, traces=[Trace(Direction.TO_AGENT, 0)])
    for closed in (True, False):
        tool = act(output={**NOTES, "additionalProperties": not closed})
        assert tool.takes_traces is not closed
        assert tool.fault_of(wire.structured(result, with_traces=tool.takes_traces)) is None

"""The bill: every tool that is offered, with its checked schemas. Pure, and the same for MCP and for REST.

The workflow's tools come first, then the house's own. Tools that belong to a session get the arguments that
say which session, how long to wait and what to do then; the workflow never sees those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self, TypeVar

import attrs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from greenroom.config.errors import InvalidArguments
from greenroom.transport.certainty import Check, certainly
from greenroom.workflow.values import SessionUse, Tool

MAX_REPORTED = 10
"""Faults of one call that are spelled out; more would only bury the first."""


@attrs.frozen
class StageOptions:
    """The arguments of a call that are meant for the stage, not for the workflow."""

    session_id: str | None = None
    user_id: str | None = None
    timeout_seconds: float | None = None
    on_timeout: str = "cancel"
    idempotency_key: str | None = None


OPTION_NAMES = frozenset(field.name for field in attrs.fields(StageOptions))


def option_schemas(max_timeout: float) -> dict[str, Any]:
    return {
        "session_id": {
            "type": "string",
            "description": "The session_id that the tool `initialize` returned.",
            "x-mcp-header": "Session",
        },
        "user_id": {"type": "string", "description": "Whose session it is, if `initialize` was given a user_id."},
        "timeout_seconds": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": max_timeout,
            "description": "How long to wait for the result.",
        },
        "on_timeout": {
            "enum": ["cancel", "defer"],
            "default": "cancel",
            "description": "What happens then: the turn is stopped, or it goes on and `get_turn` fetches its result.",
        },
        "idempotency_key": {
            "type": "string",
            "minLength": 1,
            "maxLength": 256,
            "description": "Any text of yours. A call that is repeated with the same key in the same session "
            "gets the same turn: it is never run a second time.",
        },
    }


@attrs.frozen
class Act:
    """A tool on the bill."""

    tool: Tool
    input_schema: Mapping[str, Any]
    _arguments: Draft202012Validator
    _structured: Draft202012Validator | None
    surely_takes: Check = attrs.field(init=False, eq=False)
    """Whether arguments fit beyond doubt; if not, `check_arguments` knows."""
    _surely_fits: Check = attrs.field(init=False, eq=False)

    @surely_takes.default
    def _of_arguments(self) -> Check:
        return certainly(self.input_schema)

    @_surely_fits.default
    def _of_result(self) -> Check:
        return certainly(self.tool.output_schema)

    @classmethod
    def of(cls, tool: Tool, options: Mapping[str, Any]) -> Self:
        schema = _with_options(tool, options)
        for each in (schema, tool.output_schema or {}):
            Draft202012Validator.check_schema(each)
        return cls(
            tool,
            schema,
            Draft202012Validator(schema),
            Draft202012Validator(tool.output_schema) if tool.output_schema is not None else None,
        )

    def check_arguments(self, arguments: Mapping[str, Any]) -> None:
        if self.surely_takes(arguments) or self._arguments.is_valid(arguments):
            return
        faults = sorted(self._arguments.iter_errors(arguments), key=lambda fault: fault.json_path)[:MAX_REPORTED]
        listed = [{"path": _path(fault), "message": fault.message} for fault in faults]
        sentence = "; ".join(f"{each['path'] or 'arguments'}: {each['message']}" for each in listed)
        raise InvalidArguments(f"These arguments do not fit the tool {self.tool.name}. {sentence}", errors=listed)

    def surely_gives(self, structured: Mapping[str, Any] | None) -> bool:
        """Whether a structured result is right beyond doubt; if not, `fault_of` knows."""
        return self._structured is None or (structured is not None and self._surely_fits(structured))

    def fault_of(self, structured: Mapping[str, Any] | None) -> str | None:
        """What is wrong with a structured result, if it has to follow a schema and does not."""
        if self._structured is None or self.surely_gives(structured):
            return None
        if structured is None:
            return "the structured result is missing"
        for fault in self._structured.iter_errors(structured):
            return f"{_path(fault)}: {fault.validator}"
        return None

    @property
    def takes_traces(self) -> bool:
        """Whether the traces may come with the structured result without breaking its schema."""
        schema = self.tool.output_schema or {}
        return "traces" in schema.get("properties", {}) or schema.get("additionalProperties", True) is not False

    def split(self, arguments: Mapping[str, Any]) -> tuple[StageOptions, dict[str, Any]]:
        """The stage's share of the arguments, and the workflow's."""
        if self.tool.session_use is SessionUse.NEVER:
            return StageOptions(), dict(arguments)
        ours = {name: value for name, value in arguments.items() if name in OPTION_NAMES}
        return StageOptions(**ours), {name: value for name, value in arguments.items() if name not in ours}


A = TypeVar("A", bound=Act)


def make_bill(
    kind: type[A], workflow_tools: Iterable[Tool], house_tools: Iterable[Tool], max_timeout: float
) -> dict[str, A]:
    options = option_schemas(max_timeout)
    bill = {tool.name: kind.of(tool, options) for tool in workflow_tools}
    for tool in house_tools:
        if tool.name in bill:
            raise ValueError(f"the workflow may not have a tool named {tool.name!r}: that is the server's own")
        bill[tool.name] = kind.of(tool, {})
    return bill


def _with_options(tool: Tool, options: Mapping[str, Any]) -> dict[str, Any]:
    schema = dict(tool.input_schema)
    if tool.session_use is SessionUse.NEVER or not options:
        return schema
    own = schema.get("properties", {})
    if taken := sorted(own.keys() & options.keys()):
        raise ValueError(f"the tool {tool.name!r} may not have an argument named {taken[0]!r}: that is the server's")
    return {**schema, "properties": {**own, **options}}


def _path(fault: ValidationError) -> str:
    return fault.json_path.removeprefix("$").removeprefix(".")

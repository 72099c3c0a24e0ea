"""From what a command returned to a plain value that can be stored, sent and compared.

FastWorkflow 2 returns a list of responses, FastWorkflow 3 a single one; the classes may be the stand-in's or the
real package's. What counts is what they have.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import attrs

from greenroom.workflow.engine.errors import WrongAnswer
from greenroom.workflow.engine.plain import jsonable


@attrs.frozen
class Response:
    response: str
    success: bool = True
    artifacts: Mapping[str, Any] = attrs.field(factory=dict)
    next_actions: tuple[Any, ...] = ()
    recommendations: tuple[Any, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "response": self.response,
            "success": self.success,
            "artifacts": dict(self.artifacts),
            "next_actions": list(self.next_actions),
            "recommendations": list(self.recommendations),
        }


@attrs.frozen
class CommandResult:
    command_name: str
    """Qualified."""
    parameters: Mapping[str, Any]
    """As the command got them: coerced, looked up, validated, defaults filled in."""
    responses: tuple[Response, ...]
    workflow_name: str
    context: str
    """Where the session is after the command, as it is displayed."""
    started_at: int
    """In milliseconds since 1970."""
    duration_ms: int

    @property
    def success(self) -> bool:
        return all(response.success for response in self.responses)

    @property
    def text(self) -> str:
        return "\n".join(response.response for response in self.responses)

    def as_json(self) -> dict[str, Any]:
        """In the shape of FastWorkflow's `CommandOutput`."""
        return {
            "success": self.success,
            "workflow_name": self.workflow_name,
            "context": self.context,
            "command_name": self.command_name,
            "command_parameters": dict(self.parameters),
            "command_responses": [response.as_json() for response in self.responses],
            "started_at": self.started_at,
            "duration_ms": self.duration_ms,
        }


def responses_of(command: str, output: Any) -> tuple[Response, ...]:
    """Raises `WrongAnswer` if it is no `CommandOutput`, of either kind."""
    if inspect.iscoroutine(output):
        output.close()  # or Python complains, at some later time, that nobody awaited it
        raise WrongAnswer(command, "a coroutine that nobody awaited")
    found = getattr(output, "command_responses", None)
    if found is None and (single := getattr(output, "command_response", None)) is not None:
        found = [single]
    if not isinstance(found, list | tuple) or not all(hasattr(one, "response") for one in found):
        raise WrongAnswer(command, f"a value of type {type(output).__name__}")
    return tuple(_response_of(one) for one in found)


def _response_of(response: Any) -> Response:
    artifacts = jsonable(getattr(response, "artifacts", None) or {})
    return Response(
        response=str(response.response),
        success=bool(getattr(response, "success", True)),
        artifacts=artifacts if isinstance(artifacts, dict) else {"artifacts": artifacts},
        next_actions=tuple(jsonable(action) for action in getattr(response, "next_actions", None) or ()),
        recommendations=tuple(jsonable(one) for one in getattr(response, "recommendations", None) or ()),
    )

"""The values that command files construct by name, as FastWorkflow 2 and 3 have them.

They are pydantic models because command files subclass them, dump them and rely on their validation.
"""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field, model_validator


class Action(BaseModel):
    command_name: str
    command: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    workflow_id: int | None = None


class Recommendation(BaseModel):
    summary: str
    suggested_actions: list[Action] = Field(default_factory=list)


class CommandResponse(BaseModel):
    response: str
    success: bool = True
    artifacts: dict[str, Any] = Field(default_factory=dict)
    next_actions: list[Action] = Field(default_factory=list)
    recommendations: list[Recommendation] = Field(default_factory=list)


class CommandOutput(BaseModel):
    """FastWorkflow 2 takes and shows a list, `command_responses`; FastWorkflow 3 one `command_response`. Both work."""

    command_responses: list[CommandResponse]
    workflow_name: str = ""
    context: str = ""
    command_name: str = ""
    command_parameters: Any = None
    started_at: datetime | None = None
    duration_ms: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_response_is_a_list_of_one(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "command_response" not in data:
            return data
        rest = {key: value for key, value in data.items() if key != "command_response"}
        return {"command_responses": [data["command_response"]], **rest}

    @property
    def command_response(self) -> CommandResponse:
        return self.command_responses[0]

    @property
    def success(self) -> bool:
        return all(response.success for response in self.command_responses)


class TurnStatus(enum.StrEnum):
    COMPLETED = "completed"
    AWAITING_USER = "awaiting_user"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"


class CommandTraceEventDirection(enum.StrEnum):
    AGENT_TO_WORKFLOW = "agent_to_workflow"
    WORKFLOW_TO_AGENT = "workflow_to_agent"


class UnsupportedStateVersion(Exception):
    """A `from_state` hook was given a version that it cannot read."""

    def __init__(self, state_version: int, message: str | None = None) -> None:
        super().__init__(message or f"cannot migrate state written at version {state_version}")
        self.state_version = state_version


class _Ephemeral:
    """What a state hook returns for a state that is not worth keeping."""

    def __repr__(self) -> str:
        return "fastworkflow.EPHEMERAL"

    def __bool__(self) -> bool:
        return False


EPHEMERAL = _Ephemeral()


class InputForParamExtraction(BaseModel):
    """Named by some command files; it extracts nothing here."""

    command: str = ""


def generate_diverse_utterances(seed_utterances: list[str], command_name: str, *_: Any, **__: Any) -> list[str]:
    """FastWorkflow asks a model for paraphrases to train on. Nothing is trained here, so the seeds are all."""
    return list(seed_utterances)

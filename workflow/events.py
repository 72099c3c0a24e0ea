"""What a turn reports while it runs, and what it may announce to everybody.

Turn events are advice: they fan out over bounded channels and the oldest may be lost on a slow reader, who is
told how many. The result of a turn never travels this way.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import attrs


class Direction(enum.Enum):
    TO_WORKFLOW = "agent_to_workflow"
    TO_AGENT = "workflow_to_agent"


@attrs.frozen
class Trace:
    """One step of a turn, as FastWorkflow's trace events have it. `timestamp` is in milliseconds."""

    direction: Direction
    timestamp: int
    raw_command: str | None = None
    command_name: str | None = None
    parameters: Mapping[str, Any] | None = None
    response_text: str | None = None
    success: bool | None = None


@attrs.frozen
class Progress:
    """How far the turn has come. `progress` must grow from one to the next."""

    progress: float
    total: float | None = None
    message: str | None = None


class Level(enum.Enum):
    """Syslog's severities, mildest first."""

    DEBUG = "debug"
    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"
    ALERT = "alert"
    EMERGENCY = "emergency"


@attrs.frozen
class Note:
    """A log line meant for the client."""

    level: Level
    data: Any
    logger: str | None = None


@attrs.frozen
class ConnectionReleased:
    """The turn will be long: a client that can resume its stream may let go of the connection and come back."""


@attrs.frozen
class EventsDropped:
    """The reader was too slow; so many of the oldest events are gone."""

    count: int


TurnEvent = Trace | Progress | Note | ConnectionReleased | EventsDropped


@attrs.frozen
class ToolsChanged:
    pass


@attrs.frozen
class PromptsChanged:
    pass


@attrs.frozen
class ResourcesChanged:
    pass


@attrs.frozen
class ResourceUpdated:
    uri: str


Change = ToolsChanged | PromptsChanged | ResourcesChanged | ResourceUpdated
"""Something that clients may have cached is different now."""

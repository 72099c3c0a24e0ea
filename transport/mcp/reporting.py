"""A turn's events, as the notifications that this client asked for.

A trace is one readable line of progress (when a progress token came) and a log message with the whole event as
its data (when the client asked for logging). The newer era asks per request, the older one with
`logging/setLevel`.
"""

from __future__ import annotations

import textwrap
from typing import Any

from mcp.server import ServerRequestContext
from mcp.types import LOG_LEVEL_META_KEY

from greenroom.transport import sse
from greenroom.transport.mcp import wire
from greenroom.transport.mcp.exchange import Exchange
from greenroom.workflow.events import (
    ConnectionReleased,
    Direction,
    EventsDropped,
    Level,
    Note,
    Progress,
    Trace,
    TurnEvent,
)

MAX_LINE = 200
"""Characters of a line of progress; the whole event is in the log message."""

_SEVERITY = {level: rank for rank, level in enumerate(Level)}


class Reporter:
    def __init__(self, context: ServerRequestContext[Any, Any], exchange: Exchange) -> None:
        self._exchange = exchange
        self._asked = _asked_level(context, exchange)
        connection = exchange.connection
        # The older era lets a server log before it is told a level; a workflow's own notes go out from "info".
        self._notes_from = self._asked or (Level.INFO if connection is not None else None)

    async def report(self, event: TurnEvent) -> None:
        match event:
            case Progress(progress, total, message):
                await self._exchange.progress(progress, total, message)
            case Trace():
                await self._exchange.step(readable(event))
                await self._log(Level.INFO, wire.trace_data(event), "greenroom.trace", self._asked)
            case Note(level, data, logger):
                await self._log(level, data, logger, self._notes_from)
            case EventsDropped(count):
                await self._log(Level.WARNING, {"dropped_events": count}, "greenroom", self._notes_from)
            case ConnectionReleased():
                if self._exchange.release is not None:
                    self._exchange.release()

    async def _log(self, level: Level, data: Any, logger: str | None, wanted: Level | None) -> None:
        if wanted is None or _SEVERITY[level] < _SEVERITY[wanted]:
            return
        params: dict[str, Any] = {"level": level.value, "data": _as_json(data)}
        if logger is not None:
            params["logger"] = logger
        await self._exchange.notify("notifications/message", params)


def _asked_level(context: ServerRequestContext[Any, Any], exchange: Exchange) -> Level | None:
    if exchange.connection is not None:
        return exchange.connection.log_level
    wanted = (context.meta or {}).get(LOG_LEVEL_META_KEY)
    return next((level for level in Level if level.value == wanted), None)


def readable(trace: Trace) -> str:
    """One line that tells a person what is going on."""
    if trace.direction is Direction.TO_WORKFLOW:
        return _line(trace.raw_command or trace.command_name or "a command")
    mark = "failed" if trace.success is False else "done"
    told = f": {trace.response_text}" if trace.response_text else ""
    return _line(f"{trace.command_name or 'command'} {mark}{told}")


def _as_json(data: Any) -> Any:
    """What a workflow reports is advice: if it is not JSON, its text will do."""
    try:
        sse.compact(data)
    except (TypeError, ValueError):
        return str(data)
    return data


def _line(text: str) -> str:
    return textwrap.shorten(text, MAX_LINE, placeholder=" ...")

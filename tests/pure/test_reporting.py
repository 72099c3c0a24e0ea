"""A turn's events as notifications: which client hears what, in both eras."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mcp.types import LOG_LEVEL_META_KEY

from greenroom.transport import sse
from greenroom.transport.mcp.exchange import Exchange
from greenroom.transport.mcp.reporting import Reporter, readable
from greenroom.transport.mcp.wire import trace_data
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

ASKED = Trace(Direction.TO_WORKFLOW, 1700000000000, "add 2 and 3", "add", {"a": 2, "b": 3})
ANSWERED = Trace(Direction.TO_AGENT, 1700000000001, None, "add", None, "5", True)


class Listener:
    """A client, with what it asked for and what it heard."""

    def __init__(self, *, legacy: bool, level: Level | str | None = None, token: str | None = None) -> None:
        self.heard: list[tuple[str, Any]] = []
        self.released = 0
        connection: Any = SimpleNamespace(log_level=level, registered=True) if legacy else None
        meta = {} if legacy or level is None else {LOG_LEVEL_META_KEY: getattr(level, "value", level)}
        params = {"_meta": {"progressToken": token}} if token is not None else None
        exchange = Exchange(1, params, self._write, connection, release=self._release if legacy else None)
        context: Any = SimpleNamespace(meta=meta)
        self._reporter = Reporter(context, exchange)

    async def _write(self, message: dict[str, Any]) -> None:
        sse.compact(message)
        self.heard.append((message["method"], message["params"]))

    def _release(self) -> None:
        self.released += 1

    async def hear(self, *events: TurnEvent) -> list[tuple[str, Any]]:
        for event in events:
            await self._reporter.report(event)
        return self.heard

    @property
    def levels(self) -> list[str]:
        return [params["level"] for method, params in self.heard if method == "notifications/message"]


NOTES = [Note(level, level.value) for level in Level]


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("level", Level)
async def test_a_client_that_asked_for_a_level_hears_notes_from_there_up(legacy: bool, level: Level) -> None:
    listener = Listener(legacy=legacy, level=level)
    await listener.hear(*NOTES)
    ranked = [each.value for each in Level]
    assert listener.levels == ranked[ranked.index(level.value) :]


def test_the_levels_stand_in_the_order_of_syslog() -> None:
    assert [level.value for level in Level] == [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ]


async def test_an_older_client_that_never_set_a_level_hears_notes_from_info_and_no_traces() -> None:
    listener = Listener(legacy=True)
    await listener.hear(*NOTES, ASKED, ANSWERED)
    assert listener.levels == [level.value for level in Level if level is not Level.DEBUG]


async def test_a_newer_client_that_did_not_ask_hears_nothing() -> None:
    listener = Listener(legacy=False)
    assert await listener.hear(*NOTES, ASKED, EventsDropped(3), Progress(1)) == []


@pytest.mark.parametrize("level", ["loud", "INFO", "", 7])
async def test_a_level_that_does_not_exist_counts_as_not_asked(level: Any) -> None:
    assert await Listener(legacy=False, level=level).hear(*NOTES) == []


async def test_a_note_carries_its_logger_if_it_has_one() -> None:
    listener = Listener(legacy=True)
    assert await listener.hear(Note(Level.INFO, {"a": 1}, "mine"), Note(Level.ERROR, "b")) == [
        ("notifications/message", {"level": "info", "data": {"a": 1}, "logger": "mine"}),
        ("notifications/message", {"level": "error", "data": "b"}),
    ]


@pytest.mark.parametrize("legacy", [True, False])
async def test_a_trace_is_a_line_of_progress_and_a_log_message_with_the_whole_event(legacy: bool) -> None:
    listener = Listener(legacy=legacy, level=Level.INFO, token="tok")
    assert await listener.hear(ASKED, ANSWERED) == [
        ("notifications/progress", {"progressToken": "tok", "progress": 1, "message": "add 2 and 3"}),
        ("notifications/message", {"level": "info", "data": trace_data(ASKED), "logger": "greenroom.trace"}),
        ("notifications/progress", {"progressToken": "tok", "progress": 2, "message": "add done: 5"}),
        ("notifications/message", {"level": "info", "data": trace_data(ANSWERED), "logger": "greenroom.trace"}),
    ]


async def test_a_trace_is_not_logged_to_a_client_that_wants_warnings_only() -> None:
    listener = Listener(legacy=True, level=Level.WARNING, token="tok")
    await listener.hear(ASKED)
    assert [method for method, _ in listener.heard] == ["notifications/progress"]


async def test_progress_goes_to_whoever_gave_a_token() -> None:
    listener = Listener(legacy=False, token="tok")
    assert await listener.hear(Progress(1, 3, "first")) == [
        ("notifications/progress", {"progressToken": "tok", "progress": 1, "total": 3, "message": "first"})
    ]


async def test_whoever_hears_notes_is_told_how_many_events_were_dropped() -> None:
    listener = Listener(legacy=True)
    assert await listener.hear(EventsDropped(44)) == [
        ("notifications/message", {"level": "warning", "data": {"dropped_events": 44}, "logger": "greenroom"})
    ]


async def test_a_connection_is_released_where_the_client_can_come_back() -> None:
    older, newer = Listener(legacy=True), Listener(legacy=False)
    assert await older.hear(ConnectionReleased()) == []
    assert await newer.hear(ConnectionReleased()) == []
    assert (older.released, newer.released) == (1, 0)


READABLE = [
    (ASKED, "add 2 and 3"),
    (Trace(Direction.TO_WORKFLOW, 0, None, "add"), "add"),
    (Trace(Direction.TO_WORKFLOW, 0), "a command"),
    (ANSWERED, "add done: 5"),
    (Trace(Direction.TO_AGENT, 0, None, "add", None, "no", False), "add failed: no"),
    (Trace(Direction.TO_AGENT, 0, None, "add"), "add done"),
    (Trace(Direction.TO_AGENT, 0), "command done"),
]


@pytest.mark.parametrize(("trace", "line"), READABLE)
def test_a_trace_reads_as_one_line(trace: Trace, line: str) -> None:
    assert readable(trace) == line


def test_the_line_keeps_what_the_command_answered() -> None:
    assert readable(Trace(Direction.TO_AGENT, 0, None, "add", None, "Choose one:")) == "add done: Choose one:"


def test_the_data_of_a_trace_is_the_whole_event() -> None:
    assert trace_data(ASKED) == {
        "direction": "agent_to_workflow",
        "timestamp": 1700000000000,
        "raw_command": "add 2 and 3",
        "command_name": "add",
        "parameters": {"a": 2, "b": 3},
        "response_text": None,
        "success": None,
    }


@pytest.mark.parametrize("data", [float("nan"), {1, 2}, b"bytes", object()], ids=["nan", "set", "bytes", "object"])
async def test_a_note_that_is_not_json_does_not_fail_the_turn(data: Any) -> None:
    await Listener(legacy=True).hear(Note(Level.INFO, data))

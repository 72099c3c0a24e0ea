"""The short way and the general way, side by side: nobody can tell from an answer which of them it came."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from datetime import date
from typing import Any

import trio
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from greenroom.config.errors import GreenroomError
from greenroom.transport import sse
from greenroom.transport.app import GreenroomApp
from greenroom.workflow.events import Direction, Level, Note, Progress, Trace
from greenroom.workflow.port import Turn
from greenroom.workflow.questions import Ability, Elicit
from greenroom.workflow.values import Image, SessionUse, Text, ToolResult
from tests.lean.requests import VERSIONS, Known, requests
from tests.lean.specimens import specimens
from tests.lean.stage import Answer, Request, Shortcuts, say, send_raw, serving
from tests.transport.playhouse import ACCEPT, Play, Script, initialize_request, modern_request

EXAMPLES = int(os.environ.get("TESTS_EXAMPLES", "20"))

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without shrinking: every example is a house of its own, and the failure names its request anyway."""

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": 30},
        "count": {"type": "integer", "minimum": 0, "exclusiveMaximum": 4},
        "ratio": {"type": "number", "maximum": 0.9},
        "mood": {"enum": ["calm", "stormy"]},
        "list": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
    },
    "additionalProperties": False,
}
OUTPUT = {"type": "object", "properties": {"given": {"type": "object"}}, "required": ["given"]}
TRACE = Trace(Direction.TO_WORKFLOW, 7, raw_command="sing", parameters={"loud": True})


class Mood(enum.Enum):
    CALM = "calm"


class Refused(GreenroomError):
    code, name = 422, "refused"


ODD: tuple[Any, ...] = (
    {"a": float("nan")},
    {"a": float("-inf"), "b": None},
    {"a": 1e-7, "b": 1e16, "c": 123456789.125, "d": 0.00012},
    {"a": 10**30},
    {"a": (1, 2), "b": [(), {}]},
    {"a": {2: "two", None: "none", True: "true", 1.5: "x"}},
    {"a": Mood.CALM, "b": date(2026, 1, 2)},
    {"a": b"bytes"},
    {"a": {"b"}},
    {"é": "\u2028", "b": "\ud800"},
    {"a": '\x00\x1f\x7f"\\/\b\f\n\r\t'},
    {7: "seven"},
    {"resultType": "input_required", "_meta": {}},
    {"traces": "mine"},
    {"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},
)


async def plain(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
    return ToolResult([Text("hello")], {"given": dict(arguments)}, traces=[TRACE])


async def echo(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
    return ToolResult([Text(str(arguments.get("text", "")))], is_error=arguments.get("count") == 1)


async def odd(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
    return ToolResult([Text("odd")], ODD[len(str(arguments)) % len(ODD)], traces=[TRACE])


async def steps(arguments: Mapping[str, Any], turn: Turn) -> str:
    turn.report(Progress(1, 2, "one"))
    await trio.lowlevel.checkpoint()
    turn.report(TRACE)
    return "done"


async def notes(arguments: Mapping[str, Any], turn: Turn) -> str:
    turn.report(Note(Level.WARNING, {"é": 1}, "test"))
    return "noted"


async def asks(arguments: Mapping[str, Any], turn: Turn) -> str:
    if Ability.ELICIT not in turn.caller.abilities:
        return f"cannot ask {turn.caller.user_id}"
    await turn.ask({"name": Elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})})
    return "asked"


async def fails(arguments: Mapping[str, Any], turn: Turn) -> str:
    raise LookupError("a secret")


async def refuses(arguments: Mapping[str, Any], turn: Turn) -> str:
    raise Refused("Not today.", why="é")


async def slow(arguments: Mapping[str, Any], turn: Turn) -> str:
    await trio.sleep(0.2 if arguments.get("count") != 2 else 2)
    return "at last"


async def wrong(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
    return ToolResult([Text("wrong")], {"given": 7} if arguments.get("count") else None)


async def pictures(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
    return ToolResult([Text("look"), Image(b"\x00\x01", "image/png")])


def workflow() -> Script:
    plays: dict[str, Play] = {
        "echo": echo, "plain": plain, "odd": odd, "steps": steps, "notes": notes, "asks": asks, "fails": fails,
        "refuses": refuses, "slow": slow, "wrong": wrong, "pictures": pictures, "never": echo,
    }  # fmt: skip
    return Script(
        plays,
        uses={"plain": SessionUse.REQUIRED, "never": SessionUse.NEVER},
        schemas=dict.fromkeys(("echo", "plain", "slow"), SCHEMA),
        outputs={"plain": OUTPUT, "wrong": OUTPUT},
    )


def plain_headers(*more: tuple[str, str]) -> list[tuple[str, str]]:
    return [("host", "127.0.0.1"), *ACCEPT.items(), *more]


def posted(headers: list[tuple[str, str]], body: Any) -> Request:
    return Request(headers, sse.compact(body))


async def connected(app: GreenroomApp, version: str) -> str:
    body = initialize_request(version, {"elicitation": {}})
    start, *_ = await send_raw(app, posted(plain_headers(), body))
    session = dict(start["headers"])[b"mcp-session-id"].decode()
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await send_raw(app, posted(plain_headers(("mcp-session-id", session)), told))
    return str(session)


async def bound(app: GreenroomApp, version: str) -> str:
    session = await connected(app, version)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "initialize", "arguments": {}}}
    await send_raw(app, posted(plain_headers(("mcp-session-id", session)), call))
    return session


async def introduced(app: GreenroomApp) -> Known:
    headers, body = modern_request("tools/call", {"name": "initialize", "arguments": {}})
    await send_raw(app, posted([("host", "127.0.0.1"), *headers.items()], body))
    [handle] = [actor.handle for actor, _ in app.supervisor.sessions()]
    return Known(
        handle,
        {version: await connected(app, version) for version in VERSIONS},
        {version: await bound(app, version) for version in VERSIONS},
    )


async def conversation(sent: list[Request], *, lean_way: bool) -> tuple[list[Answer], Shortcuts]:
    """What is heard of a house that is sent all of these, one after the other."""
    async with serving(workflow(), input_timeout=1.0) as app:
        counts = Shortcuts.counted(app)
        known = await introduced(app)
        app.mcp.lean_way = lean_way
        with trio.fail_after(10_000):
            answers = [known.take_out_of(await say(app, known.put_into(each))) for each in sent]
        return answers, counts


def hear(sent: list[Request], *, lean_way: bool) -> tuple[list[Answer], Shortcuts]:
    async def run() -> tuple[list[Answer], Shortcuts]:
        return await conversation(sent, lean_way=lean_way)

    return trio.run(run, clock=MockClock(autojump_threshold=0))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(st.lists(requests(), min_size=8, max_size=40))
def test_both_ways_answer_alike_whatever_they_are_sent(sent: list[Request]) -> None:
    lean, counts = hear(sent, lean_way=True)
    general, none = hear(sent, lean_way=False)
    for each, one, other in zip(sent, lean, general, strict=True):
        assert one == other, each
    assert none == Shortcuts()
    event(f"answered the short way: {counts.answered}, handed over: {counts.handed_over}")


def test_both_ways_answer_alike_whatever_one_thing_is_odd_about_a_request() -> None:
    sent = list(specimens())
    lean, counts = hear(sent, lean_way=True)
    general, none = hear(sent, lean_way=False)
    for each, one, other in zip(sent, lean, general, strict=True):
        assert one == other, each
    assert none == Shortcuts()
    assert counts.answered > len(sent) / 10
    assert counts.handed_over > len(sent) / 20

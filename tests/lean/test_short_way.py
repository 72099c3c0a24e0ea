"""When the short way steps aside, and that nothing is lost or done twice when it does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.transport import sse
from greenroom.transport.app import GreenroomApp
from greenroom.transport.mcp.lean import MOMENT
from greenroom.workflow.events import Progress, ToolsChanged
from greenroom.workflow.port import Turn
from tests.lean.stage import Answer, Request, Shortcuts, send_raw, serving
from tests.lean.test_same_on_the_wire import bound, connected, plain_headers
from tests.transport.playhouse import LEGACY, Script, events, modern_request

SOON, LATER = MOMENT / 4, MOMENT * 4


class Play:
    """A tool that takes a while, reports on it if it is asked to, and knows what became of it."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended: list[str] = []

    async def __call__(self, arguments: Mapping[str, Any], turn: Turn) -> str:
        self.begun += 1
        try:
            if arguments.get("report"):
                turn.report(Progress(1, 2, "half"))
            await trio.sleep(arguments.get("seconds", 0))
            self.ended.append("done")
        except trio.Cancelled:
            self.ended.append("cancelled")
            raise
        return "played"


@asynccontextmanager
async def playing(play: Play) -> AsyncIterator[tuple[GreenroomApp, Shortcuts]]:
    async with serving(Script({"play": play})) as app:
        yield app, Shortcuts.counted(app)


def modern(arguments: Mapping[str, Any], **meta: Any) -> Request:
    headers, body = modern_request("tools/call", {"name": "play", "arguments": dict(arguments)}, **meta)
    return Request([("host", "127.0.0.1"), *headers.items()], sse.compact(body))


def legacy(session: str, arguments: Mapping[str, Any], request_id: Any = 1, **meta: Any) -> Request:
    params: dict[str, Any] = {"name": "play", "arguments": dict(arguments)}
    if meta:
        params["_meta"] = meta
    return posted(session, {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})


def posted(session: str, body: Any) -> Request:
    more = (("mcp-session-id", session), ("mcp-protocol-version", LEGACY))
    return Request(plain_headers(*more), sse.compact(body))


def cancelling(session: str, request_id: Any) -> Request:
    params = {"requestId": request_id}
    return posted(session, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})


async def test_a_plain_call_that_ends_soon_is_answered_the_short_way(autojump_clock: MockClock) -> None:
    play = Play()
    async with playing(play) as (app, counts):
        session = await connected(app, LEGACY)
        for request in (modern({}), modern({"seconds": SOON}), legacy(session, {}), legacy(session, {"seconds": SOON})):
            answer = Answer.of(await send_raw(app, request))
            assert answer.status == 200
            assert b'"text":"played"' in answer.body
        assert counts == Shortcuts(answered=4)
        assert play.begun == 4


async def test_a_call_that_takes_longer_is_handed_over_and_its_turn_is_not_begun_again(
    autojump_clock: MockClock,
) -> None:
    play = Play()
    async with playing(play) as (app, counts):
        session = await connected(app, LEGACY)
        for request in (modern({"seconds": LATER}), legacy(session, {"seconds": LATER})):
            assert b'"text":"played"' in Answer.of(await send_raw(app, request)).body
        assert counts == Shortcuts(handed_over=2)
        assert play.ended == ["done", "done"]


async def test_what_a_turn_reports_reaches_a_client_that_gave_a_token_before_the_result(
    autojump_clock: MockClock,
) -> None:
    play = Play()
    async with playing(play) as (app, counts):
        session = await connected(app, LEGACY)
        given = {"report": True}
        for request in (modern(given, progressToken="p"), legacy(session, given, progressToken="p")):
            told = events(Answer.of(await send_raw(app, request)).body.decode())
            assert [message.get("method", "answer") for message in told] == ["notifications/progress", "answer"]
            assert told[0]["params"] == {"progressToken": "p", "progress": 1, "total": 2, "message": "half"}
        assert counts == Shortcuts(handed_over=2)
        assert play.begun == 2


async def test_a_client_that_hears_of_no_steps_is_answered_the_short_way_all_the_same(
    autojump_clock: MockClock,
) -> None:
    play = Play()
    async with playing(play) as (app, counts):
        assert b"played" in Answer.of(await send_raw(app, modern({"report": True}))).body
        assert counts == Shortcuts(answered=1)


async def test_a_client_of_the_newer_era_that_hangs_up_stops_its_turn_when_the_moment_is_over(
    autojump_clock: MockClock,
) -> None:
    play = Play()
    async with playing(play) as (app, _):
        hung_up = trio.Event()
        hung_up.set()
        await send_raw(app, modern({"seconds": 60}), hung_up)
        await wait_all_tasks_blocked()
        assert play.ended == ["cancelled"]
        assert trio.current_time() < 2 * MOMENT
        assert all(actor.idle for actor, _ in app.supervisor.sessions())


async def test_a_client_of_the_older_era_that_hangs_up_does_not_stop_its_turn(autojump_clock: MockClock) -> None:
    play = Play()
    async with playing(play) as (app, _):
        session = await bound(app, LEGACY)
        hung_up = trio.Event()
        hung_up.set()
        await send_raw(app, legacy(session, {"seconds": 30}), hung_up)
        await trio.sleep(31)
        assert play.ended == ["done"]


@pytest.mark.parametrize("when", [SOON, LATER])
async def test_a_cancelled_request_is_answered_so_and_its_turn_stops_early_or_late(
    when: float, autojump_clock: MockClock
) -> None:
    play = Play()
    async with playing(play) as (app, _), trio.open_nursery() as nursery:
        session = await bound(app, LEGACY)
        heard: list[Answer] = []

        async def call() -> None:
            heard.append(Answer.of(await send_raw(app, legacy(session, {"seconds": 60}, "seven"))))

        nursery.start_soon(call)
        await trio.sleep(when)
        assert Answer.of(await send_raw(app, cancelling(session, "seven"))).status == 202
        await wait_all_tasks_blocked()
        assert heard[0].body == b'{"jsonrpc":"2.0","id":"seven","error":{"code":-32800,"message":"Request cancelled"}}'
        assert play.ended == ["cancelled"]


async def test_a_request_id_in_use_on_the_short_way_is_refused_to_another(autojump_clock: MockClock) -> None:
    play = Play()
    async with playing(play) as (app, _), trio.open_nursery() as nursery:
        session = await connected(app, LEGACY)
        nursery.start_soon(send_raw, app, legacy(session, {"seconds": SOON}, 7))
        await wait_all_tasks_blocked()
        refused = Answer.of(await send_raw(app, legacy(session, {}, 7)))
        assert refused.status == 400
        assert b"already in use" in refused.body
        await trio.sleep(1)
        assert Answer.of(await send_raw(app, legacy(session, {}, 7))).status == 200
        assert play.begun == 2


async def test_a_session_of_one_call_is_gone_after_it_on_either_way(autojump_clock: MockClock) -> None:
    async with playing(Play()) as (app, _):
        await send_raw(app, modern({}))
        await send_raw(app, modern({"seconds": LATER}))
        await wait_all_tasks_blocked()
        assert len(app.supervisor) == 0


async def test_a_turn_whose_tool_is_gone_before_it_is_handed_over_is_stopped(autojump_clock: MockClock) -> None:
    play = Play()
    script = Script({"play": play})
    async with serving(script) as app, trio.open_nursery() as nursery:
        heard: list[Answer] = []

        async def call() -> None:
            heard.append(Answer.of(await send_raw(app, modern({"seconds": 60}))))

        nursery.start_soon(call)
        await trio.sleep(SOON)
        del script.plays["play"]
        app.supervisor.announce(ToolsChanged())
        await trio.sleep(LATER)
        assert b"nknown tool" in heard[0].body or heard[0].status == 400
        assert play.ended == ["cancelled"]
        assert len(app.supervisor) == 0


async def test_while_the_house_is_draining_calls_are_refused_in_the_general_way(autojump_clock: MockClock) -> None:
    async with playing(Play()) as (app, counts):
        await app.drain(0)
        answer = Answer.of(await send_raw(app, modern({})))
        assert b'"isError":true' in answer.body
        assert counts == Shortcuts()


async def test_with_spans_of_the_kernel_wanted_every_call_goes_through_it(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", object)
    async with playing(Play()) as (app, counts):
        assert Answer.of(await send_raw(app, modern({}))).status == 200
        assert counts == Shortcuts()

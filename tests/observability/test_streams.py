"""Sessions while they are watched, on a real socket: what comes, in which order, and who is waited for (nobody)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import trio

from greenroom.actors import sights
from greenroom.persistence.journal import MemoryJournal, TurnRecord
from greenroom.transport import watching as streams
from greenroom.workflow.events import Direction, Level, Note, Progress, Trace
from greenroom.workflow.port import Turn
from tests.observability.looking import get, only_session, refused, until, watching
from tests.transport.playhouse import House, Script, Wire, eventually, open_house

STEP = Trace(Direction.TO_WORKFLOW, 1, raw_command="buy tea")


async def talk(arguments: Mapping[str, Any], turn: Turn) -> str:
    turn.report(STEP)
    turn.report(Progress(1, 2, "half"))
    turn.report(Note(Level.INFO, {"odd": {1, 2}.__class__}, "shop"))
    return "hi"


def watchers(house: House) -> int:
    return len(house.app.supervisor.lookout.gallery)


def is_watched(house: House) -> bool:
    return house.app.supervisor.lookout.gallery.anyone


async def test_a_session_is_watched_from_a_turns_beginning_to_its_end() -> None:
    async with open_house(Script({"talk": talk})) as house:
        handle = await house.open_session()
        session = await only_session(house)
        async with watching(house, f"/sessions/{session['id']}/events") as wire:
            await house.call("talk", {"session_id": handle, "tea": "green"})
            started, _, trace, progress, note, ended, phase = await _through_a_turn(wire)
        assert (started["kind"], started["name"], started["input"]) == ("tool", "talk", {"tea": "green"})
        assert trace["trace"]["raw_command"] == "buy tea"
        assert (progress["progress"], progress["total"], progress["message"]) == (1, 2, "half")
        assert (note["level"], note["data"]) == ("info", {"odd": "<class 'set'>"})
        assert (ended["status"], ended["text"], ended["error"]) == ("completed", "hi", None)
        assert ended["duration_ms"] >= 0
        assert phase["phase"] == "idle"
        turn_events = (started, trace, progress, note, ended)
        assert len({event["turn_id"] for event in turn_events}) == 1
        assert {event["session"] for event in (*turn_events, phase)} == {session["id"]}


async def _through_a_turn(wire: Wire) -> list[dict[str, Any]]:
    events = await until(wire, "turn_finished")
    events += await until(wire, "phase")
    assert [event["type"] for event in events] == [
        "turn_started",
        "phase",
        "trace",
        "progress",
        "note",
        "turn_finished",
        "phase",
    ]
    return events


async def test_a_trace_is_seen_while_its_turn_still_runs() -> None:
    go_on = trio.Event()

    async def wait(arguments: Mapping[str, Any], turn: Turn) -> str:
        turn.report(STEP)
        await go_on.wait()
        return "done"

    async with open_house(Script({"wait": wait})) as house, trio.open_nursery() as nursery:
        handle = await house.open_session()
        session = await only_session(house)
        async with watching(house, f"/sessions/{session['id']}/events") as wire:
            nursery.start_soon(house.call, "wait", {"session_id": handle})
            assert (await until(wire, "trace"))[-1]["trace"]["raw_command"] == "buy tea"
            go_on.set()
            assert (await until(wire, "turn_finished"))[-1]["status"] == "completed"


async def test_all_sessions_are_watched_without_what_was_said_in_them() -> None:
    async with open_house(Script({"talk": talk})) as house, watching(house, "/events") as wire:
        handle = await house.open_session(user_id="anna")
        await house.call("talk", {"session_id": handle, "tea": "green"})
        house.app.supervisor.close(house.app.supervisor.find(handle))
        events = await until(wire, "session_closed")
        kinds = [event["type"] for event in events]
        assert kinds == ["session_opened", "turn_started", "phase", "turn_finished", "phase", "phase", "session_closed"]
        opened, started, ended = events[0], events[1], events[3]
        assert (opened["user_id"], opened["walk_on"]) == ("anna", False)
        assert "input" not in started
        assert "text" not in ended
        assert "green" not in str(events)
        assert handle not in str(events)


async def test_a_call_without_a_session_is_a_walk_on() -> None:
    async with open_house(Script({"talk": talk})) as house, watching(house, "/events") as wire:
        await house.call("talk")
        events = await until(wire, "session_closed")
        assert events[0]["walk_on"] is True
        assert {event["session"] for event in events} == {events[0]["session"]}


async def test_a_stream_ends_with_its_session() -> None:
    async with open_house(Script({"talk": talk})) as house:
        handle = await house.open_session()
        session = await only_session(house)
        async with watching(house, f"/sessions/{session['id']}/events") as wire:
            house.app.supervisor.close(house.app.supervisor.find(handle))
            assert (await wire.message()) | {"at": 0} == {
                "type": "session_closed",
                "at": 0,
                "session": session["id"],
                "crashed": False,
            }
            assert await wire.frame() is None
        await eventually(lambda: watchers(house) == 0)


class BrokenJournal(MemoryJournal):
    def commit(self, record: TurnRecord) -> None:
        raise OSError("no disk")


async def test_a_session_that_crashes_says_so() -> None:
    async with open_house(Script({"talk": talk}), BrokenJournal()) as house:
        handle = await house.open_session()
        session = await only_session(house)
        async with watching(house, f"/sessions/{session['id']}/events") as wire:
            await house.call("talk", {"session_id": handle})
            assert (await until(wire, "session_closed"))[-1]["crashed"] is True
            assert await wire.frame() is None


async def test_a_watcher_that_leaves_is_forgotten() -> None:
    async with open_house(Script({"talk": talk})) as house:
        handle = await house.open_session()
        session = await only_session(house)
        async with watching(house, f"/sessions/{session['id']}/events"), watching(house, "/events"):
            assert (watchers(house), is_watched(house)) == (2, True)
        await eventually(lambda: watchers(house) == 0)
        assert not is_watched(house)
        await house.call("talk", {"session_id": handle})


async def test_a_watcher_that_stalls_holds_nothing_and_is_told_what_it_missed() -> None:
    count, size = 4000, 4000

    async def flood(arguments: Mapping[str, Any], turn: Turn) -> str:
        for number in range(count):
            turn.report(Trace(Direction.TO_WORKFLOW, number, raw_command="x" * size))
            await trio.lowlevel.checkpoint()
        return "done"

    async with open_house(Script({"flood": flood})) as house:
        handle = await house.open_session()
        session = await only_session(house)
        async with watching(house, f"/sessions/{session['id']}/events", receive_buffer=4096) as wire:
            # It reads nothing until the turn, sixteen megabytes of it, is over.
            with trio.fail_after(30):
                result = await house.call("flood", {"session_id": handle})
            assert result["content"][0]["text"] == "done"
            (watcher,) = house.app.supervisor.lookout.gallery._of_one[handle]
            assert len(watcher._buffer) <= sights.SIGHTS_KEPT
            events = await until(wire, "turn_finished")
        missed = sum(event["count"] for event in events if event["type"] == "missed")
        came = [event["trace"]["timestamp"] for event in events if event["type"] == "trace"]
        assert missed > 0
        assert came == sorted(came)
        assert came[-1] == count - 1
        assert events[-1]["status"] == "completed"
        known = sum(event["type"] in ("turn_started", "phase") for event in events)
        assert missed + len(came) + known == count + 2


async def test_a_quiet_stream_is_kept_alive(monkeypatch: Any) -> None:
    monkeypatch.setattr(streams, "KEEP_ALIVE_SECONDS", 0.01)
    async with open_house(Script({})) as house, watching(house, "/events") as wire:
        assert await wire.frame() == ": keep-alive"
        assert await wire.frame() == ": keep-alive"
        await house.open_session()
        while (frame := await wire.frame()) == ": keep-alive":
            pass
        assert frame is not None
        assert "session_opened" in frame


async def test_there_is_room_for_so_many_watchers_and_no_more(monkeypatch: Any) -> None:
    monkeypatch.setattr(sights, "MAX_WATCHERS", 1)
    async with open_house(Script({})) as house:
        async with watching(house, "/events"):
            assert refused(await get(house, "/events")) == (503, "overloaded")
        await eventually(lambda: watchers(house) == 0)
        async with watching(house, "/events"):
            pass


async def test_draining_ends_the_streams_and_opens_no_new_ones() -> None:
    async with open_house(Script({"talk": talk})) as house:
        await house.open_session()
        async with watching(house, "/events") as wire:
            await house.app.drain(0)
            assert [event["type"] for event in await until(wire, "session_closed")] == ["session_closed"]
            assert await wire.frame() is None
        assert refused(await get(house, "/events")) == (503, "draining")

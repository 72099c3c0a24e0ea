"""The log behind a resumable stream: bounded, honest about what it forgot, and the same live as resumed."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from greenroom.transport.mcp import streams
from greenroom.transport.mcp.streams import MAX_BYTES, MAX_MESSAGES, StreamLog


@attrs.frozen
class Frame:
    event_id: str | None
    data: bytes

    @property
    def missed(self) -> int | None:
        try:
            told: Any = json.loads(self.data)["params"]["data"]["dropped_events"]
        except (ValueError, KeyError, TypeError):
            return None
        assert isinstance(told, int)
        return told


def frames(log: StreamLog, cursor: int, *, with_ids: bool = True) -> list[Frame]:
    found = []
    for frame in log.after(cursor, with_ids=with_ids)[0]:
        lines = dict(line.split(b": ", 1) for line in frame.splitlines() if line)
        event_id = lines.get(b"id")
        found.append(Frame(event_id.decode() if event_id is not None else None, lines[b"data"]))
    return found


def filled(count: int, *, size: int = 1) -> StreamLog:
    log = StreamLog("s")
    for number in range(1, count + 1):
        log.append(str(number).encode().rjust(size, b"0"))
    return log


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_MESSAGES", 4)
    monkeypatch.setattr(streams, "MAX_BYTES", 100)


def test_messages_are_counted_from_one_and_carry_their_number() -> None:
    assert frames(filled(3), 0) == [Frame("s.1", b"1"), Frame("s.2", b"2"), Frame("s.3", b"3")]
    assert filled(3).after(0, with_ids=True)[1] == 3


def test_a_client_that_cannot_resume_gets_no_ids() -> None:
    assert frames(filled(2), 0, with_ids=False) == [Frame(None, b"1"), Frame(None, b"2")]


def test_behind_the_newest_message_there_is_nothing() -> None:
    assert filled(3).after(3, with_ids=True) == ([], 3)


def test_the_oldest_messages_are_forgotten_by_count_and_a_late_reader_is_told_how_many() -> None:
    log = filled(MAX_MESSAGES + 10)
    assert log.end == MAX_MESSAGES + 10
    first, second, *rest = frames(log, 3)
    assert first.missed == 7
    assert first.event_id is None
    assert second == Frame("s.11", b"11")
    assert len(rest) == MAX_MESSAGES - 1


def test_the_oldest_messages_are_forgotten_by_size_too() -> None:
    log = filled(5, size=MAX_BYTES // 4)
    first, *rest = frames(log, 0)
    assert first.missed == 1
    assert [frame.event_id for frame in rest] == ["s.2", "s.3", "s.4", "s.5"]


def test_one_message_larger_than_the_limit_is_kept_alone() -> None:
    log = filled(3)
    log.append(b"x" * (MAX_BYTES + 1), final=True)
    first, last = frames(log, 0)
    assert first.missed == 3
    assert last.event_id == "s.4"
    assert len(last.data) == MAX_BYTES + 1


def test_a_reader_who_missed_nothing_is_told_nothing() -> None:
    log = filled(MAX_MESSAGES + 10)
    assert [frame.event_id for frame in frames(log, 10)][:1] == ["s.11"]


@pytest.mark.usefixtures("small")
def test_the_answer_is_kept_however_much_was_said_before() -> None:
    log = filled(50, size=40)
    log.append(b"answer", final=True)
    assert frames(log, 50) == [Frame("s.51", b"answer")]
    assert frames(log, 0)[-1] == Frame("s.51", b"answer")


def test_nothing_comes_after_the_answer() -> None:
    log = filled(1)
    log.append(b"answer", final=True)
    log.append(b"afterthought")
    log.append(b"another answer", final=True)
    assert log.done
    assert log.end == 2


def test_an_answer_that_is_all_that_was_said_may_travel_as_plain_json() -> None:
    log = StreamLog("s")
    assert log.only_message() is None
    log.append(b"answer", final=True)
    assert log.only_message() == b"answer"


def test_an_answer_after_something_else_may_not() -> None:
    log = filled(1)
    assert log.only_message() is None
    log.append(b"answer", final=True)
    assert log.only_message() is None


@pytest.mark.usefixtures("small")
def test_an_answer_that_is_all_that_is_left_may_not_either() -> None:
    log = filled(1)
    log.append(b"x" * 200, final=True)
    assert len(frames(log, 1)) == 1
    assert log.only_message() is None


def test_a_stream_can_end_without_a_last_word() -> None:
    log = StreamLog("s")
    log.finish()
    assert log.done
    assert log.only_message() is None
    assert log.after(0, with_ids=True) == ([], 0)


async def test_readers_are_woken_by_a_message_a_release_and_the_end(nursery: trio.Nursery) -> None:
    log = StreamLog("s")
    woken: list[str] = []

    async def read(name: str, cursor: int, released: int) -> None:
        await log.wait_beyond(cursor, released)
        woken.append(name)

    nursery.start_soon(read, "first", 0, 0)
    nursery.start_soon(read, "first too", 0, 0)
    nursery.start_soon(read, "second", 1, 0)
    await wait_all_tasks_blocked()
    log.append(b"1")
    await wait_all_tasks_blocked()
    assert sorted(woken) == ["first", "first too"]
    log.release()
    await wait_all_tasks_blocked()
    assert woken[2:] == ["second"]
    nursery.start_soon(read, "third", 1, 1)
    await wait_all_tasks_blocked()
    assert woken[3:] == []
    log.finish()
    await wait_all_tasks_blocked()
    assert woken[3:] == ["third"]


async def test_a_release_is_for_those_who_read_now_and_not_for_those_who_come_back() -> None:
    log = StreamLog("s")
    before = log.released
    log.release()
    assert log.released == before + 1
    with trio.move_on_after(0) as waiting:
        await log.wait_beyond(0, log.released)
    assert waiting.cancelled_caught


SIZES = st.lists(st.integers(1, 60), max_size=25)


@given(SIZES, st.data())
def test_resuming_from_any_cursor_gives_the_tail_or_says_how_much_of_it_is_lost(
    sizes: list[int], data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "MAX_MESSAGES", 6)
        patch.setattr(streams, "MAX_BYTES", 150)
        log = StreamLog("s")
        said = [str(number).encode().rjust(size, b"0") for number, size in enumerate(sizes, 1)]
        for message in said:
            log.append(message)
        assert log.end == len(said)
        cursor = data.draw(st.integers(0, len(said)))
        found = frames(log, cursor)
        lost = found[0].missed or 0 if found else 0
        kept = found[1:] if lost else found
        expected = [Frame(f"s.{number}", message) for number, message in enumerate(said, 1)]
        assert kept == expected[cursor + lost :]
        assert log.after(cursor, with_ids=True)[1] == len(said)
        whole = [frame for frame in frames(log, 0) if frame.missed is None]
        assert len(whole) <= 6
        assert sum(len(frame.data) for frame in whole) <= 150
        assert not said or whole[-1] == expected[-1]


@given(SIZES, st.lists(st.booleans(), max_size=25))
def test_a_reader_who_follows_live_sees_what_one_who_keeps_resuming_sees(sizes: list[int], reads: list[bool]) -> None:
    log = StreamLog("s")
    live: list[bytes] = []
    cursor = 0
    for number, size in enumerate(sizes):
        log.append(str(number).encode().rjust(size, b"0"), final=number == len(sizes) - 1)
        if number < len(reads) and reads[number]:
            new, cursor = log.after(cursor, with_ids=True)
            live += new
    new, cursor = log.after(cursor, with_ids=True)
    assert [*live, *new] == log.after(0, with_ids=True)[0]
    assert log.done == bool(sizes)

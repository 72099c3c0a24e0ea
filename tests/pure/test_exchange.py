"""What is said while a request is being answered: notifications, and progress that only grows."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import NoBackChannelError

from greenroom.transport import sse
from greenroom.transport.mcp.exchange import Exchange


class Line:
    """Where an exchange writes to."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def write(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    @property
    def progress(self) -> list[dict[str, Any]]:
        return [each["params"] for each in self.messages if each["method"] == "notifications/progress"]


def exchange(line: Line, token: str | int | None = "tok") -> Exchange:
    return Exchange(1, {"_meta": {"progressToken": token}} if token is not None else {}, line.write)


async def test_progress_carries_the_clients_token_and_only_what_is_known() -> None:
    line = Line()
    talk = exchange(line, 7)
    await talk.progress(1)
    await talk.progress(2, 4, "half-way")
    assert line.progress == [
        {"progressToken": 7, "progress": 1},
        {"progressToken": 7, "progress": 2, "total": 4, "message": "half-way"},
    ]


async def test_without_a_token_there_is_no_progress() -> None:
    line = Line()
    await exchange(line, None).progress(1, 2, "x")
    await exchange(line, None).step("x")
    await Exchange(1, None, line.write).progress(1)
    assert line.messages == []


async def test_a_token_may_be_falsy() -> None:
    line = Line()
    await exchange(line, 0).progress(1)
    await exchange(line, "").progress(1)
    assert [each["progressToken"] for each in line.progress] == [0, ""]


async def test_a_turns_own_count_goes_on_from_the_steps_that_were_counted_for_it() -> None:
    line = Line()
    talk = exchange(line)
    await talk.step("a")
    for done in (1, 2):
        await talk.progress(done, 2)
    await talk.step("b")
    await talk.progress(1, 1)
    assert [(each["progress"], each.get("total"), each.get("message")) for each in line.progress] == [
        (1, None, "a"),
        (2, 3, None),
        (3, 3, None),
        (4, None, "b"),
        (5, 5, None),
    ]


FINITE = st.floats(-1e300, 1e300) | st.integers(-5, 5)


@given(st.lists(FINITE | st.none(), max_size=20))
def test_progress_strictly_increases_whatever_is_reported(reported: list[float | None]) -> None:
    line = Line()

    async def live() -> None:
        talk = exchange(line)
        for value in reported:
            await (talk.step("x") if value is None else talk.progress(value))

    trio.run(live)
    sent = [each["progress"] for each in line.progress]
    assert len(sent) == len(reported)
    assert all(before < after for before, after in itertools.pairwise(sent))


async def test_progress_that_stands_still_or_falls_is_nudged_a_little() -> None:
    line = Line()
    talk = exchange(line)
    for value in (5, 5, 3):
        await talk.progress(value)
    first, second, third = (each["progress"] for each in line.progress)
    assert first == 5
    assert 5 < second < third < 5.01


@pytest.mark.parametrize(("progress", "total"), [(math.inf, None), (1.0, math.nan), (1.0, math.inf)])
async def test_progress_that_is_no_number_never_reaches_the_wire(progress: float, total: float | None) -> None:
    line = Line()
    await exchange(line).progress(progress, total)
    for message in line.messages:
        sse.compact(message)


async def test_a_notification_goes_out_as_it_is() -> None:
    line = Line()
    await exchange(line).notify("notifications/message", {"level": "info", "data": 1})
    assert line.messages == [
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}
    ]


async def test_an_exchange_remembers_whether_anything_was_said_before_the_answer() -> None:
    silent, talkative = exchange(Line(), None), exchange(Line())
    await silent.progress(1)
    await talkative.progress(1)
    assert (silent.streamed, talkative.streamed) == (False, True)


async def test_a_client_without_a_connection_cannot_be_asked_in_mid_call() -> None:
    talk = exchange(Line())
    assert not talk.can_send_request
    assert not talk.transport.can_send_request
    with pytest.raises(NoBackChannelError):
        await talk.send_raw_request("elicitation/create", {})


async def test_the_kernel_finds_the_exchange_in_the_metadata_of_its_message() -> None:
    talk = exchange(Line())
    assert talk.message_metadata.request_context is talk

"""ASGI by hand: bodies with a limit, streams that stay alive, clients that leave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from greenroom.transport import sse
from greenroom.transport.http import (
    BODY_SECONDS,
    DRAIN_SECONDS,
    KEEP_ALIVE_SECONDS,
    BodyRefused,
    ClientGone,
    EventStream,
    attend,
    folded,
    read_body,
    respond,
)


class Client:
    """Sends these messages and is then silent, or says goodbye."""

    def __init__(self, messages: Iterable[Any] = (), *, leaves_after: float | None = None) -> None:
        self.messages = list(messages)
        self.leaves_after = leaves_after
        self.heard: list[Any] = []

    async def receive(self) -> Any:
        await trio.lowlevel.checkpoint()
        if self.messages:
            return self.messages.pop(0)
        await trio.sleep(float("inf") if self.leaves_after is None else self.leaves_after)
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await trio.lowlevel.checkpoint()
        self.heard.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(each["body"] for each in self.heard if each["type"] == "http.response.body")


def part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


# --- headers and bodies ------------------------------------------------------------------------------------


def test_headers_are_found_by_lower_case_name_and_repeated_ones_are_joined() -> None:
    assert folded([(b"Accept", b"a"), (b"HOST", b"h\xfc"), (b"accept", b"b")]) == {"accept": "a, b", "host": "hü"}


async def test_a_body_is_put_together_from_its_parts() -> None:
    client = Client([part(b"ab", more=True), part(b"", more=True), part(b"cd")])
    assert await read_body(client.receive, {}, 4) == b"abcd"


async def test_no_body_is_an_empty_one() -> None:
    assert await read_body(Client([{"type": "http.request"}]).receive, {}, 4) == b""


async def test_a_body_over_the_limit_is_refused_and_drained() -> None:
    client = Client([part(b"abc", more=True), part(b"de", more=True), part(b"f", more=True), part(b"g")])
    refused = await read_body(client.receive, {}, 4)
    assert isinstance(refused, BodyRefused)
    assert refused.status == 413
    assert client.messages == []


async def test_a_body_that_says_it_is_too_long_is_refused_and_drained_unread() -> None:
    client = Client([part(b"abc", more=True), part(b"de")])
    refused = await read_body(client.receive, {"content-length": "5"}, 4)
    assert isinstance(refused, BodyRefused)
    assert refused.status == 413
    assert client.messages == []


@pytest.mark.parametrize("length", ["", "4", "-1", "4, 4", "nonsense"])
async def test_a_length_that_is_fine_or_is_none_decides_nothing(length: str) -> None:
    assert await read_body(Client([part(b"abcd")]).receive, {"content-length": length}, 4) == b"abcd"


async def test_a_length_in_digits_that_are_no_number_decides_nothing() -> None:
    assert await read_body(Client([part(b"abcd")]).receive, {"content-length": "\xb2"}, 4) == b"abcd"


async def test_draining_a_refused_body_has_an_end(autojump_clock: MockClock) -> None:
    refused = await read_body(Client([part(b"abcde", more=True)]).receive, {}, 4)
    assert isinstance(refused, BodyRefused)
    assert trio.current_time() == DRAIN_SECONDS


async def test_a_body_that_does_not_arrive_is_not_waited_for_for_ever(autojump_clock: MockClock) -> None:
    refused = await read_body(Client([part(b"a", more=True)]).receive, {}, 4)
    assert isinstance(refused, BodyRefused)
    assert refused.status == 408
    assert trio.current_time() == BODY_SECONDS


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_not_answered(autojump_clock: MockClock) -> None:
    with pytest.raises(ClientGone):
        await read_body(Client([part(b"a", more=True)], leaves_after=1).receive, {}, 4)


async def test_a_response_goes_out_whole() -> None:
    client = Client()
    await respond(client.send, 200, b"{}", [(b"a", b"b")])
    start, body = client.heard
    assert start["status"] == 200
    assert start["headers"] == [(b"content-type", b"application/json"), (b"content-length", b"2"), (b"a", b"b")]
    assert body == {"type": "http.response.body", "body": b"{}", "more_body": False}


async def test_an_empty_response_has_no_content_type() -> None:
    client = Client()
    await respond(client.send, 202)
    assert client.heard[0]["headers"] == [(b"content-length", b"0")]


# --- streams -----------------------------------------------------------------------------------------------


async def test_a_stream_starts_with_its_first_frame_and_what_comes_before_it() -> None:
    client = Client()
    stream = EventStream(client.send, [(b"a", b"b")], b"preamble ")
    assert not stream.started
    assert client.heard == []
    await stream.write(b"first ")
    await stream.write(b"second ")
    await stream.end(b"last")
    assert client.heard[0] == {"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]}
    assert client.body == b"preamble first second last"
    assert [each["more_body"] for each in client.heard[1:]] == [True, True, False]


async def test_a_stream_that_ends_before_it_began_is_still_a_response() -> None:
    client = Client()
    await EventStream(client.send, (), b"preamble").end()
    assert client.heard[0]["type"] == "http.response.start"
    assert client.body == b"preamble"
    assert client.heard[-1]["more_body"] is False


async def test_two_tasks_that_write_at_once_start_the_stream_once_and_mix_no_frames(nursery: trio.Nursery) -> None:
    client = Client()
    stream = EventStream(client.send, (), b"<")
    async with trio.open_nursery() as writers:
        for number in range(10):
            writers.start_soon(stream.write, str(number).encode())
    starts = [each for each in client.heard if each["type"] == "http.response.start"]
    assert len(starts) == 1
    assert client.heard[0] is starts[0]
    assert client.heard[1]["body"].startswith(b"<")
    assert sorted(client.body[1:].decode()) == list("0123456789")


async def test_a_silent_response_is_opened_after_a_while_and_kept_alive(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    client = Client([part(b"late"), part(b"later")])
    stream = EventStream(client.send, ())
    nursery.start_soon(attend, client.receive, stream, 0.5)
    await trio.sleep(0.4)
    assert not stream.started
    await trio.sleep(0.2)
    assert client.body == sse.KEEP_ALIVE
    await trio.sleep(KEEP_ALIVE_SECONDS * 3)
    assert client.body == sse.KEEP_ALIVE * 4


async def test_a_client_that_leaves_is_noticed_at_once(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    client = Client(leaves_after=0.2)
    stream = EventStream(client.send, ())
    await attend(client.receive, stream, 0.5)
    assert trio.current_time() == pytest.approx(0.2)
    assert not stream.started


async def test_a_client_that_leaves_much_later_is_noticed_too(nursery: trio.Nursery) -> None:
    leaving = trio.Event()

    async def receive() -> Any:
        await leaving.wait()
        return {"type": "http.disconnect"}

    noticed = trio.Event()

    async def watch() -> None:
        await attend(receive, EventStream(Client().send, ()), 1000)
        noticed.set()

    nursery.start_soon(watch)
    await wait_all_tasks_blocked()
    leaving.set()
    await noticed.wait()

"""Bodies that are waited for, ignored or broken, and requests that are refused, on a real socket."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from tests.http1.acts import GET, answering, ignoring, posting
from tests.http1.opening import serving

# --- 100-continue and bodies nobody reads --------------------------------------------------------------------


async def test_a_client_is_told_to_go_on_when_the_application_reads() -> None:
    async with serving(answering()) as served, served.client() as client:
        await client.say(posting(b"Content-Length: 5", b"Expect: 100-continue"))
        assert await client.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        await client.say(b"hello")
        assert (await client.answer())[0] == 200
        await client.say(GET)
        assert (await client.answer())[0] == 200


async def test_a_client_that_did_not_wait_is_not_told() -> None:
    async with serving(answering()) as served, served.client() as client:
        await client.say(posting(b"Content-Length: 5", b"Expect: 100-continue") + b"hello")
        assert (await client.answer())[0] == 200


async def test_a_client_that_has_begun_is_not_told_to_begin() -> None:
    async with serving(answering()) as served, served.client() as client:
        await client.say(posting(b"Content-Length: 5", b"Expect: 100-continue") + b"he")
        await trio.testing.wait_all_tasks_blocked(0.01)
        await client.say(b"llo")
        assert (await client.answer())[0] == 200


async def test_a_client_whose_body_is_not_wanted_is_told_so_at_once_and_the_connection_ends() -> None:
    async with serving(ignoring) as served, served.client() as client:
        await client.say(posting(b"Content-Length: 5", b"Expect: 100-continue"))
        status, headers, _ = await client.answer()
        assert (status, headers[b"connection"]) == (403, b"close")


async def test_a_small_body_that_is_ignored_does_not_cost_the_connection() -> None:
    async with serving(ignoring) as served, served.client() as client:
        for _ in range(3):
            await client.say(posting(b"Content-Length: 50000"))
            assert b"connection" not in (await client.answer())[1]
            await client.say(b"x" * 50_000)


@pytest.mark.parametrize("framing", [b"Content-Length: 3000000", b"Transfer-Encoding: chunked"])
async def test_a_large_body_that_is_ignored_costs_the_connection_but_not_the_answer(framing: bytes) -> None:
    async with serving(ignoring) as served, served.client() as client:
        await client.say(posting(framing))
        # Until the client has sent all this it does not listen; closing on it would take the answer away.
        await client.say(b"x" * 3_000_000)
        status, headers, body = await client.answer()
        assert (status, headers[b"connection"], body) == (403, b"close", b"no")
        await client.stream.send_eof()
        assert await client.rest() == b""


# --- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\n\n", 400),
        (b"\x16\x03\x01\x02\x00\x01", 400),
        (b"GET / HTTP/3.0\r\n\r\n", 505),
        (b"GET /" + b"a" * 20_000, 414),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000, 431),
        (posting(b"Content-Length: 1", b"Transfer-Encoding: chunked"), 400),
        (posting(b"Transfer-Encoding: gzip"), 501),
    ],
)
async def test_a_refusal_ends_the_connection(data: bytes, status: int) -> None:
    asked = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope)

    async with serving(app) as served, served.client() as client:
        await client.say(data)
        found, headers, _ = await client.answer()
        assert (found, headers[b"connection"]) == (status, b"close")
        await client.stream.send_eof()
        assert await client.rest() == b""
    assert asked == []


async def test_what_came_before_a_bad_request_is_answered_first() -> None:
    async with serving(answering()) as served, served.client() as client:
        await client.say(GET + GET + b"bad\r\n\r\n" + GET)
        assert [(await client.answer())[0] for _ in range(3)] == [200, 200, 400]
        await client.stream.send_eof()
        assert await client.rest() == b""


async def test_a_bad_chunk_is_a_disconnect_to_the_application_and_a_400_to_the_client() -> None:
    told: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while told[-1:] != ["http.disconnect"]:
            told.append((await receive())["type"])

    async with serving(app) as served, served.client() as client:
        await client.say(posting(b"Transfer-Encoding: chunked") + b"1\r\nx\r\nzz\r\n")
        assert (await client.answer())[0] == 400
    assert told == ["http.request", "http.disconnect"]

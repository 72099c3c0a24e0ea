"""Clients that take too long over a head, a body or an answer, and those that are merely slow."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from tests.http1.acts import GET, answering, posting, tasks, tasks_at_rest
from tests.http1.opening import serving
from tests.transport.playhouse import eventually


async def test_a_head_that_drips_is_cut_however_steadily_it_does() -> None:
    async with serving(answering(), limits={"head_seconds": 0.3}) as served, served.client() as client:
        await client.say(GET)
        await client.answer()

        async def drip() -> None:
            with trio.CancelScope():
                for byte in b"GET / HTTP/1.1\r\nX: " + b"a" * 10_000:
                    try:
                        await client.say(bytes([byte]))
                    except trio.BrokenResourceError:
                        return
                    await trio.sleep(0.02)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(drip)
            assert (await client.answer())[0] == 408
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("asked", [True, False])
async def test_an_idle_connection_is_closed_without_a_word(asked: bool) -> None:
    async with serving(answering(), keep_alive_timeout=0.2) as served, served.client() as client:
        if asked:
            await client.say(GET)
            await client.answer()
        assert await client.rest() == b""


async def test_a_body_that_stops_coming_is_given_up() -> None:
    told: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(3):
            told.append((await receive())["type"])

    async with serving(app, limits={"body_seconds": 0.2}) as served, served.client() as client:
        await client.say(posting(b"Content-Length: 10") + b"hello")
        assert (await client.answer())[0] == 408
    assert told == ["http.request", "http.disconnect", "http.disconnect"]


async def test_a_body_that_drips_too_slowly_is_given_up() -> None:
    async with (
        serving(answering(), limits={"body_seconds": 0.3, "body_progress": 100}) as served,
        served.client() as client,
        trio.open_nursery() as nursery,
    ):
        await client.say(posting(b"Content-Length: 10000"))

        async def drip() -> None:
            while True:
                await client.say(b"x")
                await trio.sleep(0.02)

        nursery.start_soon(drip)
        # The application's own reading fails on the disconnect, which is its affair; nobody is left to answer.
        assert (await client.answer())[0] == 408
        nursery.cancel_scope.cancel()


async def test_a_slow_body_that_makes_progress_is_waited_for() -> None:
    limits = {"body_seconds": 0.4, "body_progress": 10}
    async with serving(answering(), limits=limits) as served, served.client() as client:
        await client.say(posting(b"Content-Length: 120"))
        for _ in range(12):
            await client.say(b"x" * 10)
            await trio.sleep(0.1)
        assert (await client.answer())[0] == 200


async def test_time_that_the_application_takes_is_not_the_clients() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await trio.sleep(0.5)
        await answering()(scope, receive, send)

    async with serving(app, limits={"body_seconds": 0.2}) as served, served.client() as client:
        await client.say(posting(b"Content-Length: 10") + b"hello")
        await trio.sleep(0.4)
        await client.say(b"hello")
        assert (await client.answer())[0] == 200


async def flood(scope: Any, receive: Any, send: Any) -> None:
    """Streams until somebody says that the client has left."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        while True:
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})


async def test_a_client_that_stops_reading_is_cut() -> None:
    async with serving(flood, limits={"send_seconds": 0.3}) as served:
        before = await tasks_at_rest()
        async with served.client(receive_buffer=4096) as client:
            await client.say(GET)
            await client.until(b"xxx")
            await eventually(lambda: tasks() <= before, seconds=5)
            assert (await client.rest()).endswith(b"<reset>")


async def test_a_slow_client_is_not_a_stalled_one() -> None:
    size = 8_000_000
    limits = {"send_seconds": 0.4}
    async with serving(answering(b"x" * size), limits=limits) as served, served.client(receive_buffer=50_000) as client:
        await client.say(GET)
        await client.until(b"\r\n\r\n")
        seen = len(client._seen)
        while seen < size:
            seen += len(await client.stream.receive_some(500_000))
            await trio.sleep(0.02)
        assert seen == size

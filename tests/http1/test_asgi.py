"""What an application and its clients see of a connection, on a real socket, on ours and on Hypercorn's alike."""

from __future__ import annotations

import contextvars
import logging
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from tests.http1.acts import HOST, answering, read, stream
from tests.http1.opening import App, serving
from tests.http1.opening import serving as serving_on_both  # noqa: F401
from tests.transport import paths


def opened(app: App, **settings: Any) -> Any:
    return serving(app, paths.chosen, **settings)


# --- requests ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_line",
    [
        b"POST /a%2Fb/%C3%A9?x=%20&y HTTP/1.1",
        b"GET http://other/p?q HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"GET /a?b?c HTTP/1.0",
    ],
)
async def test_the_scope_is_the_same_on_both_paths(request_line: bytes) -> None:
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        await answering()(scope, receive, send)

    for path in paths.ALL:
        async with serving(app, path, root_path="/root") as served:
            sent = request_line + b"\r\n" + HOST + b"X-Twice: 1\r\nx-twice:2 \r\nConnection: close\r\n\r\n"
            assert (await served.ask(sent)).startswith(b"HTTP/1.1 200")
            assert scopes[-1].pop("server") == served.address
            assert scopes[-1].pop("client")[0] == "127.0.0.1"
    own, stock = scopes
    assert own.pop("extensions") == {"greenroom.http1": {}}
    assert stock.pop("extensions") == {}
    assert {**own, "headers": list(own["headers"])} == {**stock, "headers": list(stock["headers"])}


@pytest.mark.parametrize("framing", ["length", "chunks"])
async def test_a_body_arrives_whole_and_says_when_it_ends(framing: str) -> None:
    bodies: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        bodies.append(b"".join(await read(receive)))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"thanks"})

    body = bytes(range(256)) * 1000
    async with opened(app) as served, served.client() as client:
        if framing == "length":
            await client.say(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body))
            await client.say(body)
        else:
            await client.say(b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n")
            for at in range(0, len(body), 10_000):
                piece = body[at : at + 10_000]
                await client.say(b"%x\r\n%b\r\n" % (len(piece), piece))
            await client.say(b"0\r\n\r\n")
        await client.until(b"thanks")
    assert bodies == [body]


async def test_pipelined_requests_are_answered_in_their_order() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        # The first takes longest.
        await trio.sleep(0.05 if scope["path"] == "/0" else 0)
        await answering(scope["path"].encode())(scope, receive, send)

    async with opened(app) as served, served.client() as client:
        await client.say(b"".join(b"GET /%d HTTP/1.1\r\n%b\r\n" % (number, HOST) for number in range(20)))
        assert [(await client.answer())[2] for _ in range(20)] == [b"/%d" % number for number in range(20)]


async def test_one_request_leaves_nothing_in_the_context_of_the_next() -> None:
    user = contextvars.ContextVar("user", default=b"nobody")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen = user.get()
        user.set(scope["path"].encode())
        await answering(seen)(scope, receive, send)

    async with opened(app) as served, served.client() as client:
        for path in (b"/a", b"/b"):
            await client.say(b"GET %b HTTP/1.1\r\n%b\r\n" % (path, HOST))
            assert (await client.answer())[2] == b"nobody"
        await client.say(b"GET /c HTTP/1.1\r\n%b\r\nGET /d HTTP/1.1\r\n%b\r\n" % (HOST, HOST))
        assert [(await client.answer())[2] for _ in range(2)] == [b"nobody", b"nobody"]


# --- answers -----------------------------------------------------------------------------------------------


async def test_head_gets_the_head_and_the_connection_goes_on() -> None:
    async with opened(answering(b"hello")) as served, served.client() as client:
        await client.say(b"HEAD / HTTP/1.1\r\n%b\r\nGET / HTTP/1.1\r\n%b\r\n" % (HOST, HOST))
        head = await client.until(b"\r\n\r\n")
        assert b"content-length: 5\r\n" in head.lower()
        assert (await client.answer())[2] == b"hello"


@pytest.mark.parametrize("status", [204, 304])
async def test_an_answer_without_a_body_has_none(status: int) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        code = status if scope["path"] == "/" else 200
        await send({"type": "http.response.start", "status": code, "headers": []})
        await send({"type": "http.response.body", "body": b"ignored" if code == status else b"heard"})

    async with opened(app) as served:
        seen = await served.ask(
            b"GET / HTTP/1.1\r\n%b\r\nGET /2 HTTP/1.1\r\n%bConnection: close\r\n\r\n" % (HOST, HOST)
        )
        assert b"ignored" not in seen
        assert seen.startswith(b"HTTP/1.1 %d" % status)
        assert b"heard" in seen


async def test_a_stream_is_chunked_and_the_connection_goes_on() -> None:
    async with opened(stream) as served, served.client() as client:
        for _ in range(2):
            await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
            assert b"transfer-encoding: chunked" in (await client.until(b"\r\n\r\n")).lower()
            assert await client.until(b"0\r\n\r\n") == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"


async def test_a_client_of_http_1_0_gets_bytes_until_the_end() -> None:
    async with opened(stream) as served:
        head, _, body = (await served.ask(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")).partition(b"\r\n\r\n")
        assert b"connection: close" in head.lower()
        assert b"chunked" not in head.lower()
        assert body == b"onetwo"


@pytest.mark.parametrize(
    ("asked", "said"),
    [(b"Connection: close\r\n", ()), (b"", ((b"connection", b"close"),))],
    ids=["client", "application"],
)
async def test_either_side_can_end_the_connection(asked: bytes, said: tuple[tuple[bytes, bytes], ...]) -> None:
    async with opened(answering(b"bye", 200, *said)) as served:
        seen = await served.ask(b"GET / HTTP/1.1\r\n%b%b\r\n" % (HOST, asked))
        assert seen.lower().count(b"connection: close") == 1
        assert seen.endswith(b"bye")


def only_ours(why: str) -> None:
    """For what Hypercorn's connection does otherwise."""
    if paths.chosen == "stock":
        pytest.skip(why)


async def test_a_connection_serves_only_so_many_requests() -> None:
    only_ours("Hypercorn counts otherwise, and closes without saying so")
    async with opened(answering(), keep_alive_max_requests=2) as served, served.client() as client:
        await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST * 1)
        assert b"connection" not in (await client.answer())[1]
        await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
        assert b"connection: close" in (await client.rest()).lower()


async def test_date_and_server_are_as_the_configuration_says() -> None:
    async with opened(answering(), include_server_header=True) as served, served.client() as client:
        await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
        _, headers, _ = await client.answer()
        assert headers[b"server"] == b"hypercorn-h11"
        assert headers[b"date"].endswith(b"gmt")
    async with opened(answering(), include_date_header=False) as served, served.client() as client:
        await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
        _, headers, _ = await client.answer()
        assert headers.keys() == {b"content-length"}


async def test_only_the_configured_names_are_served() -> None:
    only_ours("Hypercorn keeps the connection of a refused name open")
    async with opened(answering(), server_names=["localhost"]) as served, served.client() as client:
        assert (await served.ask(b"GET / HTTP/1.1\r\nHost: other\r\n\r\n")).startswith(b"HTTP/1.1 404")
        await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
        assert (await client.answer())[0] == 200


# --- an application that fails -----------------------------------------------------------------------------


async def raising(scope: Any, receive: Any, send: Any, started: bool) -> None:
    if scope["path"] == "/":
        if started:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise ValueError("the roof is leaking")
    await answering()(scope, receive, send)


async def test_an_application_that_raises_is_a_500_and_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(partial(raising, started=False)) as served:
        seen = await served.ask(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
        assert seen.startswith(b"HTTP/1.1 500")
        assert seen.count(b"HTTP/1.1") == 1
        assert b"connection: close" in seen.lower()
        assert "the roof is leaking" in caplog.text
        assert (await served.ask(b"GET /2 HTTP/1.1\r\n%bConnection: close\r\n\r\n" % HOST)).endswith(b"ok")
    caplog.clear()


async def test_an_answer_that_breaks_off_is_seen_to_break_off(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(partial(raising, started=True)) as served:
        seen = await served.ask(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
        assert seen.endswith(b"half\r\n"), "without the last chunk a client knows that something is missing"
        assert "the roof is leaking" in caplog.text
    caplog.clear()


async def test_an_application_that_says_nothing_is_a_500() -> None:
    async def silent(scope: Any, receive: Any, send: Any) -> None:
        pass

    async with opened(silent) as served:
        assert (await served.ask(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)).startswith(b"HTTP/1.1 500")


# --- clients that leave ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_whoever_waits_in_receive_learns_that_the_client_has_left(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    only_ours("Hypercorn says once that a client has left, and whoever asks again waits for ever")
    caplog.set_level(logging.WARNING)
    told: list[str] = []
    left = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read(receive)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        told.append((await receive())["type"])
        told.append((await receive())["type"])
        for _ in range(3):
            # Nobody listens, and that is no error.
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        left.set()

    async with opened(app) as served:
        async with served.client() as client:
            await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
            await client.until(b"begun")
            if how == "reset":
                client.stream.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")
        with trio.fail_after(5):
            await left.wait()
    assert told[0] == "http.disconnect"
    assert caplog.text == ""


async def test_a_client_that_leaves_in_mid_body_is_a_disconnect() -> None:
    told: list[dict[str, Any]] = []
    left = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        told.append(await receive())
        told.append(await receive())
        left.set()

    async with opened(app) as served:
        async with served.client() as client:
            await client.say(b"POST / HTTP/1.1\r\n%bContent-Length: 10\r\n\r\nhello" % HOST)
        with trio.fail_after(5):
            await left.wait()
    assert told[0] == {"type": "http.request", "body": b"hello", "more_body": True}
    assert told[1]["type"] == "http.disconnect"


async def test_a_finished_answer_ends_the_wait_in_receive() -> None:
    told, hear = trio.open_memory_channel[str](2)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read(receive)

        async def watch() -> None:
            told.send_nowait((await receive())["type"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            await trio.testing.wait_all_tasks_blocked()
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"ok"})

    async with opened(app) as served, served.client() as client:
        for _ in range(2):
            await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
            assert (await client.answer())[2] == b"ok"
            with trio.fail_after(5):
                assert await hear.receive() == "http.disconnect"


# --- what stays with Hypercorn -----------------------------------------------------------------------------


async def test_a_websocket_is_opened_even_after_a_plain_request() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": "hello over there"})
            await receive()
        else:
            await answering()(scope, receive, send)

    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    async with opened(app) as served, served.client() as client:
        await client.say(b"GET / HTTP/1.1\r\n%b\r\n" % HOST)
        assert (await client.answer())[2] == b"ok"
        await client.say(b"GET /ws HTTP/1.1\r\n%b%b%b\r\n" % (HOST, upgrade, key))
        assert b"s3pplmbitxaq9kygzzhzrbk+xoo=" in (await client.until(b"\r\n\r\n")).lower()
        await client.until(b"hello over there")

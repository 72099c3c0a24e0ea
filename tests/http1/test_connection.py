"""What our own connections do on a real socket that Hypercorn's do not, or in another way: limits, clocks and ends."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel
import trio.testing

from tests.http1.certificates import self_signed
from tests.http1.opening import Served, serving
from tests.http1.test_asgi import HOST, answering, read, stream
from tests.transport.playhouse import eventually

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"


def tasks() -> int:
    return trio.lowlevel.current_statistics().tasks_living


async def tasks_at_rest() -> int:
    await trio.testing.wait_all_tasks_blocked()
    return tasks()


def posting(*headers: bytes) -> bytes:
    return b"POST / HTTP/1.1\r\n" + HOST + b"".join(header + b"\r\n" for header in headers) + b"\r\n"


async def ignoring(scope: Any, receive: Any, send: Any) -> None:
    """Answers without a look at the body."""
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


# --- 100-continue and bodies nobody reads ------------------------------------------------------------------


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


# --- refusals ----------------------------------------------------------------------------------------------


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


# --- the clock ---------------------------------------------------------------------------------------------


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


# --- reading ahead, and giving way -------------------------------------------------------------------------


async def test_what_a_client_sends_behind_its_request_is_kept_within_bounds_and_answered() -> None:
    hold = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read(receive)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(receive)
            await hold.wait()
            nursery.cancel_scope.cancel()
        await ignoring(scope, receive, send)

    async with serving(app) as served, served.client() as client:
        count = 200_000
        taken = 0

        async def pour() -> None:
            nonlocal taken
            data = memoryview(GET * count)
            while data:
                sent = await client.stream.socket.send(data[:65536])
                taken += sent
                data = data[sent:]

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pour)
            await trio.testing.wait_all_tasks_blocked(0.2)
            # Two kernel buffers and one of ours, of the eight megabytes that want to come.
            assert taken < len(GET) * count - 500_000
            nursery.cancel_scope.cancel()
        hold.set()
        assert (await client.answer())[0] == 403


async def test_a_client_that_asks_without_pause_does_not_starve_the_others() -> None:
    answered = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal answered
        answered += 1
        await answering(b"%d" % answered)(scope, receive, send)

    async with serving(app) as served, served.client() as greedy, served.client() as modest:
        # Everything is there at once, so that nothing but fairness makes the server stop.
        await greedy.say(GET * 1000)
        await modest.say(GET)
        assert int((await modest.answer())[2]) < 900


# --- ends --------------------------------------------------------------------------------------------------


async def test_a_worker_that_ends_closes_idle_connections_and_lets_the_busy_one_finish() -> None:
    begun, hold = trio.Event(), trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/busy":
            begun.set()
            await hold.wait()
        await answering()(scope, receive, send)

    async with serving(app, graceful_timeout=5) as served, served.client() as idle, served.client() as busy:
        await idle.say(GET)
        await idle.answer()
        await busy.say(GET.replace(b"/ ", b"/busy "))
        await begun.wait()
        served.stop.set()
        assert await idle.rest() == b""
        hold.set()
        assert (await busy.answer())[1][b"connection"] == b"close"
        assert await busy.rest() == b""


async def test_when_the_grace_is_over_not_even_a_shielded_send_holds_the_worker_up() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        with trio.CancelScope(shield=True):
            for _ in range(100):
                await send({"type": "http.response.body", "body": b"x" * 1_000_000, "more_body": True})

    with trio.fail_after(5):
        async with serving(app, graceful_timeout=0.2) as served, served.client(receive_buffer=4096) as client:
            await client.say(GET)
            await client.until(b"xxx")
            served.stop.set()
            served.nursery.cancel_scope.deadline = trio.current_time() + 4
            await trio.sleep(1)


async def test_a_send_that_is_cancelled_half_way_ends_its_connection_and_nothing_else() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] != "/":
            await answering()(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        with trio.move_on_after(0.1):
            await send({"type": "http.response.body", "body": b"x" * 50_000_000})
        ended.set()

    async with serving(app) as served:
        async with served.client(receive_buffer=4096) as client:
            await client.say(GET)
            await ended.wait()
            assert len(await client.rest()) < 50_000_000
        assert (await served.ask(b"GET /2 HTTP/1.1\r\n%bConnection: close\r\n\r\n" % HOST)).endswith(b"ok")


async def test_a_send_in_a_cancelled_scope_still_goes_out_whole() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        with trio.CancelScope() as leaving:
            leaving.cancel()
            await answering()(scope, receive, send)

    async with serving(app) as served, served.client() as client:
        for _ in range(3):
            await client.say(GET)
            assert (await client.answer())[2] == b"ok"


async def test_a_task_that_an_application_left_behind_cannot_read_or_write_what_is_not_its_own() -> None:
    told: list[Any] = []
    sends: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        async def linger() -> None:
            told.append((await receive())["type"])

        if scope["path"] == "/":
            lingering.start_soon(linger)
            await trio.testing.wait_all_tasks_blocked()
            sends.extend((receive, send))
            await ignoring(scope, receive, send)
        else:
            told.append((await sends[0]())["type"])
            await sends[1]({"type": "http.response.body", "body": b"out of place"})
            body = b"".join(await read(receive))
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
            await send({"type": "http.response.body", "body": body})

    async with (
        trio.open_nursery() as lingering,
        serving(app) as served,
        served.client() as client,
    ):
        await client.say(posting(b"Content-Length: 3"))
        assert (await client.answer())[2] == b"no"
        await client.say(b"one" + posting(b"Content-Length: 3").replace(b"/ ", b"/2 ") + b"two")
        assert (await client.answer())[2] == b"two"
    assert told == ["http.disconnect", "http.disconnect"]


@pytest.mark.parametrize(
    "headers",
    [[(b"x", b"a\r\nb: c")], [(b"content-length", b"1")], [(b"content-length", b"5")]],
    ids=["injected", "short", "long"],
)
async def test_an_answer_that_cannot_be_sent_is_a_500(headers: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"two"})

    async with serving(app) as served, served.client() as client:
        await client.say(GET)
        assert (await client.answer())[0] == 500
        assert "BadAnswer" in caplog.text
    caplog.clear()


async def test_answering_twice_is_the_applications_error(caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await answering()(scope, receive, send)
        await send({"type": "http.response.body", "body": b"more"})

    async with serving(app) as served, served.client() as client:
        for _ in range(2):
            await client.say(GET)
            assert (await client.answer())[2] == b"ok"
    assert "out of place" in caplog.text
    caplog.clear()


async def test_many_connections_come_and_go_and_leave_no_task() -> None:
    async def visit(served: Served, number: int) -> None:
        async with served.client() as client:
            await client.say((GET, GET + GET, GET[:-5], b"bad\r\n\r\n", posting(b"Content-Length: 9"))[number % 5])
            if number % 3:
                await client.until(b"\r\n\r\n") if number % 5 in (0, 1, 3) else None

    async with serving(stream) as served:
        before = await tasks_at_rest()
        for _ in range(10):
            async with trio.open_nursery() as nursery:
                for number in range(30):
                    nursery.start_soon(visit, served, number)
        await eventually(lambda: tasks() <= before, seconds=5)


# --- what stays with Hypercorn -----------------------------------------------------------------------------


async def test_tls_stays_with_hypercorn(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        await answering()(scope, receive, send)

    trusting = ssl.create_default_context(cafile=str(certificate))
    async with serving(app, certfile=str(certificate), keyfile=str(key)) as served, served.client() as client:
        stream = trio.SSLStream(client.stream, trusting, server_hostname="localhost")
        await stream.send_all(GET)
        assert (await stream.receive_some(1000)).startswith(b"HTTP/1.1 200")
        assert (scopes[0]["scheme"], scopes[0]["extensions"]) == ("https", {})

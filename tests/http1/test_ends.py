"""How a connection shares the worker, and how it ends: with the worker, in mid-answer, or by a mistake of the app's."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from tests.http1.acts import GET, HOST, answering, ignoring, posting, read, stream, tasks, tasks_at_rest
from tests.http1.certificates import self_signed
from tests.http1.opening import Served, serving
from tests.transport.playhouse import eventually

# --- reading ahead, and giving way ---------------------------------------------------------------------------


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


async def test_an_answer_that_never_has_to_wait_lets_the_others_have_their_turn() -> None:
    pieces, others = 0, 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal pieces, others
        if scope["path"] != "/":
            others += 1
            await ignoring(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not others and pieces < 5000:
            pieces += 1
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await send({"type": "http.response.body"})

    async with serving(app) as served, served.client() as streaming, served.client() as asking:
        # Both are there before the server looks, and all the pieces fit into the kernel's buffer.
        await streaming.say(GET)
        await asking.say(GET.replace(b"/ ", b"/2 "))
        assert (await asking.answer())[0] == 403
        await streaming.until(b"0\r\n\r\n")
    assert pieces < 5000


# --- ends ----------------------------------------------------------------------------------------------------


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

    async with serving(app, graceful_timeout=0.2) as served, served.client(receive_buffer=4096) as client:
        await client.say(GET)
        await client.until(b"xxx")
        served.stop.set()
        with trio.fail_after(5):
            await served.ended.wait()


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


# --- what stays with Hypercorn -------------------------------------------------------------------------------


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

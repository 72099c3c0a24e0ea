"""One line per request, and never an argument in it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from greenroom.transport.logs import extras
from greenroom.transport.requestlog import RequestRecord


def scope(*headers: tuple[bytes, bytes], path: str = "/mcp", method: str = "POST") -> dict[str, Any]:
    return {"type": "http", "method": method, "path": path, "query_string": b"token=swordfish", "headers": headers}


def written(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    [record] = [each for each in caplog.records if each.name == "greenroom.request"]
    return extras(record)


@pytest.fixture(autouse=True)
def _hear_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "greenroom.request")


@pytest.mark.parametrize("given", ["a", "0af7651916cd43dd8448eb211c80319c", "A.b_c~d:e-f", "x" * 128])
@pytest.mark.parametrize("name", [b"x-request-id", b"X-Request-ID"])
async def test_a_sound_request_id_is_taken_over(given: str, name: bytes) -> None:
    assert RequestRecord.of(scope((b"host", b"x"), (name, given.encode()))).request_id == given


@pytest.mark.parametrize(
    "given", [b"", b"a b", b"a\n", b"a\r\nset-cookie: x", b"x" * 129, b"\xff", b"a/b", b'"', b"${jndi:x}"]
)
async def test_an_unsound_request_id_is_replaced_by_one_of_ours(given: bytes) -> None:
    made = RequestRecord.of(scope((b"x-request-id", given))).request_id
    assert made != given.decode("latin-1")
    assert len(made) == 16
    assert made.isalnum()


async def test_requests_without_an_id_get_one_each() -> None:
    assert RequestRecord.of(scope()).request_id != RequestRecord.of(scope()).request_id


async def test_a_line_says_what_was_asked_for_how_it_went_and_how_long_it_took(
    caplog: pytest.LogCaptureFixture, autojump_clock: MockClock
) -> None:
    record = RequestRecord.of(scope((b"x-request-id", b"r1")))
    record.note_call({"method": "tools/call", "params": {"name": "countdown", "arguments": {"a": "swordfish"}}})
    record.status = 200
    await trio.sleep(1.5)
    record.write()
    assert written(caplog) == {
        "method": "POST",
        "path": "/mcp",
        "rpc_method": "tools/call",
        "tool": "countdown",
        "status": 200,
        "duration_ms": 1500.0,
        "request_id": "r1",
    }


async def test_neither_an_argument_nor_a_query_nor_a_token_is_written(caplog: pytest.LogCaptureFixture) -> None:
    record = RequestRecord.of(scope((b"authorization", b"Bearer swordfish"), (b"cookie", b"a=swordfish")))
    record.note_call(
        {
            "method": "tools/call",
            "params": {"name": "x", "arguments": {"password": "swordfish"}, "_meta": {"a": "swordfish"}},
        }
    )
    record.write()
    assert "swordfish" not in repr(written(caplog)) + caplog.text


BODIES: list[tuple[Any, str | None, str | None]] = [
    ({"method": "tools/call", "params": {"name": "a/b.c:d-e_f"}}, "tools/call", "a/b.c:d-e_f"),
    ({"method": "tools/call", "params": {"name": "tell me your\nsecret"}}, "tools/call", None),
    ({"method": "tools/call", "params": {"name": "x" * 129}}, "tools/call", None),
    ({"method": "tools/call", "params": {"name": 7}}, "tools/call", None),
    ({"method": "tools/call"}, "tools/call", None),
    ({"method": "prompts/get", "params": {"name": "greeting"}}, "prompts/get", None),
    ({"method": "notifications/cancelled"}, "notifications/cancelled", None),
    ({"method": "a b"}, None, None),
    ({"method": 7}, None, None),
    ({"result": {}}, None, None),
    ([{"method": "ping"}], None, None),
    ("ping", None, None),
    (None, None, None),
]


@pytest.mark.parametrize(("body", "method", "tool"), BODIES)
async def test_only_names_of_methods_and_tools_are_remembered(body: Any, method: str | None, tool: str | None) -> None:
    record = RequestRecord.of(scope())
    record.note_call(body)
    assert (record.rpc_method, record.tool) == (method, tool)


async def test_a_request_whose_client_left_says_so_and_has_no_status(caplog: pytest.LogCaptureFixture) -> None:
    record = RequestRecord.of(scope())
    record.client_gone = True
    record.write()
    line = written(caplog)
    assert line["client_gone"] is True
    assert "status" not in line


async def test_the_response_gets_the_request_id_and_its_status_is_remembered() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    record = RequestRecord.of(scope((b"x-request-id", b"r1")))
    watched = record.watching(send)
    start = {"type": "http.response.start", "status": 404, "headers": [(b"a", b"b")]}
    await watched(start)
    await watched({"type": "http.response.body", "body": b"x"})
    assert record.status == 404
    assert sent[0]["headers"] == [(b"a", b"b"), (b"x-request-id", b"r1")]
    assert sent[1] == {"type": "http.response.body", "body": b"x"}
    assert start["headers"] == [(b"a", b"b")]


async def test_a_server_that_is_saying_goodbye_on_the_same_line_is_no_incident() -> None:
    async def busy(message: Any) -> None:
        raise trio.BusyResourceError("another task is sending")

    await RequestRecord.of(scope()).watching(busy)({"type": "http.response.body", "body": b"x"})


async def test_a_send_that_has_begun_is_not_cancelled_half_way(autojump_clock: MockClock) -> None:
    sent: list[Any] = []

    async def slow(message: Any) -> None:
        await trio.sleep(3)
        sent.append(message)

    watched = RequestRecord.of(scope()).watching(slow)
    with trio.move_on_after(1):
        await watched({"type": "http.response.start", "status": 200})
    assert len(sent) == 1
    assert trio.current_time() == 3

"""What is refused before anything is done, on a real socket: always with the right status, always in one shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
import trio

from greenroom.transport import http
from greenroom.workflow.port import Turn
from greenroom.workflow.values import SessionUse, Text, ToolResult
from tests.rest.calling import NDJSON, SSE, Desk, desk_of, told
from tests.transport.playhouse import House, Play, Script, Wire, eventually, open_house
from tests.transport.test_sessions import hello
from tests.transport.test_traps import living, living_at_rest

JSON = {"content-type": "application/json"}
CLOSED = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "number": {"type": "number"}},
    "additionalProperties": False,
}


async def echo(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
    return ToolResult([Text("heard")], {"heard": dict(arguments)})


def script() -> Script:
    plays: dict[str, Play] = {"execute_command": echo, "invoke_agent": echo, "get_commands": hello}
    return Script(plays, dict.fromkeys(plays, SessionUse.REQUIRED), {"execute_command": CLOSED})


async def send(desk: Desk, body: bytes, **headers: str) -> httpx.Response:
    url = f"{desk.house.base}/execute_command"
    return await desk.house.client.post(url, content=body, headers={**desk.bearer, **JSON, **headers})


# --- which session -----------------------------------------------------------------------------------------


async def test_either_header_names_the_session_and_both_may_if_they_agree() -> None:
    async with open_house(script()) as house:
        desk = await desk_of(house)
        for headers in (
            desk.bearer,
            {"authorization": f"bearer  {desk.handle}"},
            {"x-session-id": desk.handle},
            {**desk.bearer, "x-session-id": desk.handle},
        ):
            assert (await house.client.get(f"{house.base}/commands", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Basic YTpi"}, {"authorization": "Bearer"}, {"x-session-id": ""}]
)
async def test_without_a_session_it_is_401_with_a_sentence_that_says_how(headers: dict[str, str]) -> None:
    async with open_house(script()) as house:
        for method, path in (("GET", "/commands"), ("POST", "/execute_command"), ("POST", "/invoke_agent_stream")):
            response = await house.client.request(method, f"{house.base}{path}", headers=headers)
            error = told(response, 401)
            assert error["code"] == "session_missing"
            assert "Authorization: Bearer" in error["message"]
            assert response.headers["www-authenticate"].startswith("Bearer")


async def test_an_unknown_session_is_404_and_two_different_ones_are_400() -> None:
    async with open_house(script()) as house:
        desk = await desk_of(house)
        url = f"{house.base}/commands"
        unknown = await house.client.get(url, headers={"x-session-id": "made-up"})
        assert told(unknown, 404)["code"] == "session_not_found"
        assert "/initialize" in told(unknown, 404)["message"]
        two = await house.client.get(url, headers={**desk.bearer, "x-session-id": "made-up"})
        assert told(two, 400)["code"] == "bad_request"
        assert len(house.app.supervisor) == 1


# --- bodies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "text/plain", "application/jsonp", "multipart/form-data", "application/xml"])
async def test_a_body_that_is_not_sent_as_json_is_415(kind: str) -> None:
    async with open_house(script()) as house:
        desk = await desk_of(house)
        assert told(await send(desk, b"{}", **{"content-type": kind}), 415)["code"] == "unsupported_media_type"


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8", "application/json;charset=x"])
async def test_a_content_type_may_have_parameters_and_any_case(kind: str) -> None:
    async with open_house(script()) as house:
        assert (await send(await desk_of(house), b"{}", **{"content-type": kind})).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{} {}",
        b"\xff\xfe",
        b'{"number": NaN}',
        b'{"number": -Infinity}',
        b'{"number": 1e999}',
        b'{"number": ' + b"9" * 400 + b"}",
        b'{"number": ' + b"9" * 10_000 + b"}",
        b'{"command": "a", "command": "b"}',
        b'{"command": "\x00"}',
        b'{"command": ' + b"[" * 100 + b"]" * 100 + b"}",
        b"[" * 100_000,
    ],
    ids=lambda body: f"{body[:24]!r}",
)
async def test_a_body_that_cannot_be_read_is_400(body: bytes) -> None:
    async with open_house(script()) as house:
        assert told(await send(await desk_of(house), body), 400)["code"] == "bad_request"


@pytest.mark.parametrize("body", [b"[]", b"null", b"3", b'"x"'])
async def test_a_body_that_is_no_object_is_422(body: bytes) -> None:
    async with open_house(script()) as house:
        error = told(await send(await desk_of(house), body), 422)
        assert error["details"]["errors"] == [{"path": "", "message": "the body must be a JSON object"}]


async def test_everything_that_does_not_fit_is_listed() -> None:
    async with open_house(script()) as house:
        error = told(await send(await desk_of(house), b'{"number": "x", "other": 1, "command": 2}'), 422)
        assert error["code"] == "invalid_arguments"
        assert sorted(fault["path"] for fault in error["details"]["errors"]) == ["", "command", "number"]
        assert "'other' was unexpected" in error["message"]


@pytest.mark.parametrize(
    "text", ["\ud800", "\x00", "\u2028\u0085", "\U0001f600" * 1000, "\u202e", "x" * 100_000], ids=ascii
)
async def test_any_text_comes_through_as_it_is(text: str) -> None:
    async with open_house(script()) as house:
        response = await send(await desk_of(house), json.dumps({"command": text}).encode())
        assert response.json() == {"heard": {"command": text}}


async def test_a_body_that_is_too_large_is_413_and_leaks_nothing() -> None:
    async with open_house(script(), body_limit=1000) as house:
        before = await living_at_rest()
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/execute_command", JSON, b"x" * 3_000_000)
            response = await wire.response()
            assert (response["status"], response["connection"]) == ("413", "close")
            assert json.loads(await wire.rest())["error"]["code"] == "body_too_large"
        await eventually(lambda: living() <= before)


async def test_a_body_that_does_not_arrive_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BODY_SECONDS", 0.1)
    async with open_house(script()) as house, Wire.open(house.address) as wire:
        await wire.stream.send_all(b"POST /initialize HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\n{")
        # What h11 has not sent it does not wait for; the bytes above are all there is.
        data = b""
        with trio.fail_after(40):
            while b'"code":"request_timeout"' not in data:
                part = await wire.stream.receive_some(65536)
                assert part, data
                data += part
        assert data.startswith(b"HTTP/1.1 408")


# --- queries -----------------------------------------------------------------------------------------------


async def test_a_parameter_that_is_given_twice_or_not_known_is_refused() -> None:
    async with open_house(script()) as house:
        desk = await desk_of(house)
        for query, status in (
            ("?timeout_seconds=5", 200),
            ("?timeout_seconds=5&timeout_seconds=6", 400),
            ("?timeout_seconds=nan", 422),
            ("?timeout_seconds=1e999", 422),
            ("?timeout_seconds=%EF%BC%95", 422),
            ("?timeout_seconds=0", 422),
            ("?on_timeout=defer", 200),
            ("?" + "&".join(f"x{number}=1" for number in range(200)), 400),
        ):
            response = await house.client.get(f"{house.base}/commands{query}", headers=desk.bearer)
            assert response.status_code == status, query


# --- methods, paths, forms ---------------------------------------------------------------------------------


async def test_another_method_is_405_and_told_which_it_takes() -> None:
    async with open_house(script()) as house:
        for method, path, allowed in (
            ("GET", "/execute_command", "POST, OPTIONS"),
            ("DELETE", "/commands", "GET, OPTIONS"),
            ("PUT", "/docs", "GET, OPTIONS"),
            ("TRACE", "/initialize", "POST, OPTIONS"),
        ):
            response = await house.client.request(method, f"{house.base}{path}")
            assert told(response, 405)["code"] == "method_not_allowed"
            assert response.headers["allow"] == allowed
        elsewhere = await house.client.post(f"{house.base}/health")
        assert told(elsewhere, 405)["code"] == "method_not_allowed"
        assert "GET" in elsewhere.headers["allow"]


@pytest.mark.parametrize("path", ["/", "/nope", "/commands/x", "/turns", "/turns/a/b", "/%2e%2e", "/initialize//"])
async def test_an_unknown_path_is_404_in_the_same_shape(path: str) -> None:
    async with open_house(script()) as house:
        for method in ("GET", "POST"):
            assert told(await house.client.request(method, f"{house.base}{path}"), 404)["code"] == "not_found"


async def test_a_slash_at_the_end_or_inside_an_id_is_no_matter() -> None:
    async with open_house(script()) as house:
        desk = await desk_of(house)
        assert (await desk.get("/commands/")).status_code == 200
        assert told(await desk.get("/turns/a%2Fb"), 404)["details"] == {"turn_id": "a/b"}


async def test_head_is_get_without_the_body() -> None:
    async with open_house(script()) as house:
        response = await house.client.head(f"{house.base}/openapi.json")
        assert (response.status_code, response.content) == (200, b"")
        assert int(response.headers["content-length"]) > 1000


@pytest.mark.parametrize(
    ("path", "accept", "status"),
    [
        ("/execute_command", "text/html", 406),
        ("/execute_command", "application/json;q=0", 406),
        ("/execute_command", "text/html, */*;q=0.1", 200),
        ("/commands", "text/event-stream", 406),
        ("/invoke_agent", "application/x-ndjson", 406),
        ("/invoke_agent_stream", "application/json", 406),
        ("/invoke_agent_stream", "*/*", 200),
    ],
)
async def test_a_form_that_is_not_offered_is_406(path: str, accept: str, status: int) -> None:
    async with open_house(script()) as house:
        desk = await desk_of(house)
        method = "GET" if path == "/commands" else "POST"
        response = await house.client.request(method, f"{house.base}{path}", headers={**desk.bearer, "accept": accept})
        assert response.status_code == status
        if status == 406:
            assert told(response, 406)["details"]["offered"]


# --- who may come in ---------------------------------------------------------------------------------------


async def ask_as(house: House, path: str, **headers: str) -> httpx.Response:
    return await house.client.post(f"{house.base}{path}", headers=headers)


async def test_a_foreign_host_or_origin_is_refused_and_hears_nothing_of_cors() -> None:
    async with open_house(script()) as house:
        for path in ("/initialize", "/execute_command", "/docs", "/openapi.json"):
            foreign = await ask_as(house, path, origin="https://evil.example")
            assert told(foreign, 403)["code"] == "forbidden"
            assert "access-control-allow-origin" not in foreign.headers
            assert told(await ask_as(house, path, host="evil.example"), 421)["code"] == "misdirected_request"
        assert len(house.app.supervisor) == 0


async def test_an_allowed_page_may_ask_first_and_then_call() -> None:
    page = "https://console.example"
    async with open_house(script(), allowed_origins=(page,)) as house:
        asked = {
            "origin": page,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, content-type, idempotency-key, x-session-id",
        }
        preflight = await house.client.options(f"{house.base}/execute_command", headers=asked)
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == page
        allowed = preflight.headers["access-control-allow-headers"].split(", ")
        assert set(asked["access-control-request-headers"].split(", ")) <= set(allowed)
        desk = await desk_of(house)
        for accept in ({}, NDJSON, SSE):
            called = await desk.post("/execute_command", {}, {"origin": page, **accept})
            assert (called.status_code, called.headers["access-control-allow-origin"]) == (200, page)
            assert called.headers["vary"] == "origin"
        refused = await ask_as(house, "/execute_command", origin=page)
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, page)


async def test_every_answer_carries_the_request_id_that_it_was_given() -> None:
    async with open_house(script()) as house:
        response = await house.client.get(f"{house.base}/commands", headers={"x-request-id": "abc-1"})
        assert response.headers["x-request-id"] == "abc-1"


# --- what the server cannot do -----------------------------------------------------------------------------


async def test_a_server_that_is_going_down_says_when_to_try_again() -> None:
    async with open_house(script()) as house:
        desk = await desk_of(house)
        house.app.supervisor.draining = True
        for path in ("/execute_command", "/initialize"):
            response = await desk.post(path)
            assert told(response, 503)["code"] == "draining"
            assert response.headers["retry-after"] == "5"


async def test_an_answer_that_breaks_its_own_schema_is_500_and_tells_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outputs = {"execute_command": {"type": "object", "required": ["other"]}}
    broken = Script({"execute_command": echo}, outputs=outputs)
    async with open_house(broken) as house:
        response = await (await desk_of(house)).execute("secret")
        assert told(response, 500)["code"] == "internal_error"
        assert "secret" not in response.text
        assert "does not fit its schema" in caplog.text


async def test_an_answer_that_is_no_json_is_500_before_a_stream_begins(caplog: pytest.LogCaptureFixture) -> None:
    async def nan(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
        return ToolResult([Text("x")], {"number": float("nan")})

    async with open_house(Script({"execute_command": nan})) as house:
        desk = await desk_of(house)
        for accept in ({}, NDJSON, SSE):
            told(await desk.post("/execute_command", {}, accept), 500)
        assert "request failed" in caplog.text


async def test_a_tool_that_says_itself_that_it_failed_is_422_in_its_own_words() -> None:
    async def refuse(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
        return ToolResult([Text("Not on a Sunday.")], is_error=True)

    async with open_house(Script({"execute_command": refuse})) as house:
        error = told(await (await desk_of(house)).execute("x"), 422)
        assert (error["code"], error["message"]) == ("tool_failed", "Not on a Sunday.")

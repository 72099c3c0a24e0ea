"""JSON-RPC messages: what a body may be, and what becomes of one that is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.transport.mcp import jsonrpc
from greenroom.transport.mcp.jsonrpc import Message, Notification, Request, Response
from tests.pure.test_sse import JSON


def call(**more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "ping", **more}


def reply(**more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, **more}


SOUND: list[tuple[dict[str, Any], Message]] = [
    (call(id=1), Request(1, "ping", None)),
    (call(id=0), Request(0, "ping", None)),
    (call(id=-7), Request(-7, "ping", None)),
    (call(id=""), Request("", "ping", None)),
    (call(id="a"), Request("a", "ping", None)),
    (call(id=1, params={"a": 1}), Request(1, "ping", {"a": 1})),
    (call(id=1, params=None), Request(1, "ping", None)),
    (call(id=1, more=2), Request(1, "ping", None)),
    (call(id=1, result={}), Request(1, "ping", None)),
    (call(), Notification("ping", None)),
    (call(params={}), Notification("ping", {})),
    (reply(result={}), Response(1, {}, None)),
    (reply(result={"a": 1}), Response(1, {"a": 1}, None)),
    (reply(result={}, error=None), Response(1, {}, None)),
    (reply(error={"code": 1, "message": "no"}), Response(1, None, {"code": 1, "message": "no"})),
]


@pytest.mark.parametrize(("value", "message"), SOUND)
def test_a_sound_message_is_taken_for_what_it_is(value: dict[str, Any], message: Message) -> None:
    assert jsonrpc.parse(value) == message


UNSOUND: list[tuple[Any, str]] = [
    ([], "Batches"),
    ([call(id=1)], "Batches"),
    (None, "JSON-RPC object"),
    ("ping", "JSON-RPC object"),
    (7, "JSON-RPC object"),
    (True, "JSON-RPC object"),
    ({}, "JSON-RPC object"),
    ({"method": "ping", "id": 1}, "JSON-RPC object"),
    (call(id=1, jsonrpc="1.0"), "JSON-RPC object"),
    (call(id=1, jsonrpc=2.0), "JSON-RPC object"),
    (call(id=1, jsonrpc=None), "JSON-RPC object"),
    (call(id=None), "id must be"),
    (call(id=True), "id must be"),
    (call(id=1.5), "id must be"),
    (call(id=[1]), "id must be"),
    (call(id={"a": 1}), "id must be"),
    (reply(id=None, result={}), "id must be"),
    (call(method=None), "method must be"),
    (call(method=7, id=1), "method must be"),
    (call(method=["ping"]), "method must be"),
    (call(params=[1, 2]), "params must be"),
    (call(params="x", id=1), "params must be"),
    (call(params=False), "params must be"),
    (reply(), "neither"),
    (reply(result=None), "neither"),
    (reply(result="x"), "neither"),
    (reply(result={}, error={}), "neither"),
    ({"jsonrpc": "2.0", "result": {}}, "neither"),
    ({"jsonrpc": "2.0"}, "neither"),
]


@pytest.mark.parametrize(("value", "sentence"), UNSOUND)
def test_an_unsound_body_is_told_what_is_wrong_with_it(value: Any, sentence: str) -> None:
    told = jsonrpc.parse(value)
    assert isinstance(told, str)
    assert sentence in told


def test_a_response_has_exactly_one_of_a_result_and_an_error() -> None:
    told = jsonrpc.parse(reply(result="x", error={"code": 1}))
    assert not isinstance(told, Response) or (told.result is None) != (told.error is None)


ENVELOPES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.integers() | st.text() | JSON,
        "method": st.text() | JSON,
        "params": st.dictionaries(st.text(), JSON, max_size=3) | JSON,
        "result": st.dictionaries(st.text(), JSON, max_size=3) | JSON,
        "error": st.dictionaries(st.text(), JSON, max_size=3) | JSON,
    },
)


@given(JSON | ENVELOPES)
def test_any_json_value_is_a_message_or_a_sentence(value: Any) -> None:
    told = jsonrpc.parse(value)
    match told:
        case Request(identity, method, params):
            assert isinstance(identity, str | int)
            assert not isinstance(identity, bool)
            assert isinstance(method, str)
            assert params is None or isinstance(params, dict)
        case Notification(method, params):
            assert isinstance(method, str)
            assert "id" not in value
            assert params is None or isinstance(params, dict)
        case Response(identity, result, error):
            assert isinstance(identity, str | int)
            assert isinstance(result, dict) or isinstance(error, dict)
        case _:
            assert isinstance(told, str)


# --- decoding ----------------------------------------------------------------------------------------------


@given(JSON)
def test_json_is_decoded(value: Any) -> None:
    assert jsonrpc.decode(json.dumps(value).encode()) == value


@given(st.binary(max_size=60))
def test_bytes_that_are_not_json_are_refused_with_a_value_error_and_nothing_else(body: bytes) -> None:
    try:
        jsonrpc.decode(body)
    except ValueError:
        pass


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="half"),
        pytest.param(b"{} {}", id="two"),
        pytest.param(b"NaN", id="nan"),
        pytest.param(b'{"a": Infinity}', id="infinity"),
        pytest.param(b"[-Infinity]", id="minus-infinity"),
        pytest.param(b"\xff\xfe\xff", id="no-encoding"),
        pytest.param(b'"\xc3\x28"', id="bad-utf-8"),
        pytest.param(b"'a'", id="single-quotes"),
        pytest.param(b'{"a": 1,}', id="trailing-comma"),
        pytest.param(b"[" * 200_000, id="deep-and-open"),
        pytest.param(b"[" * 200_000 + b"]" * 200_000, id="deep"),
        pytest.param(b'{"a":' * 200_000 + b"1" + b"}" * 200_000, id="deep-objects"),
        pytest.param(b"9" * 100_000, id="huge-integer"),
    ],
)
def test_what_is_not_json_or_is_a_bomb_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the sentence is not shown to anybody
        jsonrpc.decode(body)


def test_a_byte_order_mark_is_forgiven() -> None:
    assert jsonrpc.decode(b"\xef\xbb\xbf{}") == {}


def test_a_number_beyond_any_float_does_not_become_infinity() -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        jsonrpc.decode(b'{"a": 1e999}')


# --- what goes out -----------------------------------------------------------------------------------------


def test_messages_go_out_in_wire_form() -> None:
    assert jsonrpc.result(1, {"a": 1}) == {"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}
    assert jsonrpc.error("x", -32600, "no") == {"jsonrpc": "2.0", "id": "x", "error": {"code": -32600, "message": "no"}}
    assert jsonrpc.error(None, 1, "no", {"why": 2})["error"] == {"code": 1, "message": "no", "data": {"why": 2}}
    assert jsonrpc.notification("n", None) == {"jsonrpc": "2.0", "method": "n", "params": {}}
    assert jsonrpc.request("q", "m", {"a": 1}) == {"jsonrpc": "2.0", "id": "q", "method": "m", "params": {"a": 1}}


@given(st.integers() | st.text(), st.text(), st.dictionaries(st.text(), JSON, max_size=3))
def test_what_goes_out_would_be_understood_here(identity: int | str, method: str, params: dict[str, Any]) -> None:
    assert jsonrpc.parse(jsonrpc.request(identity, method, params)) == Request(identity, method, params)
    assert jsonrpc.parse(jsonrpc.notification(method, params)) == Notification(method, params)
    assert jsonrpc.parse(jsonrpc.result(identity, params)) == Response(identity, params, None)
    failed = jsonrpc.parse(jsonrpc.error(identity, 1, method))
    assert failed == Response(identity, None, {"code": 1, "message": method})

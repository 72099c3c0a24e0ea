"""Requests that differ from a plain one in exactly one respect, each of them once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

import mcp.types as t

from tests.lean.requests import STAND_INS, TOOLS, VERSIONS
from tests.lean.stage import Headers, Request
from tests.transport.playhouse import ACCEPT, MODERN

HANDLE = STAND_INS.handle


def _each(key: str, *values: Any) -> list[Mapping[str, Any]]:
    return [{key: value} for value in values]


ARGUMENTS: tuple[Mapping[str, Any], ...] = (
    {},
    {"text": "a", "count": 1, "mood": "calm", "list": [1, 2], "ratio": 0.5},
    {"text": "é"},
    {"text": "\x7f"},
    {"text": ""},
    {"count": 2},
    {"count": 4},
    {"count": True},
    {"count": 1.0},
    {"ratio": 1e-7},
    {"ratio": 10**20},
    {"list": [1, 2, 3]},
    {"mood": "angry"},
    {"unknown": 1},
    {"session_id": HANDLE},
    {"session_id": "unknown"},
    {"session_id": None},
    {"session_id": "=?base64?YQ==?="},
    {"user_id": "anna"},
    {"user_id": "default_user", "session_id": HANDLE},
    {"timeout_seconds": 1},
    {"timeout_seconds": 0},
    {"on_timeout": "defer", "timeout_seconds": 0.1},
    {"idempotency_key": "the same"},
)
TOKENS: tuple[Any, ...] = ("p", "é", 0, 7, 2**70, True, 1.5, None, [])
BODIES: tuple[Mapping[str, Any], ...] = (
    *_each("id", "one", "é", "", -1, 2**70, True, None, 1.5, [], {}),
    *_each("jsonrpc", "1.0", 2, None),
    *_each("method", "tools/list", "ping", "nothing", 7, None),
    *_each("params", None, [], {}, "x"),
    {"more": 1},
    {"result": {}},
)
PARAMS: tuple[Mapping[str, Any], ...] = (
    *_each("name", "nobody", "", 7, None, "initialize", "get_turn"),
    *_each("arguments", None, [], "x", {"a": [[[[1]]]]}),
    {"task": {}},
    {"task": 7},
    {"requestState": None},
    {"requestState": "x"},
    {"inputResponses": {}},
    {"inputResponses": None},
    {"other": 1},
)
ENVELOPES: tuple[Mapping[str, Any], ...] = (
    *_each(t.CLIENT_CAPABILITIES_META_KEY, {"elicitation": {}}, {"elicitation": 7}, [], None, {"x": 1}),
    *_each(t.CLIENT_INFO_META_KEY, {"name": "n", "version": "1"}, {"name": 7}, {}, None, "x"),
    *_each(t.LOG_LEVEL_META_KEY, "info", "debug", "loud", 7, None),
    *_each(t.PROTOCOL_VERSION_META_KEY, "2025-11-25", "2099-01-01", 7, None),
    {"vendor/x": [1], "traceparent": "00-aa"},
)
VALUES = ("", "x", "tools/call, tools/call", "=?base64?ZWNobw==?=", MODERN, "2025-03-26", "*/*", "evil.example")


def specimens() -> Iterator[Request]:
    for era in ("modern", *VERSIONS, "alone"):
        yield from _calls(era)
        yield from _bodies(era)
        yield from _headers(era)


def _calls(era: str) -> Iterator[Request]:
    for tool in TOOLS:
        for given in ARGUMENTS if tool in ("echo", "plain", "odd") else ARGUMENTS[:6]:
            yield _request(era, _body(era, tool, given))
        for token in TOKENS if tool in ("echo", "steps") else TOKENS[:2]:
            yield _request(era, _body(era, tool, {}, {"progressToken": token}))
        for length in range(16) if tool == "odd" else ():
            yield _request(era, _body(era, tool, {"x": "y" * length}))
    for envelope in ENVELOPES:
        for tool in ("echo", "notes", "steps", "asks"):
            yield _request(era, _body(era, tool, {}, envelope))


def _bodies(era: str) -> Iterator[Request]:
    plain = _body(era, "echo", {"text": "a"})
    for change in BODIES:
        yield _request(era, {**plain, **change})
    for change in PARAMS:
        yield _request(era, {**plain, "params": {**plain["params"], **change}})
    for key in plain:
        yield _request(era, {name: each for name, each in plain.items() if name != key})
    for key in plain["params"]:
        yield _request(era, {**plain, "params": {name: each for name, each in plain["params"].items() if name != key}})


def _headers(era: str) -> Iterator[Request]:
    for given in ({"text": "a"}, {"text": "a", "session_id": HANDLE}):
        plain = _request(era, _body(era, "echo", given))
        for where, (name, value) in enumerate(plain.headers):
            others = [line for number, line in enumerate(plain.headers) if number != where]
            yield Request(others, plain.body)
            yield Request([*plain.headers, (name, value)], plain.body)
            for other in VALUES:
                yield Request([*others, (name, other)], plain.body)
        for name, value in (
            ("origin", "http://localhost:1"),
            ("origin", "https://evil.example"),
            ("mcp-param-session", "x"),
        ):
            yield Request([*plain.headers, (name, value)], plain.body)


def _body(era: str, tool: str, arguments: Mapping[str, Any], meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
    params: dict[str, Any] = {"name": tool, "arguments": dict(arguments)}
    if era == "modern":
        envelope = {t.PROTOCOL_VERSION_META_KEY: MODERN, t.CLIENT_CAPABILITIES_META_KEY: {}}
        params["_meta"] = {**envelope, **(meta or {})}
    elif meta is not None:
        params["_meta"] = dict(meta)
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


def _request(era: str, body: Mapping[str, Any]) -> Request:
    return Request(_lines(era, body), json.dumps(body).encode())


def _lines(era: str, body: Mapping[str, Any]) -> Headers:
    lines = [("host", "127.0.0.1"), *ACCEPT.items()]
    if era in VERSIONS:
        return [*lines, ("mcp-protocol-version", era), ("mcp-session-id", STAND_INS.bound[era])]
    if era == "alone":
        return [*lines, ("mcp-protocol-version", VERSIONS[-1])]
    params = body.get("params")
    params = params if isinstance(params, dict) else {}
    lines += [("mcp-protocol-version", MODERN), ("mcp-method", _said(body.get("method")))]
    lines.append(("mcp-name", _said(params.get("name"))))
    given = params.get("arguments")
    if isinstance(given, dict) and given.get("session_id") is not None:
        lines.append(("mcp-param-session", _said(given["session_id"])))
    return lines


def _said(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    if text.isascii() and not text.startswith("=?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="

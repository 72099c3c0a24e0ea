"""Requests of every kind: plain ones, odd ones and broken ones, of both eras and of every version."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import mcp.types as t
from hypothesis import strategies as st

from tests.lean.stage import Answer, Headers, Request
from tests.transport.playhouse import MODERN

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
TOOLS = ("echo", "plain", "odd", "steps", "notes", "asks", "fails", "refuses", "slow", "wrong", "pictures", "never")

USUAL = ("echo", "plain", "never", "odd") * 5

_NUMBERS = st.one_of(
    st.integers(-5, 5),
    st.sampled_from([2**53, 2**63 - 1, 2**63, -(2**63) - 1, 10**25]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e-5, 1e-7, 1e16, 0.1, 1e22, -0.0]),
)
_TEXT = st.one_of(
    st.text(max_size=6), st.sampled_from(["", "a", "é", "\u2028", "\x7f", "\U0001f600", "\ud800", "x" * 40])
)
LEAVES = st.one_of(st.none(), st.booleans(), _NUMBERS, _TEXT)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXT, inner, max_size=3)),
    max_leaves=8,
)
IDS = st.one_of(
    st.integers(0, 10**6), st.sampled_from(["one", "é", "", 2**70, -1, True, None, 1.5, "\ud800"]), st.text(max_size=4)
)


@attrs.frozen
class Known:
    """What requests may refer to: a session, and connections of every version, with and without one of their own."""

    handle: str
    connections: Mapping[str, str]
    bound: Mapping[str, str]

    def put_into(self, request: Request) -> Request:
        """The request with the real ones in place of those that stand for them."""
        headers, body = request.headers, request.body
        for stands_for, real in self._pairs():
            headers = [(name, value.replace(stands_for, real)) for name, value in headers]
            body = body.replace(stands_for.encode(), real.encode())
        return Request(headers, body, request.method)

    def take_out_of(self, answer: Answer) -> Answer:
        headers, body = answer.headers, answer.body
        for stands_for, real in self._pairs():
            headers = tuple((name, value.replace(real.encode(), stands_for.encode())) for name, value in headers)
            body = body.replace(real.encode(), stands_for.encode())
        return Answer(answer.status, headers, body)

    def _pairs(self) -> Iterator[tuple[str, str]]:
        yield STAND_INS.handle, self.handle
        for version in VERSIONS:
            yield STAND_INS.connections[version], self.connections[version]
            yield STAND_INS.bound[version], self.bound[version]


STAND_INS = Known(
    "the-handle",
    {version: f"the-connection-of-{version}" for version in VERSIONS},
    {version: f"the-session-of-{version}" for version in VERSIONS},
)


def rarely(usual: st.SearchStrategy[Any], unusual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Most of what is drawn is plain, or hardly any request would be plain in all respects."""
    return st.integers(0, 29).flatmap(lambda number: unusual if number == 29 else usual)


def arguments() -> st.SearchStrategy[Any]:
    fitting = st.fixed_dictionaries(
        {},
        optional={
            "text": _TEXT,
            "count": st.integers(0, 4),
            "ratio": st.floats(0, 1),
            "mood": st.sampled_from(["calm", "stormy"]),
            "list": st.lists(st.integers(0, 9), max_size=3),
        },
    )
    options = st.fixed_dictionaries(
        {},
        optional={
            "session_id": rarely(st.just(STAND_INS.handle), st.sampled_from(["unknown", "", 7, None])),
            "user_id": st.sampled_from(["default_user", "anna"]),
        },
    )
    unusual = st.fixed_dictionaries(
        {},
        optional={
            "timeout_seconds": st.sampled_from([1, 0, 5.5, "x"]),
            "on_timeout": st.sampled_from(["cancel", "defer", "sing"]),
            "text": JSON,
            "count": JSON,
            "ratio": JSON,
            "mood": JSON,
            "list": JSON,
            "unknown": JSON,
        },
    )
    sound = st.builds(lambda own, more: {**own, **more}, fitting, rarely(st.just({}), options))
    odd = st.builds(lambda own, more: {**own, **more}, fitting, unusual)
    return rarely(rarely(sound, odd), st.one_of(JSON, st.none()))


TOKENS = rarely(st.sampled_from(["p", 1]), st.sampled_from([0, True, 1.5, None, [], "é", 2**70]))
ANYTHING_ELSE = st.dictionaries(
    st.sampled_from(["traceparent", "vendor/x", "progress_token", "", "é"]), JSON, max_size=2
)


def legacy_meta() -> st.SearchStrategy[Any]:
    given = st.fixed_dictionaries({}, optional={"progressToken": TOKENS})
    return rarely(st.builds(lambda a, b: {**a, **b}, given, ANYTHING_ELSE), st.one_of(st.none(), JSON))


def modern_meta() -> st.SearchStrategy[Any]:
    capabilities = rarely(
        st.sampled_from([{}, {"elicitation": {}}, {"elicitation": {"form": {}}, "sampling": {}}, {"roots": {}}]),
        st.one_of(JSON, st.just({"elicitation": 7}), st.just({"experimental": {"x": 1}})),
    )
    info = rarely(st.just({"name": "test", "version": "1"}), JSON)
    given = st.fixed_dictionaries(
        {
            t.PROTOCOL_VERSION_META_KEY: rarely(
                st.just(MODERN), st.sampled_from(["2025-11-25", "2099-01-01", 7, None])
            ),
            t.CLIENT_CAPABILITIES_META_KEY: capabilities,
        },
        optional={t.CLIENT_INFO_META_KEY: info, "progressToken": TOKENS},
    )
    logging = st.fixed_dictionaries({t.LOG_LEVEL_META_KEY: st.sampled_from(["info", "debug", "loud", None])})
    more = st.one_of(ANYTHING_ELSE, rarely(st.just({}), logging))
    return rarely(st.builds(lambda a, b: {**a, **b}, given, more), st.one_of(st.none(), JSON))


@st.composite
def bodies(draw: st.DrawFn, meta: st.SearchStrategy[Any]) -> dict[str, Any]:
    params: Any = {
        "name": draw(rarely(st.sampled_from((*TOOLS, *USUAL)), st.sampled_from(["nobody", "get_turn", "", 7, None])))
    }
    if draw(rarely(st.just(True), st.just(False))):
        params["arguments"] = draw(arguments())
    if draw(st.booleans()):
        params["_meta"] = draw(meta)
    params |= draw(
        rarely(
            st.just({}),
            st.dictionaries(st.sampled_from(["task", "requestState", "inputResponses", "other"]), JSON, max_size=2),
        )
    )
    body = {
        "jsonrpc": draw(rarely(st.just("2.0"), st.sampled_from(["1.0", 2, None]))),
        "id": draw(rarely(st.integers(0, 10**6), IDS)),
        "method": draw(rarely(st.just("tools/call"), st.sampled_from(["tools/list", "ping", "nothing", 7]))),
        "params": draw(rarely(st.just(params), st.one_of(st.none(), st.just([]), st.just({})))),
    }
    dropped = draw(rarely(st.just(None), st.sampled_from(list(body))))
    body |= draw(rarely(st.just({}), st.dictionaries(st.sampled_from(["result", "error", "more"]), JSON, max_size=1)))
    return {key: value for key, value in body.items() if key != dropped}


@st.composite
def encoded(draw: st.DrawFn, body: Any) -> bytes:
    text = json.dumps(body, ensure_ascii=draw(st.booleans()))
    plain = text.encode("utf-8", "surrogatepass")
    nested = "[" * 300 + "]" * 300
    odd = {
        "batch": f"[{text}]".encode("utf-8", "surrogatepass"),
        "bom": b"\xef\xbb\xbf" + plain,
        "utf-16": text.encode("utf-16", "surrogatepass"),
        "cut": plain[:-1],
        "more": plain + b" x",
        "nan": plain.replace(b": 1", b": NaN", 1),
        "infinite": plain.replace(b": 1", b": 1e400", 1),
        "bytes": plain.replace(b"a", b"\xff", 1),
        "twice": plain.replace(b"{", b'{"id": 5, ', 1),
        "deep": plain.replace(b"{", b'{"deep": ' + nested.encode() + b", ", 1),
        "deeper": b"[" * 2000 + b"]" * 2000,
        "empty": b"",
    }
    chosen: bytes = draw(rarely(st.just(plain), st.sampled_from(list(odd.values()))))
    return chosen


def _said(value: Any) -> str:
    """As a client writes a value into a header."""
    text = value if isinstance(value, str) else json.dumps(value)
    if text.isascii() and text.isprintable() and text == text.strip():
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


@st.composite
def headers_of(draw: st.DrawFn, body: Any, version: str | None, *, modern: bool) -> Headers:
    lines: list[tuple[str, str]] = [
        ("host", draw(rarely(st.just("127.0.0.1"), st.sampled_from(["localhost:8000", "evil.example", ""])))),
        (
            "content-type",
            draw(
                rarely(
                    st.just("application/json"), st.sampled_from(["text/plain", "application/json; charset=utf-8", ""])
                )
            ),
        ),
        (
            "accept",
            draw(
                rarely(
                    st.just("application/json, text/event-stream"),
                    st.sampled_from(["*/*", "application/json", "text/html", ""]),
                )
            ),
        ),
    ]
    origin = draw(rarely(st.just(None), st.sampled_from(["http://localhost:3000", "https://evil.example", "null"])))
    if origin is not None:
        lines.append(("origin", origin))
    if version is not None:
        lines.append(("mcp-protocol-version", version))
    if modern:
        params = body.get("params") if isinstance(body, dict) else None
        params = params if isinstance(params, dict) else {}
        given = params.get("arguments")
        lines.append(("mcp-method", _said(body.get("method", ""))))
        lines.append(("mcp-name", _said(params.get("name", ""))))
        if isinstance(given, dict) and given.get("session_id") is not None:
            lines.append(("mcp-param-session", _said(given["session_id"])))
    elif (
        session := draw(rarely(st.sampled_from([STAND_INS.connections, STAND_INS.bound]), st.just(None)))
    ) is not None:
        lines.append(("mcp-session-id", session[version or VERSIONS[1]]))
    else:
        lines += draw(st.sampled_from([[], [("mcp-session-id", "unknown")]]))
    odd = draw(rarely(st.just("none"), st.sampled_from(["drop", "twice", "change"])))
    where = draw(st.integers(0, len(lines) - 1))
    if odd == "drop":
        del lines[where]
    elif odd == "twice":
        lines.append(lines[where])
    elif odd == "change":
        lines[where] = (
            lines[where][0],
            draw(st.sampled_from(["", "x", "tools/call, tools/call", "=?base64?YQ==?=", MODERN])),
        )
    return lines


@st.composite
def requests(draw: st.DrawFn) -> Request:
    modern = draw(st.booleans())
    if modern:
        version: str | None = draw(rarely(st.just(MODERN), st.sampled_from(["2099-01-01", *VERSIONS])))
    else:
        version = draw(rarely(st.sampled_from(VERSIONS), st.sampled_from([None])))
    body = draw(bodies(modern_meta() if modern else legacy_meta()))
    headers = draw(headers_of(body, version, modern=modern))
    return Request(headers, draw(encoded(body)))

"""The head of a request: its line and its headers, from bytes to a value or a refusal. Pure.

The grammar is strict, because what stands in front of us may read a request in another way than we do, and whoever
finds the difference can smuggle one past it. So nothing that is doubtful is repaired: no folded header, no line that
ends in LF alone, no space before a colon, no second length, no coding besides chunked.

Two expressions do the work, and both are linear: no part of either can match in two ways.
"""

from __future__ import annotations

import re
from typing import Final

import attrs

from greenroom.transport.http1.limits import Limits

Field = tuple[bytes, bytes]

TOKEN: Final = rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+"
_REQUEST_LINE: Final = re.compile(rb"(" + TOKEN + rb") ([\x21-\x7e]+) HTTP/([0-9]\.[0-9])\r\n")
FIELD: Final = re.compile(rb"^(" + TOKEN + rb"):([^\x00-\x08\x0a-\x1f\x7f]*)\r\n", re.MULTILINE)
"""One line. Every match begins where a line begins and holds one line feed, its last byte: so there are as many
matches as line feeds exactly if every line is a header."""

_METHOD: Final = re.compile(rb"[A-Z][-A-Z_]{0,31}")
_METHODS: Final = frozenset({b"GET", b"POST", b"DELETE", b"HEAD", b"OPTIONS", b"PUT", b"PATCH"})
"""Those that need no second look."""
_ABSOLUTE: Final = re.compile(rb"[Hh][Tt][Tt][Pp][Ss]?://.+")
_HOST: Final = re.compile(rb"(?:[-A-Za-z0-9._~!$&'()*+,;=%]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
_LONGEST_LENGTH: Final = 18
"""Digits of a Content-Length; with more of them it is an attack on somebody's integers."""
_SPECIAL: Final = frozenset({b"host", b"content-length", b"transfer-encoding", b"connection", b"upgrade", b"expect"})


@attrs.frozen
class Refusal:
    """Why a request is not taken. The connection ends with it: after a doubt about where a request ends, none is left
    about where the next begins."""

    status: int
    reason: str


@attrs.define
class Head:
    """A value, though not a frozen one: it is made for every request, and freezing it costs as much as reading it."""

    method: str
    target: bytes
    version: str
    headers: list[Field]
    length: int
    """Of the body; -1 is chunked."""
    keep_alive: bool
    expects_continue: bool
    host: bytes
    upgrade: bytes
    """What Hypercorn is to change the connection to, if anything: h2c or websocket."""


def parse_head(data: bytes, start: int, end: int, limits: Limits) -> Head | Refusal:
    """Read `data[start:end]`, which ends with the first empty line and holds no other."""
    line = _REQUEST_LINE.match(data, start, end)
    if line is None:
        return Refusal(400, "not a request line")
    method, target, version = line.groups()
    if version != b"1.1" and version != b"1.0":
        return Refusal(505, "neither HTTP/1.1 nor HTTP/1.0")
    if not _is_target(target, method):
        return Refusal(501, "not a proxy") if method == b"CONNECT" else Refusal(400, "not a target")
    if method not in _METHODS and _METHOD.fullmatch(method) is None:
        return Refusal(501, "not a method that is known here")
    # The empty line is left out; the line feed before it belongs to the last header.
    found = FIELD.findall(data, line.end(), end - 2)
    if len(found) != data.count(b"\n", line.end(), end - 2):
        return Refusal(400, "not a header line")
    if len(found) > limits.fields:
        return Refusal(431, "too many headers")
    headers = [(name.lower(), value.strip()) for name, value in found]
    return _framed(method, target, version, headers)


def _is_target(target: bytes, method: bytes) -> bool:
    if b"#" in target:
        return False
    if target.startswith(b"/") or _ABSOLUTE.fullmatch(target) is not None:
        return True
    return target == b"*" and method == b"OPTIONS"


def _framed(method: bytes, target: bytes, version: bytes, headers: list[Field]) -> Head | Refusal:
    """What the headers say about the connection and the body."""
    said = _said(headers)
    if isinstance(said, Refusal):
        return said
    host, length, chunked, connection, upgrade, expect = said
    modern = version == b"1.1"
    if (host is None and modern) or (host is not None and _HOST.fullmatch(host) is None):
        return Refusal(400, "no Host, or not a sound one")
    if chunked and (length is not None or not modern):
        return Refusal(400, "Transfer-Encoding beside Content-Length, or in HTTP/1.0")
    has_body = chunked or length is not None
    return Head(
        method.decode("ascii"),
        target,
        "1.1" if modern else "1.0",
        headers,
        -1 if chunked else length or 0,
        # HTTP/1.0 clients that want to keep a connection have to say so in a way that proxies get wrong.
        modern and (b"close" not in connection or b"close" not in tokens(connection)),
        modern and b"100-continue" in expect and b"100-continue" in tokens(expect),
        host or b"",
        _upgrade(upgrade, connection, method, has_body) if upgrade else b"",
    )


def _said(headers: list[Field]) -> tuple[bytes | None, int | None, bool, bytes, bytes, bytes] | Refusal:
    """The values of the headers that matter here: host, length, whether in chunks, connection, upgrade, expect."""
    host = length = None
    chunked = False
    connection = upgrade = expect = b""
    for name, value in headers:
        if name not in _SPECIAL:
            continue
        if name == b"host":
            if host is not None:
                return Refusal(400, "more than one Host")
            host = value
        elif name == b"content-length":
            # The digits of bytes are those of ASCII, no sign and no underscore among them.
            if length is not None or not value.isdigit() or len(value) > _LONGEST_LENGTH:
                return Refusal(400, "not a single plain Content-Length")
            length = int(value)
        elif name == b"transfer-encoding":
            if chunked or value.lower() != b"chunked":
                return Refusal(501, "a Transfer-Encoding other than chunked")
            chunked = True
        elif name == b"connection":
            connection += b"," + value.lower()
        elif name == b"upgrade":
            upgrade = value.lower()
        else:
            expect += b"," + value.lower()
    return host, length, chunked, connection, upgrade, expect


def tokens(value: bytes) -> list[bytes]:
    return [token.strip(b" \t") for token in value.lower().split(b",")]


def _upgrade(upgrade: bytes, connection: bytes, method: bytes, has_body: bool) -> bytes:
    """The upgrades that Hypercorn carries out, under its conditions. It ignores all others, as is allowed."""
    if upgrade == b"websocket" and method == b"GET" and b"upgrade" in tokens(connection):
        return upgrade
    return upgrade if upgrade == b"h2c" and not has_body else b""

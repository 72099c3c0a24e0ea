"""HTTP/1.1 and MCP as the load client speaks them: request bytes out, responses in. Pure.

Made for speed, not for strangers: it reads what a well-behaved server writes, and says `Malformed` to anything else.
The strict reading of HTTP is the business of the servers, and of their own tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import orjson

LEGACY, MODERN = "2025-11-25", "2026-07-28"

_NO_BODY = frozenset({202, 204})


class Malformed(Exception):
    """What came is not a response that this client can read."""


@attrs.frozen(slots=True)
class Response:
    status: int
    head: bytes
    body: bytes

    def header(self, name: bytes) -> str | None:
        """The header's value; `name` in lower case."""
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.lower() == name:
                return value.strip().decode("latin-1")
        return None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The JSON-RPC messages, whether they came as one object or as a stream of events."""
        if self.body.startswith(b"{"):
            return [orjson.loads(self.body)]
        # A field may or may not have a blank behind its colon, and a line may end either way.
        lines = self.body.split(b"\n")
        return [orjson.loads(line[5:]) for line in lines if line.startswith(b"data:") and line[5:].strip()]


@attrs.define(slots=True)
class Reader:
    """Puts the responses of one connection together from the pieces that arrive."""

    _data: bytes = b""
    _head: bytes | None = None
    _body_from: int = 0
    _length: int | None = None

    def feed(self, data: bytes) -> Response | None:
        """The response, once all of it has come. There is one at a time: nothing is pipelined."""
        self._data = self._data + data if self._data else data
        if self._head is None and not self._read_head():
            return None
        body = self._body()
        if body is None:
            return None
        assert self._head is not None
        response = Response(int(self._head[9:12]), self._head, body)
        self._data, self._head = b"", None
        return response

    def _read_head(self) -> bool:
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            return False
        self._head, self._body_from = self._data[:end], end + 4
        if not self._head.startswith(b"HTTP/1.1 "):
            raise Malformed(repr(self._head[:80]))
        self._length = self._said_length(self._head.lower())
        return True

    def _said_length(self, head: bytes) -> int | None:
        """How long the body is; None if it comes in chunks."""
        at = head.find(b"\r\ncontent-length:")
        if at >= 0:
            return int(head[at + 17 :].partition(b"\r\n")[0])
        if b"\r\ntransfer-encoding: chunked" in head:
            return None
        if int(head[9:12]) in _NO_BODY:
            return 0
        raise Malformed("neither a length nor chunks: " + repr(head[:200]))

    def _body(self) -> bytes | None:
        if self._length is None:
            return self._chunks() if self._data.endswith(b"0\r\n\r\n") else None
        have = len(self._data) - self._body_from
        if have > self._length:
            raise Malformed("more than one response")
        return self._data[self._body_from :] if have == self._length else None

    def _chunks(self) -> bytes | None:
        """All chunks as one, if the last one is there: a chunk may well end as the last one does."""
        parts: list[bytes] = []
        at = self._body_from
        while True:
            line = self._data.find(b"\r\n", at)
            if line < 0:
                return None
            size = int(self._data[at:line].partition(b";")[0], 16)
            at = line + 2
            if size == 0:
                return b"".join(parts)
            parts.append(self._data[at : at + size])
            at += size + 2


def request(method: str, host: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    lines = [f"{method} /mcp HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers.items())]
    if method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


_JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "User-Agent": "bench"}


def legacy_headers(session: str | None = None) -> dict[str, str]:
    named = {} if session is None else {"Mcp-Session-Id": session, "Mcp-Protocol-Version": LEGACY}
    return {**_JSON, **named}


def modern_headers(method: str, name: str, session: str | None = None) -> dict[str, str]:
    mirrored = {} if session is None else {"Mcp-Param-Session": session}
    return {**_JSON, "Mcp-Protocol-Version": MODERN, "Mcp-Method": method, "Mcp-Name": name, **mirrored}


@attrs.frozen(slots=True)
class Template:
    """A POST whose JSON-RPC id is filled in at the last moment; always nine digits, so that its length is known."""

    before: bytes
    after: bytes

    @classmethod
    def of(cls, host: str, headers: Mapping[str, str], method: str, params: Mapping[str, Any]) -> Template:
        mark = b"777777777"
        message = {"jsonrpc": "2.0", "id": int(mark), "method": method, "params": params}
        before, found, after = request("POST", host, headers, orjson.dumps(message)).partition(b'"id":' + mark)
        assert found
        assert mark not in after
        return cls(before + b'"id":', after)

    def fill(self, number: int) -> bytes:
        """`number` is from 100,000,000 to 999,999,999: JSON has no leading zeros."""
        return b"%b%d%b" % (self.before, number, self.after)


def modern_params(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    envelope = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"name": name, "arguments": arguments, "_meta": envelope}


def handshake(host: str) -> bytes:
    info = {"name": "bench", "version": "1"}
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info}
    body = orjson.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    return request("POST", host, legacy_headers(), body)


def initialized(host: str, session: str) -> bytes:
    body = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    return request("POST", host, legacy_headers(session), body)


def farewell(host: str, session: str) -> bytes:
    return request("DELETE", host, legacy_headers(session))

"""One line per request: what was asked for, how it went, how long it took. Never an argument, a token or a body.

A path that names a user is cut short before the name.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs
import trio

from greenroom.transport.http import Scope, Send, is_our_connection
from greenroom.transport.logs import LineHandler

if TYPE_CHECKING:
    from greenroom.transport.spans import RequestSpan

log = logging.getLogger("greenroom.request")

_SOUND_ID = re.compile(r"[A-Za-z0-9._~:-]{1,128}")
_SOUND_NAME = re.compile(r"[A-Za-z0-9_./:-]{1,128}")
_NAMES_A_USER = "/admin/users/"


@attrs.define(eq=False)
class RequestRecord:
    method: str
    path: str
    request_id: str
    started: float
    status: int | None = None
    rpc_method: str | None = None
    tool: str | None = None
    client_gone: bool = False
    our_connection: bool = False
    span: RequestSpan | None = None

    @classmethod
    def of(cls, scope: Scope) -> RequestRecord:
        given = ""
        for name, value in scope["headers"]:
            if len(name) == 12 and name.lower() == b"x-request-id":
                given = value.decode("latin-1")
                break
        request_id = given if given and _SOUND_ID.fullmatch(given) else secrets.token_hex(8)
        path = _without_user(scope["path"])
        return cls(scope["method"], path, request_id, trio.current_time(), our_connection=is_our_connection(scope))

    def note_call(self, body: Any) -> None:
        """Remember which method and tool a JSON-RPC body names, if those are names and nothing else."""
        match body:
            case {"method": str(method), "params": {"name": str(name)}} if method == "tools/call":
                self.rpc_method, self.tool = method, _sound(name)
            case {"method": str(method)}:
                self.rpc_method = _sound(method)
        if self.span is not None and isinstance(body, dict):
            params = body.get("params")
            self.span.named(self.rpc_method, self.tool, params.get("_meta") if isinstance(params, dict) else None)

    def watching(self, send: Send) -> WatchedSend:
        """A `send` that remembers the status and gives the response its request id."""
        return WatchedSend(self, send)

    def write(self) -> None:
        if not log.isEnabledFor(logging.INFO):
            return
        duration = round((trio.current_time() - self.started) * 1000, 2)
        known = (self.method, self.path, self.rpc_method, self.tool, self.status)
        handler = LineHandler.sole(log)
        if handler is not None and not self.client_gone:
            # The id is one that needs no quoting: it was looked at, or made here.
            handler.write_info(_beginning(known), f'"duration_ms": {duration!r}, "request_id": "{self.request_id}"')
            return
        fields = {**_fields(known), "duration_ms": duration, "request_id": self.request_id}
        log.info("request", extra={**fields, "client_gone": True} if self.client_gone else fields)


Known = tuple[str, str, str | None, str | None, int | None]
"""What is the same in one request after the other: method, path, the call's method and tool, status."""


def _fields(known: Known) -> dict[str, str | int]:
    names = ("method", "path", "rpc_method", "tool", "status")
    return {name: value for name, value in zip(names, known, strict=True) if value is not None}


@lru_cache(maxsize=256)
def _beginning(known: Known) -> str:
    return json.dumps({"logger": log.name, "message": "request", **_fields(known)})[1:-1]


def _without_user(path: str) -> str:
    return f"{_NAMES_A_USER}…" if path.startswith(_NAMES_A_USER) else path


def _sound(name: str) -> str | None:
    return name if _SOUND_NAME.fullmatch(name) else None


class WatchedSend:
    """It cannot be cancelled half-way, which matters at both ends of a response.

    Hypercorn counts a response as begun only after its first bytes have gone out: an application that is cancelled in
    between makes it begin a second one, and the error that follows takes the whole server down. And it reports a
    finished response as a disconnect, from within the last `send`: Quart-Trio cancels itself on that, and with it
    Hypercorn's re-arming of the keep-alive timer, so that the connection would stay open for ever.
    What bounds the wait is the kernel: see `serving`.
    """

    __slots__ = ("_record", "_send")

    def __init__(self, record: RequestRecord, send: Send) -> None:
        self._record = record
        self._send = send

    @property
    def is_ours(self) -> bool:
        """Whether it leads to a connection of ours."""
        return self._record.our_connection

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            message = self._begun(message)
        # Hypercorn says goodbye to a client that hung up without waiting for its own sends to end.
        with trio.CancelScope(shield=True), suppress(trio.BusyResourceError):
            await self._send(message)

    async def steady(self, message: Any) -> None:
        """For a caller who is cancelled only if the client has left: our own connection needs no shield then."""
        if not self._record.our_connection:
            await self(message)
            return
        if message["type"] == "http.response.start":
            message = self._begun(message)
        await self._send(message)

    def _begun(self, message: Any) -> Any:
        self._record.status = message["status"]
        return {**message, "headers": [*message.get("headers", ()), self._request_id()]}

    async def whole(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        """A response that is complete, behind one shield, or none where none is needed."""
        self._record.status = status
        headers.append(self._request_id())
        if self._record.our_connection:
            await self._whole(status, headers, body)
            return
        with trio.CancelScope(shield=True), suppress(trio.BusyResourceError):
            await self._whole(status, headers, body)

    async def _whole(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    def _request_id(self) -> tuple[bytes, bytes]:
        return b"x-request-id", self._record.request_id.encode("ascii")

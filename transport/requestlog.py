"""One line per request: what was asked for, how it went, how long it took. Never an argument, a token or a body."""

from __future__ import annotations

import logging
import re
import secrets
from contextlib import suppress
from typing import Any

import attrs
import trio

from greenroom.transport.http import Scope, Send

log = logging.getLogger("greenroom.request")

_SOUND_ID = re.compile(r"[A-Za-z0-9._~:-]{1,128}")
_SOUND_NAME = re.compile(r"[A-Za-z0-9_./:-]{1,128}")


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

    @classmethod
    def of(cls, scope: Scope) -> RequestRecord:
        given = next((value for name, value in scope["headers"] if name.lower() == b"x-request-id"), b"")
        text = given.decode("latin-1")
        request_id = text if _SOUND_ID.fullmatch(text) else secrets.token_hex(8)
        return cls(scope["method"], scope["path"], request_id, trio.current_time())

    def note_call(self, body: Any) -> None:
        """Remember which method and tool a JSON-RPC body names, if those are names and nothing else."""
        match body:
            case {"method": str(method), "params": {"name": str(name)}} if method == "tools/call":
                self.rpc_method, self.tool = method, _sound(name)
            case {"method": str(method)}:
                self.rpc_method = _sound(method)

    def watching(self, send: Send) -> Send:
        """A `send` that remembers the status and gives the response its request id.

        It cannot be cancelled half-way, which matters at both ends of a response. Hypercorn counts a response
        as begun only after its first bytes have gone out: an application that is cancelled in between makes it
        begin a second one, and the error that follows takes the whole server down. And it reports a finished
        response as a disconnect, from within the last `send`: Quart-Trio cancels itself on that, and with it
        Hypercorn's re-arming of the keep-alive timer, so that the connection would stay open for ever.
        What bounds the wait is the kernel: see `serving`.
        """

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                headers = [*message.get("headers", ()), (b"x-request-id", self.request_id.encode("ascii"))]
                message = {**message, "headers": headers}
            # Hypercorn says goodbye to a client that hung up without waiting for its own sends to end.
            with trio.CancelScope(shield=True), suppress(trio.BusyResourceError):
                await send(message)

        return watched

    def write(self) -> None:
        fields = {
            "method": self.method,
            "path": self.path,
            "rpc_method": self.rpc_method,
            "tool": self.tool,
            "status": self.status,
            "duration_ms": round((trio.current_time() - self.started) * 1000, 2),
            "request_id": self.request_id,
            "client_gone": self.client_gone or None,
        }
        log.info("request", extra={key: value for key, value in fields.items() if value is not None})


def _sound(name: str) -> str | None:
    return name if _SOUND_NAME.fullmatch(name) else None

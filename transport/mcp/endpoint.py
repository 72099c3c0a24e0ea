"""The door: `/mcp` as an ASGI callable. Who may come in, in which era they speak, and who serves them.

It decides on the HTTP level only. A body that carries the newer era's envelope is judged by the newer rules
whatever its headers say, so that a client that disagrees with itself is told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import mcp.types as t
import trio
from mcp.server.subscriptions import ListenHandler
from opentelemetry import trace

from greenroom.actors.supervisor import Supervisor
from greenroom.transport import plainjson
from greenroom.transport.guard import Guard
from greenroom.transport.http import BodyRefused, ClientGone, Receive, Scope, Send, folded, read_body
from greenroom.transport.mcp import jsonrpc
from greenroom.transport.mcp.answers import Incoming, respond_json
from greenroom.transport.mcp.begun import Begun
from greenroom.transport.mcp.handlers import Handlers, make_server
from greenroom.transport.mcp.lean import Lean
from greenroom.transport.mcp.legacy_http import Legacy, speaks_legacy
from greenroom.transport.mcp.modern import Modern
from greenroom.transport.mcp.news import ChangeBus, modern_event, tell_legacy
from greenroom.transport.requestlog import RequestRecord
from greenroom.workflow.events import Change

PATHS = frozenset({"/mcp", "/mcp/"})

_ALLOWED = b"GET, POST, DELETE, OPTIONS"
_CLOSE = (b"connection", b"close")


class Endpoint:
    def __init__(self, supervisor: Supervisor, guard: Guard, *, body_limit: int, version: str) -> None:
        self._guard = guard
        self._body_limit = body_limit
        self._bus = ChangeBus()
        self._listen = ListenHandler(self._bus)
        handlers = Handlers(supervisor)
        workflow = supervisor.workflow
        server = make_server(
            handlers, self._listen, name="greenroom", version=version, instructions=workflow.description
        )
        self._modern = Modern(server, handlers)
        limits = supervisor.limits
        self.legacy = Legacy(server, ttl=limits.session_ttl, max_connections=limits.max_sessions)
        self.lean = Lean(supervisor, handlers, server, self.legacy)
        self.lean_way = True
        """Whether plain calls are taken the short way; the answers are the same."""
        supervisor.on_change(self._on_change)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Live until cancelled, with everything that runs beside the requests."""
        if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            # The kernel's spans are wanted, so every call has to go through it.
            self.lean_way = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.lean.moment.run)
            await nursery.start(self.legacy.run)
            task_status.started()

    def drain(self) -> None:
        """End the streams that would never end by themselves, politely."""
        self._listen.close()
        self.legacy.drain()

    def _on_change(self, change: Change) -> None:
        self._bus.publish_now(modern_event(change))
        tell_legacy(change, self.legacy.connections)

    async def __call__(self, scope: Scope, receive: Receive, send: Send, record: RequestRecord) -> None:
        raw = scope["headers"]
        headers = folded(raw)
        try:
            # Before anything else, whatever the answer: a body that is left unread holds Hypercorn's task.
            body = await read_body(receive, headers, self._body_limit, minded=record.our_connection)
        except ClientGone:
            record.client_gone = True
            return
        origin = headers.get("origin")
        refusal = self._guard.check(headers.get("host"), origin)
        if refusal is not None:
            await _refuse(Incoming(scope["method"], headers, raw, receive, send), refusal.status, refusal.message)
            return
        incoming = Incoming(scope["method"], headers, raw, receive, send, _cross_origin(origin))
        if isinstance(body, BodyRefused):
            await _refuse(incoming, body.status, body.message, close=True)
            return
        await self._route(incoming, body, record)

    async def _route(self, incoming: Incoming, body: bytes, record: RequestRecord) -> None:
        legacy = speaks_legacy(incoming.headers)
        json_ok, sse_ok = accepted(incoming.headers.get("accept", ""))
        match incoming.method:
            case "POST" if json_ok and sse_ok:
                await self._post(incoming, body, record)
            case "POST":
                await _refuse(incoming, 406, "A client must accept both application/json and text/event-stream")
            case "GET" if legacy and sse_ok:
                await self.legacy.get(incoming)
            case "GET" if legacy:
                await _refuse(incoming, 406, "A client must accept text/event-stream here")
            case "DELETE" if legacy:
                await self.legacy.delete(incoming)
            case "OPTIONS":
                await incoming.respond(204, headers=[(b"allow", _ALLOWED)])
            case _:
                await incoming.respond(405, headers=[(b"allow", _ALLOWED if legacy else b"POST, OPTIONS")])

    async def _post(self, incoming: Incoming, body: bytes, record: RequestRecord) -> None:
        if not _is_json(incoming.headers.get("content-type", "")):
            await _refuse(incoming, 415, "The content type must be application/json")
            return
        shortcut = await self._try_the_short_way(incoming, body, record)
        if shortcut is True:
            return
        try:
            value = jsonrpc.decode(body)
        except ValueError:
            await respond_json(incoming, jsonrpc.error(None, t.PARSE_ERROR, "The body is not valid JSON"), 400)
            return
        if record.rpc_method is None:
            record.note_call(value)
        era = self.legacy if _is_legacy(incoming, value) else self._modern
        begun = shortcut or None
        try:
            await era.post(incoming, value, begun)
        finally:
            if begun is not None and not begun.claimed:
                begun.let_go()

    async def _try_the_short_way(self, incoming: Incoming, body: bytes, record: RequestRecord) -> Begun | bool:
        value = plainjson.read(body) if self.lean_way else None
        if value is None:
            return False
        call = self.lean.recognise(incoming.headers, value, legacy=_is_legacy(incoming, value))
        if call is None:
            return False
        record.note_call(value)
        return await self.lean.serve(incoming, call)


@lru_cache(maxsize=64)
def accepted(accept: str) -> tuple[bool, bool]:
    """Whether JSON, and whether a stream of events, is among what the client accepts."""
    kinds = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    return (
        not kinds.isdisjoint({"*/*", "application/*", "application/json"}),
        not kinds.isdisjoint({"*/*", "text/*", "text/event-stream"}),
    )


@lru_cache(maxsize=64)
def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"


def claims_modern(value: Any) -> bool:
    """Whether a body carries the newer era's envelope. The handshake belongs to the older one regardless."""
    match value:
        case {"method": str(method), "params": {"_meta": Mapping() as meta}} if method != "initialize":
            return t.PROTOCOL_VERSION_META_KEY in meta
        case _:
            return False


def _is_legacy(incoming: Incoming, value: Any) -> bool:
    return speaks_legacy(incoming.headers) and not claims_modern(value)


async def _refuse(incoming: Incoming, status: int, sentence: str, *, close: bool = False) -> None:
    answer = jsonrpc.error(None, t.INVALID_REQUEST, sentence)
    await respond_json(incoming, answer, status, headers=[_CLOSE] if close else [])


def _cross_origin(origin: str | None) -> list[tuple[bytes, bytes]]:
    """What a browser needs to hear before it shows the answer to the page; the origin has been checked."""
    if origin is None:
        return []
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-allow-methods", _ALLOWED),
        (
            b"access-control-allow-headers",
            b"accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-param-session, "
            b"mcp-protocol-version, mcp-session-id, x-request-id",
        ),
        (b"access-control-expose-headers", b"mcp-session-id, retry-after, x-request-id"),
        (b"vary", b"origin"),
    ]

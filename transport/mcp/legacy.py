"""The older era, up to 2025-11-25: connections that begin with a handshake and are known by `Mcp-Session-Id`.

A connection is cheap and has no task of its own. It remembers what was negotiated, which requests of the
client are being worked on, which questions of ours are unanswered, and the logs of its streams, so that a
client that lost its connection can come back with `Last-Event-ID`. It may be bound to a session handle, whose
alias it then is. Here a disconnect does not cancel a request; `notifications/cancelled` does.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Protocol

import trio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.models import InitializationOptions
from mcp.server.runner import ServerRunner
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_PARAMS, InitializeRequestParams

from greenroom.transport import sse
from greenroom.transport.mcp import jsonrpc, wire
from greenroom.transport.mcp.exchange import Exchange, Write
from greenroom.transport.mcp.faults import answer_to
from greenroom.transport.mcp.streams import StreamLog
from greenroom.workflow.events import Level
from greenroom.workflow.questions import Ability

KEPT_STREAMS = 16
"""Finished streams that a connection keeps for a client that may come back for their end."""

MAX_SUBSCRIPTIONS = 256

MAX_KNOWN_CLIENTS = 256

STANDING = "standing"
"""The name of the stream that GET opens, for what belongs to no request."""


_EVENT_NUMBER = re.compile(r"[0-9]{1,9}")

_NOTHING_TO_CLOSE = AsyncExitStack()
"""Shared by all connections: nothing here is ever pushed on it, and one of their own is half of their size."""

_known_clients: dict[str, InitializeRequestParams] = {}
"""What clients said of themselves, each kind kept once: thousands of connections come from a few programs."""


class Cancellable(Protocol):
    def cancel(self) -> None: ...


class LegacyConnection:
    """To the kernel this is also the `Outbound` of the connection's standing stream."""

    __slots__ = (
        "_asked",
        "_kernel",
        "_options",
        "_questions",
        "_server",
        "_streams",
        "_working",
        "handle",
        "id",
        "log_level",
        "readers",
        "registered",
        "subscriptions",
    )

    def __init__(self, server: Server[Any], options: InitializationOptions | None, version: str | None = None) -> None:
        """With a `version` it serves one call of a client that never shook hands, and is in no table."""
        self.id = secrets.token_urlsafe(24)
        self.registered = version is None
        self.handle: str | None = None
        """The session that this connection is an alias for."""
        self.log_level: Level | None = None
        self.subscriptions: frozenset[str] = frozenset()
        self.readers = 0
        self._server = server
        self._options = options
        self._kernel = (
            Connection.for_loop(self, session_id=self.id)
            if version is None
            else Connection.from_envelope(version, None, None)
        )
        self._kernel.exit_stack = _NOTHING_TO_CLOSE
        self._working: dict[jsonrpc.Id, Cancellable] = {}
        self._asked: dict[jsonrpc.Id, _Pending] = {}
        self._questions = 0
        self._streams: dict[str, StreamLog] = {}

    @property
    def idle(self) -> bool:
        return not self._working and not self.readers

    @property
    def in_flight(self) -> int:
        return len(self._working)

    @property
    def version(self) -> str:
        return self._kernel.protocol_version

    @property
    def abilities(self) -> frozenset[Ability]:
        """What the client can be asked; nothing, if it cannot be reached in mid-call."""
        return wire.abilities(self._kernel.client_capabilities) if self.registered else frozenset()

    # --- messages of the client ----------------------------------------------------------------------------

    def begin(self, request: jsonrpc.Request) -> trio.CancelScope:
        """Take a request on. What `notifications/cancelled` will cancel is in use from here to its answer."""
        scope = trio.CancelScope()
        self.take_on(request.id, scope)
        return scope

    def take_on(self, request_id: jsonrpc.Id, work: Cancellable) -> None:
        self._working[request_id] = work

    def end(self, request_id: jsonrpc.Id, work: Cancellable) -> None:
        if self._working.get(request_id) is work:
            del self._working[request_id]

    async def answer(
        self, request: jsonrpc.Request, exchange: Exchange, scope: trio.CancelScope | None = None
    ) -> dict[str, Any]:
        """Carry out a request; whatever happens, the result is its response."""
        scope = scope or self.begin(request)
        try:
            with scope:
                return await answer_to(request, self._runner().on_request(exchange, request.method, request.params))
        finally:
            self.end(request.id, scope)
        return jsonrpc.error(request.id, jsonrpc.REQUEST_CANCELLED, "Request cancelled")

    def is_working_on(self, request_id: jsonrpc.Id) -> bool:
        return request_id in self._working

    async def accept(self, message: jsonrpc.Notification | jsonrpc.Response) -> None:
        match message:
            case jsonrpc.Response():
                if (pending := self._asked.get(message.id)) is not None:
                    pending.settle(message)
            case jsonrpc.Notification(method="notifications/cancelled", params=params):
                request_id = (params or {}).get("requestId")
                if isinstance(request_id, str | int) and (scope := self._working.get(request_id)) is not None:
                    scope.cancel()
            case jsonrpc.Notification(method=method, params=params):
                await self._runner().on_notify(Exchange(None, params, connection=self), method, params)

    async def ask_client(self, method: str, params: Mapping[str, Any] | None, write: Write) -> dict[str, Any]:
        """A request of ours, on the stream of the request that it belongs to. The caller bounds the wait."""
        self._questions += 1
        question_id = f"greenroom-{self._questions}"
        pending = self._asked[question_id] = _Pending()
        try:
            await write(jsonrpc.request(question_id, method, params))
            return await pending.wait()
        finally:
            del self._asked[question_id]

    def subscribe(self, uri: str) -> None:
        if len(self.subscriptions | {uri}) > MAX_SUBSCRIPTIONS:
            raise MCPError(INVALID_PARAMS, f"No more than {MAX_SUBSCRIPTIONS} subscriptions on one connection")
        self.subscriptions |= {uri}

    def unsubscribe(self, uri: str) -> None:
        self.subscriptions -= {uri}

    def _runner(self) -> ServerRunner[Any]:
        return ServerRunner(self._server, self._kernel, None, init_options=self._options)

    def share_what_the_client_said(self) -> None:
        """After the handshake: keep one copy for all connections of the same kind of client."""
        said = self._kernel.client_params
        if said is not None and (len(_known_clients) < MAX_KNOWN_CLIENTS or said.model_dump_json() in _known_clients):
            self._kernel.client_params = _known_clients.setdefault(said.model_dump_json(), said)

    # --- streams -------------------------------------------------------------------------------------------

    def open_stream(self) -> StreamLog:
        log = StreamLog(secrets.token_hex(4))
        self._streams[log.name] = log
        finished = [name for name, kept in self._streams.items() if kept.done]
        for name in finished[: max(0, len(finished) - KEPT_STREAMS)]:
            del self._streams[name]
        return log

    def forget_stream(self, log: StreamLog) -> None:
        """Nobody can come back for this one: its client never heard an event id of it."""
        self._streams.pop(log.name, None)

    def standing_stream(self) -> StreamLog:
        log = self._streams.get(STANDING)
        if log is None or log.done:
            log = self._streams[STANDING] = StreamLog(STANDING)
        return log

    def find_stream(self, event_id: str) -> tuple[StreamLog, int] | None:
        """The stream that an event id belongs to, and the cursor behind that event."""
        name, _, number = event_id.rpartition(".")
        log = self._streams.get(name)
        if log is None or _EVENT_NUMBER.fullmatch(number) is None or int(number) > log.end:
            return None
        return log, int(number)

    def tell(self, method: str, params: Mapping[str, Any] | None) -> None:
        """News for the standing stream, if the client ever opened one."""
        if STANDING in self._streams:
            self._streams[STANDING].append(sse.compact(jsonrpc.notification(method, params)))

    # --- the kernel's way to the standing stream -----------------------------------------------------------

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        self.tell(method, params)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        async def write(message: dict[str, Any]) -> None:
            self.standing_stream().append(sse.compact(message))

        return await self.ask_client(method, params, write)

    # --- the end -------------------------------------------------------------------------------------------

    def close(self) -> None:
        """The client said goodbye, or has been away too long: stop its requests, end its streams."""
        self.registered = False
        for scope in self._working.values():
            scope.cancel()
        for pending in self._asked.values():
            pending.close()
        self.end_streams()

    def end_streams(self) -> None:
        if STANDING in self._streams:
            self._streams[STANDING].finish()


class _Pending:
    """A question of ours to the client."""

    def __init__(self) -> None:
        self._done = trio.Event()
        self._response: jsonrpc.Response | None = None

    def settle(self, response: jsonrpc.Response) -> None:
        if self._response is None:
            self._response = response
            self._done.set()

    def close(self) -> None:
        self._done.set()

    async def wait(self) -> dict[str, Any]:
        await self._done.wait()
        match self._response:
            case jsonrpc.Response(result=dict() as result):
                return result
            case jsonrpc.Response(error=dict() as error):
                code = error.get("code")
                known = code if isinstance(code, int) and not isinstance(code, bool) else INTERNAL_ERROR
                raise MCPError(known, str(error.get("message", "")), error.get("data"))
        raise MCPError(CONNECTION_CLOSED, "Connection closed")

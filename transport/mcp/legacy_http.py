"""The older era's HTTP: POST, GET and DELETE of connections that are known by `Mcp-Session-Id`.

A call that may take its time is worked on in a task of its own and speaks into a log; the HTTP request only
follows that log, and so does a later one that comes with `Last-Event-ID`. Everything else is answered at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp.types as t
import trio
from mcp.server import NotificationOptions, Server
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, is_version_at_least

from greenroom.actors.roster import Roster
from greenroom.transport import sse
from greenroom.transport.http import EventStream, attend, session_header
from greenroom.transport.mcp import jsonrpc
from greenroom.transport.mcp.answers import OPEN_AFTER, Incoming, respond_json
from greenroom.transport.mcp.begun import Begun
from greenroom.transport.mcp.exchange import Exchange
from greenroom.transport.mcp.legacy import LegacyConnection
from greenroom.transport.mcp.streams import StreamLog
from greenroom.workflow.spans import clean_context

FIRST_VERSION = "2025-03-26"
"""What a client speaks that does not say: the last revision without the version header."""

RESUMABLE_SINCE = "2025-11-25"
"""Older clients cannot parse the priming event, so they get no ids to come back with."""

RETRY_MS = 500

MAX_IN_FLIGHT = 64
"""Calls of one connection that may be worked on at a time."""

_TAKE_TIME = frozenset({"tools/call", "prompts/get", "resources/read"})


class Legacy:
    def __init__(self, server: Server[Any], *, ttl: float, max_connections: int) -> None:
        self._server = server
        self._options = server.create_initialization_options(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        )
        self.connections: Roster[LegacyConnection] = Roster(
            ttl=ttl, maximum=max_connections, is_idle=lambda connection: connection.idle
        )
        self.draining = False
        self._nursery: trio.Nursery | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Own the tasks that work on calls, and let connections go that nobody has used for long."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            while True:
                now = trio.current_time()
                for connection in self.connections.take_expired(now):
                    connection.close()
                await trio.sleep(max(self.connections.next_expiry(now) - now, 0.01))

    def drain(self) -> None:
        """End the standing streams and open no new ones; calls in flight end with their turns."""
        self.draining = True
        for connection in self.connections:
            connection.end_streams()

    # --- POST ----------------------------------------------------------------------------------------------

    async def post(self, incoming: Incoming, body: Any, begun: Begun | None = None) -> None:
        message = jsonrpc.parse(body)
        if isinstance(message, str):
            await respond_json(incoming, jsonrpc.error(None, t.INVALID_REQUEST, message), 400)
        elif "mcp-session-id" in incoming.headers:
            connection = self._find(incoming)
            if connection is None:
                await self._missing(incoming)
            else:
                await self._take(incoming, connection, message, begun)
        elif isinstance(message, jsonrpc.Request) and message.method == "initialize":
            await self._shake_hands(incoming, message)
        else:
            # Hosted clients drop the header: serve the call, just without a connection to come back to.
            version = incoming.headers.get("mcp-protocol-version", FIRST_VERSION)
            await self._take(incoming, LegacyConnection(self._server, None, version), message, begun)

    async def _shake_hands(self, incoming: Incoming, request: jsonrpc.Request) -> None:
        if self.draining or (self.connections.full and not self._make_room()):
            sentence = "The server has no room for another connection right now. Try again in a few seconds."
            await respond_json(incoming, jsonrpc.error(request.id, t.INTERNAL_ERROR, sentence), 503, retry_after=5)
            return
        connection = LegacyConnection(self._server, self._options)
        answer = await connection.answer(request, Exchange(request.id, request.params, connection=connection))
        if "error" in answer:
            await respond_json(incoming, answer, 400)
            return
        connection.share_what_the_client_said()
        self.connections.add(connection.id, connection, trio.current_time())
        await respond_json(incoming, answer, headers=_session_header(connection))

    def _make_room(self) -> bool:
        evicted = self.connections.take_one_idle()
        if evicted is not None:
            evicted.close()
        return evicted is not None

    async def _take(
        self, incoming: Incoming, connection: LegacyConnection, message: jsonrpc.Message, begun: Begun | None
    ) -> None:
        if not isinstance(message, jsonrpc.Request):
            await connection.accept(message)
            await incoming.respond(202, headers=_session_header(connection))
        elif connection.is_working_on(message.id):
            sentence = f"The request id {message.id!r} is already in use"
            await respond_json(incoming, jsonrpc.error(message.id, t.INVALID_REQUEST, sentence), 400)
        elif message.method in _TAKE_TIME:
            await self._long_call(incoming, connection, message, begun)
        else:
            answer = await connection.answer(message, Exchange(message.id, message.params, connection=connection))
            await respond_json(incoming, answer, headers=_session_header(connection))

    async def _long_call(
        self, incoming: Incoming, connection: LegacyConnection, request: jsonrpc.Request, begun: Begun | None
    ) -> None:
        if connection.in_flight >= MAX_IN_FLIGHT:
            sentence = "Too many calls of this connection are in flight. Wait for one of them to end."
            await respond_json(incoming, jsonrpc.error(request.id, t.INTERNAL_ERROR, sentence), 503, retry_after=1)
            return
        assert self._nursery is not None
        resumable = connection.registered and is_version_at_least(connection.version, RESUMABLE_SINCE)
        log = connection.open_stream()
        exchange = Exchange(
            request.id,
            request.params,
            _into(log),
            connection,
            release=log.release if resumable else None,
            begun=begun,
        )
        scope = connection.begin(request)
        if begun is not None:
            begun.claimed = True
            if begun.stopped:
                scope.cancel()

        async def work() -> None:
            try:
                answer = await connection.answer(request, exchange, scope)
            finally:
                if begun is not None:
                    begun.let_go()
            log.append(sse.compact(answer), final=True)

        # From a clean context, as an actor is: the task may outlive the request that it began with.
        clean_context().run(self._nursery.start_soon, work)
        await self._follow(incoming, connection, log, 0, resumable=resumable, exchange=exchange)

    # --- GET and DELETE ------------------------------------------------------------------------------------

    async def get(self, incoming: Incoming) -> None:
        connection = self._find(incoming)
        if connection is None:
            await self._missing(incoming)
            return
        if self.draining:
            await incoming.respond(503, headers=[(b"retry-after", b"5")])
            return
        resumable = is_version_at_least(connection.version, RESUMABLE_SINCE)
        last = incoming.headers.get("last-event-id")
        if last is None:
            log = connection.standing_stream()
            await self._follow(incoming, connection, log, log.end, resumable=resumable, at_once=True)
            return
        found = connection.find_stream(last)
        if found is None:
            sentence = "Unknown Last-Event-ID: that stream is over, and no longer kept"
            await respond_json(incoming, jsonrpc.error(None, t.INVALID_PARAMS, sentence), 400)
            return
        log, cursor = found
        await self._follow(incoming, connection, log, cursor, resumable=resumable, at_once=True)

    async def delete(self, incoming: Incoming) -> None:
        connection = self._find(incoming)
        if connection is None:
            await self._missing(incoming)
            return
        self.connections.remove(connection.id)
        connection.close()
        await incoming.respond(200)

    # --- following a stream --------------------------------------------------------------------------------

    async def _follow(
        self,
        incoming: Incoming,
        connection: LegacyConnection,
        log: StreamLog,
        cursor: int,
        *,
        resumable: bool,
        exchange: Exchange | None = None,
        at_once: bool = False,
    ) -> None:
        """Send what a stream says from the cursor on, until it is done, let go, or the client leaves."""
        headers = [*sse.HEADERS, *_session_header(connection), *incoming.extra_headers]
        priming = sse.priming(log.event_id(cursor), RETRY_MS) if resumable else b""
        stream = EventStream(incoming.send, headers, priming)
        if at_once:
            # One reader per stream: whoever read it before has most likely lost the connection unawares.
            log.release()
        connection.readers += 1
        try:
            gone = await self._pump(incoming, stream, log, cursor, with_ids=resumable, at_once=at_once)
        finally:
            connection.readers -= 1
            self.connections.touch(connection.id, trio.current_time())
        only = log.only_message()
        if gone:
            return
        if only is not None and not stream.started:
            connection.forget_stream(log)
            retry_after = exchange.retry_after if exchange else None
            await incoming.respond(200, only, [*_session_header(connection), *_retry_header(retry_after)])
        else:
            await stream.end()

    async def _pump(
        self, incoming: Incoming, stream: EventStream, log: StreamLog, cursor: int, *, with_ids: bool, at_once: bool
    ) -> bool:
        """True if the client left first."""
        gone = True
        released = log.released

        async def until_gone() -> None:
            await attend(incoming.receive, stream, 0.0 if at_once else OPEN_AFTER)
            work.cancel_scope.cancel()

        async with trio.open_nursery() as work:
            work.start_soon(until_gone)
            while True:
                await log.wait_beyond(cursor, released)
                if log.only_message() is not None and not stream.started and not at_once:
                    break
                frames, cursor = log.after(cursor, with_ids=with_ids)
                if frames:
                    await stream.write_steadily(b"".join(frames))
                if (log.done and log.end <= cursor) or log.released != released:
                    break
            gone = False
            work.cancel_scope.cancel()
        return gone

    def _find(self, incoming: Incoming) -> LegacyConnection | None:
        connection = self.connections.find(incoming.headers.get("mcp-session-id", ""))
        if connection is not None:
            self.connections.touch(connection.id, trio.current_time())
        return connection

    async def _missing(self, incoming: Incoming) -> None:
        if "mcp-session-id" in incoming.headers:
            sentence, status = "Session not found: send `initialize` to begin a new one", 404
        else:
            sentence, status = "The Mcp-Session-Id header is missing", 400
        await respond_json(incoming, jsonrpc.error(None, t.INVALID_REQUEST, sentence), status)


def speaks_legacy(headers: Mapping[str, str]) -> bool:
    version = headers.get("mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def _into(log: StreamLog) -> Any:
    async def write(message: dict[str, Any]) -> None:
        log.append(sse.compact(message))

    return write


def _session_header(connection: LegacyConnection) -> list[tuple[bytes, bytes]]:
    return session_header(connection.id) if connection.registered else []


def _retry_header(retry_after: int | None) -> list[tuple[bytes, bytes]]:
    return [(b"retry-after", str(retry_after).encode())] if retry_after is not None else []

"""The newer era, 2026-07-28: every request stands alone. No handshake, no connection, no resumption.

The request is answered in the task that brought it: as JSON if the answer is all there is to say, as a stream
if there is something to report first. Closing the connection cancels the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import mcp.types as t
import trio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    InboundModernRoute,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
)

from greenroom.transport import sse
from greenroom.transport.http import EventStream, attend
from greenroom.transport.mcp import jsonrpc
from greenroom.transport.mcp.answers import OPEN_AFTER, Incoming, respond_json, status_of
from greenroom.transport.mcp.begun import Begun
from greenroom.transport.mcp.exchange import Exchange
from greenroom.transport.mcp.faults import answer_to
from greenroom.transport.mcp.handlers import Handlers


@attrs.frozen
class Modern:
    server: Server[Any]
    handlers: Handlers

    async def post(self, incoming: Incoming, body: Any, begun: Begun | None = None) -> None:
        message = jsonrpc.parse(body)
        match message:
            case jsonrpc.Request():
                await self._request(incoming, message, body, begun)
            case jsonrpc.Notification():
                # Nothing that a client may say here outlives the request it would be about.
                version = incoming.headers.get("mcp-protocol-version", "")
                rejection = unsupported_protocol_version_rejection(version)
                await (self._reject(incoming, None, rejection) if rejection else incoming.respond(202))
            case jsonrpc.Response():
                sentence = "A client has nothing to respond to in this protocol version"
                await respond_json(incoming, jsonrpc.error(None, t.INVALID_REQUEST, sentence), 400)
            case str(sentence):
                await respond_json(incoming, jsonrpc.error(None, t.INVALID_REQUEST, sentence), 400)

    async def _request(
        self, incoming: Incoming, request: jsonrpc.Request, body: Mapping[str, Any], begun: Begun | None
    ) -> None:
        route = self._classify(request, body, incoming.headers, incoming.raw_headers)
        if isinstance(route, InboundLadderRejection):
            await self._reject(incoming, request.id, route)
            return
        stream = EventStream(incoming.send, [*sse.HEADERS, *incoming.extra_headers])

        async def write(message: dict[str, Any]) -> None:
            await stream.write_steadily(sse.event(sse.compact(message)))

        exchange = Exchange(request.id, request.params, write, begun=begun)
        answer = await self._answer(incoming, request, route, exchange, stream)
        if answer is None:
            return
        if stream.started:
            await stream.end(sse.event(sse.compact(answer)))
        else:
            await respond_json(incoming, answer, status_of(answer), exchange.retry_after)

    async def _answer(
        self,
        incoming: Incoming,
        request: jsonrpc.Request,
        route: InboundModernRoute,
        exchange: Exchange,
        stream: EventStream,
    ) -> dict[str, Any] | None:
        """The response, or None if the client left before it was there."""
        connection = Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)
        answer: dict[str, Any] | None = None

        async def until_gone() -> None:
            await attend(incoming.receive, stream, OPEN_AFTER)
            work.cancel_scope.cancel()

        async with trio.open_nursery() as work:
            work.start_soon(until_gone)
            handling = serve_one(
                self.server, exchange, request.method, request.params, connection=connection, lifespan_state=None
            )
            answer = await answer_to(request, handling)
            work.cancel_scope.cancel()
        return answer

    def _classify(
        self,
        request: jsonrpc.Request,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        raw_headers: Sequence[tuple[bytes, bytes]],
    ) -> InboundModernRoute | InboundLadderRejection:
        """The SDK's ladder, with the two rungs that need the raw headers or the tool's schema."""
        lines = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in raw_headers)
        if (twice := find_duplicated_routing_header(lines)) is not None:
            return InboundLadderRejection(t.HEADER_MISMATCH, f"{twice} header appears more than once")
        route = classify_inbound_request(body, headers=headers)
        if isinstance(route, InboundLadderRejection) or request.method != "tools/call" or request.params is None:
            return route
        arguments = request.params.get("arguments") or {}
        schema = self.handlers.input_schema(str(request.params.get("name")))
        if schema is None or not isinstance(arguments, dict):
            return route
        return validate_mcp_param_headers(schema, arguments, headers) or route

    async def _reject(
        self, incoming: Incoming, request_id: jsonrpc.Id | None, rejection: InboundLadderRejection
    ) -> None:
        answer = jsonrpc.error(request_id, rejection.code, rejection.message, rejection.data)
        await respond_json(incoming, answer, ERROR_CODE_HTTP_STATUS.get(rejection.code, 400))

"""REST as an ASGI callable: who may come in, which route is meant, in which form it is answered.

Like `/mcp` it stands beside Quart rather than in it: it has to notice a client that leaves, and its streams may last.
A turn lives in its actor; the request only waits for it, and takes it along when its client leaves.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import trio

from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import GreenroomError, InternalFault
from greenroom.transport import sse
from greenroom.transport.bill import Act, make_bill
from greenroom.transport.guard import Guard
from greenroom.transport.house import HOUSE_TOOLS
from greenroom.transport.http import BodyRefused, ClientGone, Receive, Scope, Send, folded, read_body, respond
from greenroom.transport.requestlog import RequestRecord
from greenroom.transport.rest import openapi, page
from greenroom.transport.rest.accepting import STREAM_FORMATS, Form, choose
from greenroom.transport.rest.binding import Bound, Router, bind
from greenroom.transport.rest.faults import Answer, MethodNotAllowed, NotAcceptable, answer_to, refusal
from greenroom.transport.rest.performing import Performer, Wanted
from greenroom.transport.rest.reading import idempotency_key, read_object, read_query, session_of
from greenroom.transport.rest.streaming import TurnStream, until_gone
from greenroom.transport.rest.table import Streams
from greenroom.workflow.conversations.kept import KeptWorkflow
from greenroom.workflow.events import Change, ToolsChanged

log = logging.getLogger(__name__)

_NO_STORE = (b"cache-control", b"no-store")
_CLOSE = (b"connection", b"close")

RawHeaders = Sequence[tuple[bytes, bytes]]


@attrs.frozen(eq=False)
class Visit:
    """A request that has passed the door. Its body has been read."""

    method: str
    path: str
    query: bytes
    headers: Mapping[str, str]
    body: bytes
    receive: Receive
    send: Send
    cross_origin: RawHeaders = ()

    async def answer(self, answer: Answer) -> None:
        await self.respond(answer.status, sse.compact(answer.value), Form.JSON, answer.headers)

    async def respond(self, status: int, body: bytes, form: Form, headers: RawHeaders = ()) -> None:
        kind = form.value if form is Form.JSON else f"{form.value}; charset=utf-8"
        await _send_whole(
            self.send, status, body, [(b"content-type", kind.encode()), *headers, *self.cross_origin], self.method
        )


class Rest:
    def __init__(self, supervisor: Supervisor, guard: Guard, *, body_limit: int, version: str) -> None:
        self._supervisor = supervisor
        self._guard = guard
        self._body_limit = body_limit
        self._version = version
        self._performer = Performer(supervisor)
        self._router = Router(())
        self._document = b""
        self._bind()
        supervisor.on_change(self._on_change)

    def _bind(self) -> None:
        workflow = self._supervisor.workflow
        bill = make_bill(Act, workflow.tools(), HOUSE_TOOLS, self._supervisor.limits.max_turn_timeout)
        self._router = Router(bind(bill, keeping=isinstance(workflow, KeptWorkflow)))
        document = openapi.describe(self._router.routes, workflow.name, workflow.description, self._version)
        self._document = sse.compact(document)

    def _on_change(self, change: Change) -> None:
        if isinstance(change, ToolsChanged):
            self._bind()

    def serves(self, scope: Scope) -> bool:
        path = _path(scope)
        return path in _PAGES or self._router.knows(path)

    # --- the door ------------------------------------------------------------------------------------------

    async def __call__(self, scope: Scope, receive: Receive, send: Send, record: RequestRecord) -> None:
        headers = folded(scope["headers"])
        try:
            # Before anything else, whatever the answer: a body that is left unread holds Hypercorn's task.
            body = await read_body(receive, headers, self._body_limit)
        except ClientGone:
            record.client_gone = True
            return
        origin = headers.get("origin")
        refused = self._guard.check(headers.get("host"), origin)
        visit = Visit(scope["method"], _path(scope), scope.get("query_string", b""), headers, b"", receive, send)
        if refused is not None:
            await visit.answer(refusal(refused.status, refused.message))
            return
        visit = attrs.evolve(visit, cross_origin=_cross_origin(origin))
        if isinstance(body, BodyRefused):
            told = refusal(body.status, body.message)
            await visit.answer(attrs.evolve(told, headers=(*told.headers, _CLOSE)))
            return
        await self._admitted(attrs.evolve(visit, body=body), record)

    async def _admitted(self, visit: Visit, record: RequestRecord) -> None:
        try:
            if visit.path in _PAGES:
                await self._page(visit)
                return
            if visit.method == "OPTIONS":
                await self._options(visit)
                return
            method = "GET" if visit.method == "HEAD" else visit.method
            bound, in_path = self._router.find(method, visit.path)
            record.tool = bound.route.name
            form = self._form(visit, bound)
            wanted = self._read(visit, bound, in_path)
        except GreenroomError as error:
            await visit.answer(answer_to(error))
            return
        if form is Form.JSON:
            record.client_gone = await self._answer_whole(visit, wanted)
        else:
            record.client_gone = await self._answer_as_stream(visit, wanted, form)

    async def _options(self, visit: Visit) -> None:
        try:
            self._router.find("OPTIONS", visit.path)
        except MethodNotAllowed as known:
            await respond(visit.send, 204, headers=[(b"allow", known.data["allowed"].encode()), *visit.cross_origin])

    async def _page(self, visit: Visit) -> None:
        if visit.method == "OPTIONS":
            await respond(visit.send, 204, headers=[(b"allow", b"GET, OPTIONS"), *visit.cross_origin])
        elif visit.method not in ("GET", "HEAD"):
            raise MethodNotAllowed("GET, OPTIONS")
        elif visit.path == "/openapi.json":
            await visit.respond(200, self._document, Form.JSON, [(b"cache-control", b"no-cache")])
        else:
            await visit.respond(200, page.HTML, Form.HTML, page.HEADERS)

    # --- reading -------------------------------------------------------------------------------------------

    def _form(self, visit: Visit, bound: Bound) -> Form:
        offered = {
            Streams.NEVER: (Form.JSON,),
            Streams.ASKED: (Form.JSON, Form.NDJSON, Form.SSE),
            Streams.ALWAYS: (Form.NDJSON, Form.SSE),
        }[bound.route.streams]
        accept = visit.headers.get("accept")
        chosen = choose(accept, offered)
        if chosen is None:
            raise NotAcceptable(", ".join(form.value for form in offered))
        if bound.route.streams is Streams.ALWAYS and choose(accept, offered[::-1]) is not chosen:
            # The request leaves it open, so the session decides.
            return STREAM_FORMATS[self._performer.stream_format(session_of(visit.headers))]
        return chosen

    def _read(self, visit: Visit, bound: Bound, in_path: Mapping[str, str]) -> Wanted:
        session = session_of(visit.headers) if bound.route.session else None
        if bound.route.method == "GET":
            given: dict[str, Any] = read_query(visit.query, bound.properties)
        else:
            given = read_object(visit.body, visit.headers.get("content-type", ""))
            if "idempotency_key" in bound.properties:
                given |= idempotency_key(visit.headers, given)
        return Wanted(bound, bound.checked(given, in_path), session)

    # --- answering -----------------------------------------------------------------------------------------

    async def _answer_whole(self, visit: Visit, wanted: Wanted) -> bool:
        answer = await self._while_there(visit, wanted, None)
        if answer is not None:
            await visit.answer(attrs.evolve(answer, headers=(*answer.headers, _NO_STORE)))
        return answer is None

    async def _answer_as_stream(self, visit: Visit, wanted: Wanted, form: Form) -> bool:
        stream = TurnStream(form, visit.send, visit.cross_origin)
        answer = await self._while_there(visit, attrs.evolve(wanted, on_event=stream.report), stream)
        if answer is not None and (stream.started or answer.fine):
            await stream.end(answer)
        elif answer is not None:
            await visit.answer(attrs.evolve(answer, headers=(*answer.headers, _NO_STORE)))
        return answer is None

    async def _while_there(self, visit: Visit, wanted: Wanted, stream: TurnStream | None) -> Answer | None:
        """The answer, or None if the client left before it was there."""
        answer: Answer | None = None

        async def watch() -> None:
            await (until_gone(visit.receive) if stream is None else stream.attend(visit.receive))
            work.cancel_scope.cancel()

        async with trio.open_nursery() as work:
            work.start_soon(watch)
            answer = await self._work(wanted)
            work.cancel_scope.cancel()
        return answer

    async def _work(self, wanted: Wanted) -> Answer:
        try:
            answer = await self._performer.perform(wanted)
            # What cannot be said in JSON is to be found out before the response begins.
            sse.compact(answer.value)
        except GreenroomError as error:
            return answer_to(error)
        except Exception:
            log.exception("request failed", extra={"route": wanted.bound.route.name})
            return answer_to(InternalFault())
        return answer


_PAGES = frozenset({"/openapi.json", "/docs", "/docs/"})


def _path(scope: Scope) -> str:
    """As it was sent: a slash that is part of an id is not one that divides the path."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode("utf-8")
    return raw.decode("latin-1")


async def _send_whole(send: Send, status: int, body: bytes, headers: RawHeaders, method: str) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body, "more_body": False})


def _cross_origin(origin: str | None) -> RawHeaders:
    """What a browser needs to hear before it shows the answer to the page; the origin has been checked."""
    if origin is None:
        return ()
    return (
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
        (
            b"access-control-allow-headers",
            b"accept, authorization, content-type, idempotency-key, x-request-id, x-session-id",
        ),
        (b"access-control-expose-headers", b"retry-after, x-request-id"),
        (b"vary", b"origin"),
    )

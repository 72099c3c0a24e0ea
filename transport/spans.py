"""Spans of requests and turns, for OpenTelemetry: who caused what, and how long it took.

A request's span hangs on what the client says it belongs to: `traceparent` in the `_meta` of an MCP call, or else in
the HTTP header. The turn's span hangs on the request's, by way of a field of the order, and the commands and calls to a
language model on the turn's. Names and attributes come from small sets of ours, or from the workflow; nothing that a
client may make up goes into them: no argument, no token, no text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Token
from typing import TYPE_CHECKING, Any

import attrs
import trio
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from greenroom import __version__
from greenroom.config.errors import GreenroomError
from greenroom.persistence.records import handle_digest
from greenroom.transport.http import Scope
from greenroom.transport.requestlog import RequestRecord
from greenroom.workflow.spans import CURRENT, REQUEST, Fact

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

FLUSH_SECONDS = 1.5
"""How long the end of the server waits for a collector."""

OTHER = "other"
METHODS = frozenset(
    {
        "initialize", "ping", "server/discover", "tools/list", "tools/call", "prompts/list", "prompts/get",
        "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
        "completion/complete", "logging/setLevel", "subscriptions/listen", "notifications/initialized",
        "notifications/cancelled", "notifications/progress",
    }
)  # fmt: skip
"""Of MCP. Whatever else a client may call one is not repeated."""

_WELL = frozenset({"completed", "awaiting_user"})
_TRACE_CONTEXT = TraceContextTextMapPropagator()


@attrs.define(eq=False)
class Telemetry:
    """One per server; also the tracer of its actors."""

    provider: TracerProvider
    route_of: Callable[[str], str] = lambda path: OTHER
    is_tool: Callable[[str], bool] = lambda name: False
    _tracer: trace.Tracer = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tracer = self.provider.get_tracer("greenroom", __version__)

    # --- requests ------------------------------------------------------------------------------------------

    def begin_request(self, scope: Scope, record: RequestRecord, *, at_once: bool) -> RequestSpan:
        """Not at once where the body is still to say what the request belongs to."""
        carrier = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
            if name.lower() in (b"traceparent", b"tracestate")
        }
        span = RequestSpan(self, self._tracer, self.route_of(record.path), record.method, _named_in(carrier))
        if at_once:
            span.named(None, None, None)
        return span

    # --- turns: the actors' tracer -------------------------------------------------------------------------

    def parent(self) -> object:
        return REQUEST.get()

    def begin_turn(self, parent: object, session: str, turn_id: str, kind: str, tool: str) -> TurnRecorder:
        facts: dict[str, Fact] = {
            "greenroom.turn.id": turn_id,
            "greenroom.turn.kind": kind,
            "greenroom.session": handle_digest(session)[:12],
        }
        if tool:
            facts["gen_ai.tool.name"] = tool
        context = _under(parent) if isinstance(parent, SpanContext) else Context()
        name = f"turn {tool or kind}"
        return TurnRecorder(self._tracer, self._tracer.start_span(name, context, attributes=facts))

    # --- the end -------------------------------------------------------------------------------------------

    async def flush(self) -> None:
        """Send what there is, as far as that is possible in so short a time."""
        await self._bounded(lambda: self.provider.force_flush(round(FLUSH_SECONDS * 1000)))

    async def close(self) -> None:
        await self._bounded(self.provider.shutdown)

    async def _bounded(self, act: Callable[[], object]) -> None:
        with trio.move_on_after(FLUSH_SECONDS, shield=True):
            await trio.to_thread.run_sync(act, abandon_on_cancel=True)


@attrs.define(eq=False)
class RequestSpan:
    """Of one request. It begins when its parent is known, but counts from when the request came."""

    _telemetry: Telemetry
    _tracer: trace.Tracer
    _route: str
    _method: str
    _from_http: SpanContext | None
    _came: int = attrs.field(factory=time.time_ns)
    _span: Span | None = None
    _attached: Token[object] | None = None

    def named(self, method: str | None, tool: str | None, meta: object) -> None:
        """The body is here and says what it wants, and perhaps for whom."""
        if self._span is None:
            self._begin(method, tool, _named_in(meta) if isinstance(meta, Mapping) else None)

    def end(self, status: int | None) -> None:
        if self._span is None:
            self._begin(None, None, None)
        assert self._span is not None
        if status is not None:
            self._span.set_attribute("http.response.status_code", status)
        if status is None or status >= 500:
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()
        if self._attached is not None:
            REQUEST.reset(self._attached)
            self._attached = None

    def _begin(self, method: str | None, tool: str | None, from_meta: SpanContext | None) -> None:
        parent = from_meta or self._from_http
        links = [Link(self._from_http)] if from_meta and self._from_http and from_meta != self._from_http else []
        context = _under(parent) if parent is not None else Context()
        name, facts = self._described(method, tool)
        self._span = self._tracer.start_span(
            name, context, SpanKind.SERVER, attributes=facts, links=links, start_time=self._came
        )
        self._attached = REQUEST.set(self._span.get_span_context())

    def _described(self, method: str | None, tool: str | None) -> tuple[str, dict[str, Fact]]:
        verb = self._method if self._method in ("GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH") else OTHER
        facts: dict[str, Fact] = {"http.request.method": verb, "http.route": self._route}
        if method is None:
            return f"{verb} {self._route}", facts
        known = method if method in METHODS else OTHER
        facts["mcp.method.name"] = known
        if tool is None:
            return known, facts
        facts["gen_ai.tool.name"] = tool if self._telemetry.is_tool(tool) else OTHER
        return f"{known} {facts['gen_ai.tool.name']}", facts


@attrs.define(eq=False)
class TurnRecorder:
    """Of one turn. Begun and ended by its actor, entered by the task that plays it."""

    _tracer: trace.Tracer
    _span: Span
    _over: bool = False

    def enter(self) -> None:
        # The task ends with the turn, and what it attached with the task.
        contexts.attach(trace.set_span_in_context(self._span, Context()))
        CURRENT.set(self)

    def end(self, result: str) -> None:
        if self._over:
            return
        self._over = True
        self._span.set_attribute("greenroom.turn.outcome", result)
        if result not in _WELL:
            self._span.set_attribute("error.type", result)
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()

    @contextmanager
    def step(self, name: str, facts: Mapping[str, Fact]) -> Iterator[StepSpan]:
        # Under whatever this task is in the middle of: a workflow may have spans of its own.
        step = StepSpan(self._tracer.start_span(name, attributes=dict(facts)))
        token = contexts.attach(trace.set_span_in_context(step.span))
        try:
            yield step
        except BaseException as error:
            step.failed(_why(error))
            raise
        finally:
            contexts.detach(token)
            step.span.end()


@attrs.frozen(eq=False)
class StepSpan:
    span: Span

    def rename(self, name: str) -> None:
        self.span.update_name(name)

    def note(self, facts: Mapping[str, Fact]) -> None:
        self.span.set_attributes(dict(facts))

    def failed(self, why: str) -> None:
        self.span.set_attribute("error.type", why)
        self.span.set_status(Status(StatusCode.ERROR))


def _why(error: BaseException) -> str:
    """The kind of error, never its text."""
    if isinstance(error, GreenroomError):
        return error.name
    return "cancelled" if isinstance(error, trio.Cancelled) else type(error).__name__


def _named_in(carrier: Mapping[Any, Any]) -> SpanContext | None:
    """The span that `traceparent` names, if it is a sound one."""
    sound = {key: carrier[key] for key in ("traceparent", "tracestate") if isinstance(carrier.get(key), str)}
    if "traceparent" not in sound:
        return None
    found = trace.get_current_span(_TRACE_CONTEXT.extract(sound, Context())).get_span_context()
    return found if found.is_valid else None


def _under(parent: SpanContext) -> Context:
    return trace.set_span_in_context(trace.NonRecordingSpan(parent), Context())

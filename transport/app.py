"""The application: a Quart-Trio app whose `/mcp` is taken at the ASGI level, before Quart sees it.

`create_app(settings, workflow)` builds one; `app` is one that reads its settings from the environment when it
is first called, for `hypercorn --config hypercorn.toml greenroom.transport.app:app`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import trio
from quart import Response
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from greenroom import __version__
from greenroom.actors.supervisor import Limits, Supervisor
from greenroom.config.settings import Settings, load_settings
from greenroom.persistence.journal import Journal
from greenroom.transport import admin, connections, observing, sse
from greenroom.transport.console import console_routes
from greenroom.transport.guard import Guard
from greenroom.transport.health import Condition, Stage, health_routes
from greenroom.transport.house import HOUSE_TOOLS
from greenroom.transport.http import Receive, Scope, Send, respond
from greenroom.transport.lag import LoopLag
from greenroom.transport.logs import configure_logging
from greenroom.transport.mcp.endpoint import PATHS, Endpoint
from greenroom.transport.operator import Door
from greenroom.transport.requestlog import RequestRecord
from greenroom.transport.rest.endpoint import Rest
from greenroom.transport.telemetry import telemetry_from
from greenroom.transport.traffic import Traffic
from greenroom.workflow.catalog import find_workflow
from greenroom.workflow.conversations.kept import KeptWorkflow
from greenroom.workflow.port import Workflow

if TYPE_CHECKING:
    from greenroom.transport.spans import Telemetry

log = logging.getLogger(__name__)

_HOUSE_NAMES = frozenset(tool.name for tool in HOUSE_TOOLS)


class GreenroomApp(QuartTrio):
    door: Door
    """The operator's, for pages that are theirs alone."""

    def __init__(self, supervisor: Supervisor, endpoint: Endpoint, rest: Rest, condition: Condition) -> None:
        super().__init__("greenroom", static_folder=None)
        self.supervisor = supervisor
        self.mcp = endpoint
        self.rest = rest
        self.condition = condition
        self.telemetry: Telemetry | None = None
        self.traffic = Traffic()
        self.lag = LoopLag()
        self._staff: list[trio.CancelScope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)  # type: ignore[arg-type]
            return
        record = RequestRecord.of(scope)
        self.traffic.begin(record)
        if self.telemetry is not None:
            record.span = self.telemetry.begin_request(scope, record, at_once=scope["path"] not in PATHS)
        watched = record.watching(send)
        try:
            if scope["http_version"] not in ("1.0", "1.1"):
                # Hypercorn takes up HTTP/2 wherever a client offers it, but there its responses know no limit.
                await respond(watched, 505, b'{"error":{"code":"http_version","message":"HTTP/1.1 only"}}')
            elif scope["path"] in PATHS:
                await self.mcp(scope, receive, watched, record)
            elif self.rest.serves(scope):
                await self.rest(scope, receive, watched, record)
            else:
                await super().__call__(scope, receive, watched)  # type: ignore[arg-type]
        finally:
            self.traffic.end(record)
            if record.span is not None:
                record.span.end(record.status)
            record.write()

    def record_spans(self, telemetry: Telemetry) -> None:
        self.telemetry = self.supervisor.lookout.tracer = telemetry
        telemetry.route_of = self.traffic.route_of
        telemetry.is_tool = lambda name: name in _HOUSE_NAMES or self.supervisor.lookout.tally.knows(name)

    async def open_house(self) -> None:
        for part in (self.supervisor.run, self.mcp.run, self.lag.run, *self.supervisor.workflow.parts):
            await self.nursery.start(self._keep, part)
        self.condition.ready()

    async def close_house(self) -> None:
        for scope in self._staff:
            scope.cancel()
        if self.telemetry is not None:
            await self.telemetry.close()

    async def _keep(self, run: Callable[..., Awaitable[None]], *, task_status: trio.TaskStatus[None]) -> None:
        """Run a part of the server; should it fail, say so and stay up, for Quart's nursery must not break."""
        try:
            with trio.CancelScope() as scope:
                self._staff.append(scope)
                await run(task_status=task_status)
        except Exception:
            self.condition.stage = Stage.BROKEN
            log.critical("a part of the server has failed", exc_info=True)

    async def drain(self, budget: float) -> None:
        """Take no more on, end streams politely, let turns finish for so long, then stop them."""
        self.condition.stage = Stage.DRAINING
        self.mcp.drain()
        await self.supervisor.drain(budget)
        self.supervisor.lookout.gallery.close()
        if self.telemetry is not None and budget > 0:
            await self.telemetry.flush()


def create_app(settings: Settings, workflow: Workflow, journal: Journal | None = None) -> GreenroomApp:
    connections.install(settings.http)
    limits = Limits(
        session_ttl=settings.session_ttl,
        max_sessions=settings.max_sessions,
        mailbox_size=settings.mailbox_size,
        worker_threads=settings.worker_threads,
        turn_timeout=settings.turn_timeout,
        max_turn_timeout=settings.max_turn_timeout,
        input_timeout=settings.input_timeout,
    )
    residency = workflow if isinstance(workflow, KeptWorkflow) else None
    supervisor = Supervisor(workflow, limits, journal, residency)
    guard = Guard.of(settings.public_url, settings.allowed_origins)
    endpoint = Endpoint(supervisor, guard, body_limit=settings.body_limit, version=__version__)
    condition = Condition(__version__)
    rest = Rest(supervisor, guard, body_limit=settings.body_limit, version=__version__)
    application = GreenroomApp(supervisor, endpoint, rest, condition)
    application.config["MAX_CONTENT_LENGTH"] = settings.body_limit
    application.register_blueprint(health_routes(condition))
    admin.install(application, settings, guard, supervisor)
    application.door = observing.install(application, settings, guard, supervisor, application.traffic, application.lag)
    if (telemetry := telemetry_from(os.environ)) is not None:
        application.record_spans(telemetry)
    application.register_blueprint(console_routes())
    application.register_error_handler(HTTPException, _as_json)
    application.before_serving(application.open_house)
    application.after_serving(application.close_house)
    return application


async def _as_json(error: HTTPException) -> Response:
    described = {"code": error.name.lower().replace(" ", "_"), "message": error.description, "details": None}
    headers = {"content-type": "application/json"}
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        headers["allow"] = ", ".join(sorted(error.valid_methods))
    return Response(sse.compact({"error": described}), error.code or 500, headers)


class AppFromEnvironment:
    """An ASGI callable that becomes the real app when the server first speaks to it."""

    def __init__(self) -> None:
        self._app: GreenroomApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            settings = load_settings()
            configure_logging(settings.log_level, settings.log_format)
            self._app = create_app(settings, find_workflow(settings))
        await self._app(scope, receive, send)


app = AppFromEnvironment()

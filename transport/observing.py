"""Everything that lets an operator see what the server does, put into the application in one go."""

from __future__ import annotations

from quart_trio import QuartTrio

from greenroom.actors.supervisor import Supervisor
from greenroom.config.settings import Settings
from greenroom.transport.bodies import BodyFirst
from greenroom.transport.guard import Guard
from greenroom.transport.lag import LoopLag
from greenroom.transport.mcp.endpoint import PATHS as MCP_PATHS
from greenroom.transport.metrics import Figures, metrics_routes
from greenroom.transport.operator import LOGIN, LOGOUT, Door, login_routes
from greenroom.transport.rest.table import ROUTES
from greenroom.transport.traffic import Traffic
from greenroom.transport.watching import watching_routes

BODY_LIMIT = 16 * 1024
"""None of this needs a body, except for a token."""

REST_PATHS = ("/docs", "/openapi.json", *(route.path for route in ROUTES))

_PATHS = frozenset({"/metrics", "/sessions", "/events", LOGIN, LOGOUT})


def install(
    application: QuartTrio,
    settings: Settings,
    guard: Guard,
    supervisor: Supervisor,
    traffic: Traffic,
    lag: LoopLag,
) -> Door:
    """The door is for whoever adds a page that is the operator's too."""
    door = Door.of(settings, guard)
    application.register_blueprint(login_routes(door))
    application.register_blueprint(watching_routes(door, supervisor))
    application.register_blueprint(metrics_routes(door, [Figures(supervisor, traffic, lag)]))
    application.asgi_app = BodyFirst(application.asgi_app, BODY_LIMIT, _is_ours)  # type: ignore[assignment]

    @application.before_serving
    async def know_the_routes() -> None:
        traffic.serves(rule.rule for rule in application.url_map.iter_rules())
        traffic.serves((*MCP_PATHS, *REST_PATHS))

    return door


def _is_ours(path: str) -> bool:
    return path in _PATHS or path.startswith("/sessions/")

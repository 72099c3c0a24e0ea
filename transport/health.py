"""How the server is, for those who watch over it. Answered without touching an actor."""

from __future__ import annotations

import enum
from datetime import UTC, datetime
from typing import Any

import trio
from quart import Blueprint, Response

from greenroom.transport import sse


class Stage(enum.Enum):
    STARTING = "starting"
    READY = "ready"
    DRAINING = "draining"
    BROKEN = "broken"


class Condition:
    """Where the server is in its life. One per app; whoever runs the app moves it on."""

    def __init__(self, version: str) -> None:
        self.stage = Stage.STARTING
        self._version = version
        self._since: float | None = None

    def ready(self) -> None:
        self.stage = Stage.READY
        self._since = trio.current_time()

    def report(self) -> dict[str, Any]:
        up = trio.current_time() - self._since if self._since is not None else 0.0
        return {
            "status": "healthy" if self.stage is not Stage.BROKEN else "unhealthy",
            "version": self._version,
            "uptime_seconds": round(up, 3),
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }


def health_routes(condition: Condition) -> Blueprint:
    routes = Blueprint("health", __name__)

    @routes.get("/health")
    async def health() -> Response:
        return _json(condition.report(), 200 if condition.stage is not Stage.BROKEN else 503)

    @routes.get("/probes/healthz")
    async def healthz() -> Response:
        alive = condition.stage is not Stage.BROKEN
        return _json({"status": "alive" if alive else "broken"}, 200 if alive else 503)

    @routes.get("/probes/readyz")
    async def readyz() -> Response:
        return _json({"status": condition.stage.value}, 200 if condition.stage is Stage.READY else 503)

    return routes


def _json(value: dict[str, Any], status: int) -> Response:
    return Response(sse.compact(value), status, {"content-type": "application/json", "cache-control": "no-store"})

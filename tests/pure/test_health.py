"""How the server says that it is, to those who watch over it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import trio
from quart_trio import QuartTrio
from trio.testing import MockClock

from greenroom.transport.health import Condition, Stage, health_routes


def house(condition: Condition) -> QuartTrio:
    app = QuartTrio("test")
    app.register_blueprint(health_routes(condition))
    return app


async def test_a_report_says_the_version_the_time_and_for_how_long_it_has_been_ready(autojump_clock: MockClock) -> None:
    condition = Condition("1.2.3")
    assert condition.report()["uptime_seconds"] == 0
    await trio.sleep(10)
    condition.ready()
    await trio.sleep(2.5)
    report = condition.report()
    assert report["uptime_seconds"] == 2.5
    assert report["version"] == "1.2.3"
    assert report["status"] == "healthy"
    said = datetime.fromisoformat(report["timestamp"].replace("Z", "+00:00"))
    assert abs((datetime.now(UTC) - said).total_seconds()) < 60


@pytest.mark.parametrize(
    ("stage", "health", "alive", "ready"),
    [
        (Stage.STARTING, 200, 200, 503),
        (Stage.READY, 200, 200, 200),
        (Stage.DRAINING, 200, 200, 503),
        (Stage.BROKEN, 503, 503, 503),
    ],
)
async def test_every_stage_has_its_statuses(stage: Stage, health: int, alive: int, ready: int) -> None:
    condition = Condition("1")
    condition.stage = stage
    client = house(condition).test_client()
    statuses = [(await client.get(path)).status_code for path in ("/health", "/probes/healthz", "/probes/readyz")]
    assert statuses == [health, alive, ready]


async def test_answers_are_json_and_never_cached() -> None:
    condition = Condition("1")
    condition.stage = Stage.BROKEN
    client = house(condition).test_client()
    for path, status in (("/health", "unhealthy"), ("/probes/healthz", "broken"), ("/probes/readyz", "broken")):
        response = await client.get(path)
        assert response.headers["content-type"] == "application/json"
        assert response.headers["cache-control"] == "no-store"
        assert (await response.get_json())["status"] == status

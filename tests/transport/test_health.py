"""Health, readiness and the one log line per request, over a real socket."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

import pytest

from greenroom import __version__
from greenroom.transport.health import Stage
from tests.transport.playhouse import Script, open_house
from tests.transport.test_sessions import hello


async def test_health_tells_status_version_uptime_and_time() -> None:
    async with open_house(Script({})) as house:
        report = (await house.client.get(f"{house.base}/health")).json()
        assert report.keys() == {"status", "version", "uptime_seconds", "timestamp"}
        assert (report["status"], report["version"]) == ("healthy", __version__)
        assert report["uptime_seconds"] >= 0
        assert datetime.fromisoformat(report["timestamp"]).tzinfo is not None


@pytest.mark.parametrize(
    ("stage", "ready", "alive"),
    [(Stage.STARTING, 503, 200), (Stage.READY, 200, 200), (Stage.DRAINING, 503, 200), (Stage.BROKEN, 503, 503)],
)
async def test_probes_follow_the_stage_of_the_servers_life(stage: Stage, ready: int, alive: int) -> None:
    async with open_house(Script({})) as house:
        house.app.condition.stage = stage
        assert (await house.client.get(f"{house.base}/probes/readyz")).status_code == ready
        assert (await house.client.get(f"{house.base}/probes/healthz")).status_code == alive


async def test_a_part_that_fails_makes_the_server_unready_and_keeps_it_up(caplog: pytest.LogCaptureFixture) -> None:
    async with open_house(Script({})) as house:

        async def broken(*, task_status: Any) -> None:
            task_status.started()
            raise RuntimeError("the floor gave way")

        await house.app.nursery.start(house.app._keep, broken)
        assert (await house.client.get(f"{house.base}/probes/readyz")).status_code == 503
        assert (await house.client.get(f"{house.base}/health")).json()["status"] == "unhealthy"
        assert "the floor gave way" in caplog.text


async def test_an_unknown_path_is_a_json_404() -> None:
    async with open_house(Script({})) as house:
        response = await house.client.get(f"{house.base}/.well-known/oauth-protected-resource")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


async def test_each_request_leaves_one_line_without_arguments_or_tokens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "greenroom.request")
    async with open_house(Script({"hello": hello})) as house:
        house.client.headers["authorization"] = "Bearer sesame"
        response = await house.modern("tools/call", {"name": "hello", "arguments": {"secret": "swordfish"}})
        assert response.status_code == 200
        await house.client.get(f"{house.base}/health", headers={"x-request-id": "my-id"})
    lines = [vars(record) for record in caplog.records if record.name == "greenroom.request"]
    assert len(lines) == 2
    call, health = lines
    assert (call["method"], call["path"], call["rpc_method"], call["tool"]) == ("POST", "/mcp", "tools/call", "hello")
    assert (call["status"], call["request_id"]) == (200, response.headers["x-request-id"])
    assert call["duration_ms"] > 0
    assert (health["path"], health["status"], health["request_id"]) == ("/health", 200, "my-id")
    assert "swordfish" not in str(lines)
    assert "sesame" not in str(lines)


@pytest.mark.parametrize("given", ["two words", "x" * 200, "a,b", ""])
async def test_an_unsound_request_id_is_replaced(given: str) -> None:
    async with open_house(Script({})) as house:
        response = await house.client.get(f"{house.base}/health", headers={"x-request-id": given})
        assert response.headers["x-request-id"] not in ("", given)

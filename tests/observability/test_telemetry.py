"""The standard variables of OpenTelemetry, and a real server that exports to a real socket."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from greenroom.transport.telemetry import exporter_wanted, telemetry_from
from greenroom.workflow.port import Turn
from tests.observability.collector import Collector
from tests.transport.playhouse import Script, answer, modern_request, open_house
from tests.transport.process import ServerProcess, server_process

SERVE = ["-m", "greenroom", "serve"]
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({ENDPOINT: ""}, None),
        ({ENDPOINT: "http://here"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://here"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://here"}, None),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({"OTEL_TRACES_EXPORTER": " OTLP "}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "none", ENDPOINT: "http://here"}, None),
        ({"OTEL_SDK_DISABLED": "true", ENDPOINT: "http://here"}, None),
    ],
)
def test_which_exporter_the_environment_asks_for(environ: dict[str, str], expected: str | None) -> None:
    assert exporter_wanted(environ) == expected


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "'zipkin'"),
        ({ENDPOINT: "http://here", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "'grpc'"),
    ],
)
def test_what_cannot_be_had_is_said_and_done_without(
    environ: dict[str, str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert telemetry_from(environ) is None
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert said in record.getMessage()


def test_without_the_sdk_the_way_to_it_is_said_and_the_server_serves(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in [name for name in sys.modules if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    assert telemetry_from({ENDPOINT: "http://here"}) is None
    assert "pip install 'greenroom[otel]'" in caplog.text


async def call(server: ServerProcess, tool: str, traceparent: str = "", **arguments: str) -> dict[str, Any]:
    headers, body = modern_request("tools/call", {"name": tool, "arguments": arguments})
    async with httpx.AsyncClient(timeout=20) as client:
        response = await client.post(f"{server.base}/mcp", headers={**headers, "traceparent": traceparent}, json=body)
    result: dict[str, Any] = answer(response)["result"]
    assert not result.get("isError"), response.text
    return result


async def remember_a_secret(server: ServerProcess, traceparent: str = "") -> None:
    opened = await call(server, "initialize", user_id="sesame-street")
    handle = opened["structuredContent"]["session_id"]
    await call(server, "remember", traceparent, session_id=handle, note="open sesame")


async def test_spans_reach_a_collector_before_the_server_has_ended(tmp_path: Path) -> None:
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    with Collector().running() as collector:
        # Much later than the test ends: what comes, comes because the server is drained.
        settings: dict[str, Any] = {ENDPOINT: collector.url, "OTEL_BSP_SCHEDULE_DELAY": "600000"}
        async with server_process(SERVE, tmp_path, **settings) as server:
            await server.ready()
            await remember_a_secret(server, f"00-{trace}-{parent}-01")
            assert not collector.requests
            server.signal(signal.SIGTERM)
            assert await server.exit_code(20) == 0
        assert set(collector.paths) == {"/v1/traces"}
        assert set(collector.spans) >= {"tools/call initialize", "tools/call remember", "turn remember"}
        request, turn = collector.spans["tools/call remember"], collector.spans["turn remember"]
        assert (request.trace_id.hex(), request.parent_span_id.hex()) == (trace, parent)
        assert (turn.trace_id, turn.parent_span_id) == (request.trace_id, request.span_id)
        assert collector.resource["service.name"] == "greenroom"
        assert "sesame" not in str(collector.requests)


async def test_draining_sends_what_there_is_and_closing_what_came_after(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hello(arguments: Mapping[str, Any], turn: Turn) -> str:
        return "hi"

    with Collector().running() as collector:
        monkeypatch.setenv(ENDPOINT, collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")
        async with open_house(Script({"hello": hello})) as house:
            await house.call("hello")
            await house.app.drain(1)
            assert set(collector.spans) == {"tools/call hello", "turn hello"}
            await house.client.get(f"{house.base}/health")
        assert "GET /health" in collector.spans


async def test_a_collector_that_never_answers_does_not_keep_the_server(tmp_path: Path) -> None:
    with Collector(answers=False).running() as collector:
        settings: dict[str, Any] = {
            ENDPOINT: collector.url,
            "OTEL_SERVICE_NAME": "shop",
            "OTEL_BSP_SCHEDULE_DELAY": "10",
        }
        async with server_process(SERVE, tmp_path, **settings) as server:
            await server.ready()
            await remember_a_secret(server)
            await trio.to_thread.run_sync(collector.came.wait, 20)
            # While that export hangs, everything else goes on.
            await remember_a_secret(server)
            server.signal(signal.SIGTERM)
            assert await server.exit_code(20) == 0
        assert collector.resource["service.name"] == "shop"
        assert "some connection would not end" not in server.log.read_text()


async def test_without_the_variables_nothing_of_it_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from greenroom.transport.app import create_app; from greenroom.config.settings import Settings;"
        "from greenroom.workflow.demo import DemoWorkflow; create_app(Settings(), DemoWorkflow());"
        "names = [each for each in sys.modules if 'opentelemetry.sdk' in each or each == 'greenroom.transport.spans'];"
        "sys.exit(bool(names))"
    )
    done = await trio.run_process([sys.executable, "-c", code], check=False, capture_stderr=True)
    assert done.returncode == 0, done.stderr

"""The figures at `/metrics`, read back with Prometheus' own parsers and compared with what was done."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from greenroom.actors.lookout import Tally
from greenroom.actors.messages import Finished
from greenroom.actors.reply import Reply
from greenroom.config.errors import InvalidArguments
from greenroom.persistence.journal import MemoryJournal, TurnRecord
from greenroom.persistence.meter import Meter
from greenroom.transport import lag
from greenroom.transport.metrics import Figures, _llm
from greenroom.workflow.llm.errors import LlmRefused
from greenroom.workflow.port import Turn
from greenroom.workflow.values import CallTool, ToolResult
from tests.admin.asking import kept_by, store_of
from tests.conversations.test_over_mcp import serving
from tests.llm.test_process import running, saying
from tests.observability.looking import get, watching
from tests.transport.playhouse import House, Script, eventually, open_house

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


class Read:
    """A scrape, by name and labels."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self.samples = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in families
            for sample in family.samples
        }

    def __call__(self, name: str, **labels: str) -> float:
        return self.samples[(f"greenroom_{name}", tuple(sorted(labels.items())))]

    def all_of(self, name: str) -> dict[tuple[str, ...], float]:
        return {
            tuple(value for _, value in labels): number
            for (sample, labels), number in self.samples.items()
            if sample == f"greenroom_{name}"
        }


async def scrape(house: House) -> Read:
    response = await get(house, "/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain; version=")
    return Read(parse_text(response.text))


async def hello(arguments: Mapping[str, Any], turn: Turn) -> str:
    return "hi"


async def refuse(arguments: Mapping[str, Any], turn: Turn) -> str:
    raise InvalidArguments("No.")


async def fail(arguments: Mapping[str, Any], turn: Turn) -> ToolResult:
    return ToolResult([], is_error=True)


async def test_turns_are_counted_by_tool_and_outcome_and_measured() -> None:
    async with open_house(Script({"hello": hello, "refuse": refuse, "fail": fail})) as house:
        handle = await house.open_session()
        for tool in ("hello", "hello", "hello", "refuse", "fail"):
            await house.call(tool, {"session_id": handle})
        await house.modern("resources/read", {"uri": "test://one"})
        read = await scrape(house)
        assert read.all_of("turns_total") == {
            ("tool", "completed", "hello"): 3,
            ("tool", "invalid_arguments", "refuse"): 1,
            ("tool", "failed", "fail"): 1,
            ("resource", "completed", ""): 1,
        }
        assert read("turn_duration_seconds_count", kind="tool") == 5
        assert read("turn_duration_seconds_bucket", kind="tool", le="+Inf") == 5
        assert read("turn_duration_seconds_count", kind="resource") == 1
        assert 0 < read("turn_duration_seconds_sum", kind="tool") < 60


async def test_sessions_are_counted_by_phase_and_as_they_come_and_go() -> None:
    go_on = trio.Event()

    async def wait(arguments: Mapping[str, Any], turn: Turn) -> str:
        await go_on.wait()
        return "done"

    async with open_house(Script({"hello": hello, "wait": wait})) as house, trio.open_nursery() as nursery:
        handles = [await house.open_session() for _ in range(3)]
        await house.call("hello")
        nursery.start_soon(house.call, "wait", {"session_id": handles[0]})
        await eventually(lambda: not house.app.supervisor.peek(handles[0]).idle)  # type: ignore[union-attr]
        house.app.supervisor.close(house.app.supervisor.find(handles[2]))
        read = await scrape(house)
        assert {phase: count for (phase,), count in read.all_of("sessions").items() if count} == {
            "idle": 1,
            "running": 1,
        }
        assert read("sessions_opened_total", kind="session") == 3
        assert read("sessions_opened_total", kind="walk_on") == 1
        assert read("sessions_closed_total") == 2
        assert read("sessions_crashed_total") == 0
        assert read("callers_waiting") == 1
        go_on.set()


class BrokenJournal(MemoryJournal):
    def commit(self, record: TurnRecord) -> None:
        raise OSError("no disk")


async def test_a_session_that_crashes_is_counted_once() -> None:
    async with open_house(Script({"hello": hello}), BrokenJournal()) as house:
        handle = await house.open_session()
        await house.call("hello", {"session_id": handle})
        await eventually(lambda: len(house.app.supervisor) == 0)
        read = await scrape(house)
        assert read("sessions_crashed_total") == 1
        assert read("sessions_closed_total") == 1


async def test_messages_that_wait_are_seen_in_the_queue() -> None:
    async with open_house(Script({"hello": hello})) as house:
        handle = await house.open_session()
        actor = house.app.supervisor.find(handle)
        await house.call("hello", {"session_id": handle})
        assert actor._mailbox is not None
        for _ in range(4):
            actor.leave("nothing", Reply(), cancels=False)
        # Nobody has had a chance to look at them yet.
        read = Read(_collected(house))
        assert read("queue_messages") == read("queue_messages_max") == 4
        await eventually(lambda: actor.queue_depth == 0)
        assert (await scrape(house))("queue_messages") == 0


def _collected(house: House) -> list[Metric]:
    return list(Figures(house.app.supervisor, house.app.traffic, house.app.lag).collect())


async def test_threads_in_use_and_their_limit_are_shown() -> None:
    release = threading.Event()

    async def block(arguments: Mapping[str, Any], turn: Turn) -> str:
        await turn.run_blocking(release.wait, 20)
        return "done"

    async with open_house(Script({"block": block}), worker_threads=2) as house, trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(house.call, "block")
        try:
            await eventually(lambda: house.app.supervisor.threads.statistics().tasks_waiting == 1)
            read = await scrape(house)
            assert read("worker_threads_in_use") == 2
            assert read("worker_threads_limit") == 2
            assert read("worker_threads_waiting") == 1
        finally:
            release.set()


async def test_a_loop_that_was_held_up_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag, "EVERY_SECONDS", 0.01)

    async def hog(arguments: Mapping[str, Any], turn: Turn) -> str:
        time.sleep(0.3)  # noqa: ASYNC251 - what must not be done
        return "done"

    async with open_house(Script({"hog": hog})) as house:
        await eventually(lambda: house.app.lag.meter.count > 0)
        await house.call("hog")
        await eventually(lambda: house.app.lag.recent_max > 0.2)
        read = await scrape(house)
        assert read("loop_lag_recent_max_seconds") > 0.2
        assert read("loop_lag_seconds_bucket", le="+Inf") - read("loop_lag_seconds_bucket", le="0.1") >= 1
        assert read("loop_lag_seconds_count") >= 2


async def test_requests_are_counted_by_route_and_class_of_status() -> None:
    async with open_house(Script({"hello": hello})) as house:
        await house.call("hello")
        await get(house, "/health")
        await get(house, "/health")
        await get(house, "/sessions/0123456789ab")
        await get(house, "/sessions?limit=0")
        for number in range(5):
            await get(house, f"/made-up-{number}/path")
        async with watching(house, "/events"):
            read = await scrape(house)
        assert read.all_of("http_requests_total") == {
            ("/mcp", "2xx"): 1,
            ("/health", "2xx"): 2,
            ("/sessions", "4xx"): 2,
            ("other", "4xx"): 5,
        }
        assert read("http_requests_in_flight") == 2
        assert read("http_streams_open") == 1
        assert read("watchers") == 1


async def test_every_route_that_is_served_is_counted_by_its_name() -> None:
    async with open_house(Script({"hello": hello})) as house:
        for path in (
            "/mcp",
            "/health",
            "/probes/healthz",
            "/metrics",
            "/events",
            "/invoke_agent",
            "/openapi.json",
            "/docs",
        ):
            async with house.client.stream("GET", f"{house.base}{path}"):
                pass
        await eventually(lambda: len(house.app.traffic.under_way) == 0)
        routes = {route for route, _ in house.app.traffic.answered}
        assert routes == {
            "/mcp",
            "/health",
            "/probes",
            "/metrics",
            "/events",
            "/invoke_agent",
            "/openapi.json",
            "/docs",
        }


async def test_commits_to_the_store_are_counted_and_measured(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        handle = await house.open_session(user_id="anna")
        await house.call("execute_command", {"session_id": handle, "command": "what_can_i_do"})
        pool = store_of(house).pool
        databases = [*pool._open.values(), pool.sessions()]
        read = await scrape(house)
        assert read("store_commit_seconds_count") == sum(each.counters.writes for each in databases) > 3
        assert read("store_commit_seconds_sum") > 0
        assert read("store_failures_total") == 0
        assert read("store_databases_open") == 1


async def test_openmetrics_is_spoken_to_those_who_ask_for_it() -> None:
    async with open_house(Script({"hello": hello})) as house:
        await house.call("hello")
        response = await get(house, "/metrics", accept=OPENMETRICS)
        assert response.headers["content-type"].startswith("application/openmetrics-text; version=")
        assert response.text.endswith("# EOF\n")
        read = Read(parse_openmetrics(response.text))  # type: ignore[no-untyped-call]
        assert read("turns_total", kind="tool", tool="hello", outcome="completed") == 1


async def test_the_process_and_the_build_are_there_and_no_user_or_session_is() -> None:
    async with open_house(Script({"hello": hello})) as house:
        handle = await house.open_session(user_id="anna-of-all-people")
        await house.call("hello", {"session_id": handle})
        response = await get(house, "/metrics")
        read = Read(parse_text(response.text))
        assert read.samples[("process_resident_memory_bytes", ())] > 1_000_000
        assert read.samples[("process_open_fds", ())] > 3
        assert len(read.all_of("build_info")) == 1
        assert "anna-of-all-people" not in response.text
        assert handle not in response.text


async def test_calls_to_a_language_model_are_counted_by_role_and_outcome(tmp_path: Path) -> None:
    async with running() as llm, serving(tmp_path) as house:
        kept = attrs.evolve(kept_by(house), llm=llm)
        await llm.complete(saying("hello"))
        with pytest.raises(LlmRefused):
            await llm.complete(saying("fail:401"))
        with trio.move_on_after(0.05):
            await llm.complete(saying("silence"))
        read = Read(_llm(kept))
        outcomes = {
            outcome: count for (outcome, role), count in read.all_of("llm_calls_total").items() if role == "agent"
        }
        assert outcomes == {"completed": 1, "llm_refused": 1, "cancelled": 1}
        assert read("llm_call_seconds_count", role="agent") == 3
        assert read("llm_call_seconds_count", role="param_extraction") == 0


async def test_the_documentation_lists_every_figure_and_no_other(tmp_path: Path) -> None:
    async with running() as llm, serving(tmp_path) as house:
        figures = [*_collected(house), *_llm(attrs.evolve(kept_by(house), llm=llm))]
    exported = {f"{family.name}_total" if family.type == "counter" else family.name for family in figures}
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(greenroom_\w+)` \|", page, re.MULTILINE)) == exported


def test_a_tool_that_nobody_offers_is_counted_as_another() -> None:
    tally = Tally()
    tally.tools = frozenset({"hello"})
    for name in ("hello", "made-up-1", "made-up-2"):
        tally.turn_ended(CallTool(name), Finished(ToolResult()), 0.1)
    assert tally.turns == {("tool", "hello", "completed"): 1, ("tool", "other", "completed"): 2}


def test_a_meter_counts_a_value_in_the_first_bucket_that_holds_it() -> None:
    meter = Meter((1.0, 2.0))
    for seconds in (0.5, 1.0, 1.5, 2.0, 9.0):
        meter.note(seconds)
    assert meter.counts == [2, 2, 1]
    assert (meter.count, meter.total) == (5, 14.0)

"""`/metrics`: figures for Prometheus, in its text format or as OpenMetrics.

Nothing is counted here. What has to be counted while it happens are plain numbers where it happens (`lookout`, `meter`,
`traffic`, `lag`); what can be looked at is looked at when somebody asks. So a figure costs next to nothing, and one
that nobody asks for nothing at all. No label holds what a client can make up: no user, no path, no unknown tool.
"""

from __future__ import annotations

import platform
from collections import Counter as Count
from collections.abc import Iterable, Iterator

import attrs
import trio.lowlevel
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from quart import Blueprint, Response, request

from greenroom import __version__
from greenroom.actors.core import Phase
from greenroom.actors.supervisor import Supervisor
from greenroom.persistence.meter import Meter
from greenroom.persistence.speedict_store import SpeedictStore
from greenroom.transport.lag import LoopLag
from greenroom.transport.operator import PRIVATE, Door
from greenroom.transport.traffic import Traffic
from greenroom.workflow.conversations.kept import KeptWorkflow
from greenroom.workflow.llm.process import LlmProcess
from greenroom.workflow.port import Workflow


@attrs.frozen(eq=False)
class Figures(Collector):
    """All that there is to tell, told anew for each scrape."""

    supervisor: Supervisor
    traffic: Traffic
    lag: LoopLag

    def collect(self) -> Iterator[Metric]:
        yield _labelled("build", "What runs here.", {"version": __version__, "python": platform.python_version()})
        yield from self._sessions()
        yield from self._turns()
        yield from self._threads()
        yield from self._loop()
        yield from self._http()
        yield from _store(self.supervisor.workflow)
        yield from _llm(self.supervisor.workflow)

    def _sessions(self) -> Iterator[Metric]:
        actors = [actor for actor, _ in self.supervisor.sessions()]
        phases = Count(actor.phase for actor in actors)
        depths = [actor.queue_depth for actor in actors]
        tally = self.supervisor.lookout.tally
        here = GaugeMetricFamily("greenroom_sessions", "Sessions that are here, by what they do.", labels=["phase"])
        for phase in Phase:
            here.add_metric([phase.value], phases[phase])
        yield here
        opened = CounterMetricFamily("greenroom_sessions_opened", "Sessions that were opened.", labels=["kind"])
        opened.add_metric(["session"], tally.opened - tally.walk_ons)
        opened.add_metric(["walk_on"], tally.walk_ons)
        yield opened
        yield CounterMetricFamily("greenroom_sessions_closed", "Sessions that ended, however.", tally.closed)
        yield CounterMetricFamily("greenroom_sessions_crashed", "Sessions that ended by a fault.", tally.crashed)
        yield _gauge("queue_messages", "Messages that wait in the mailboxes of sessions.", sum(depths))
        yield _gauge("queue_messages_max", "Messages that wait in the fullest mailbox.", max(depths, default=0))
        yield _gauge("callers_waiting", "Calls that wait for an answer.", sum(actor.callers for actor in actors))
        yield _gauge("watchers", "Operators' streams that are open.", len(self.supervisor.lookout.gallery))

    def _turns(self) -> Iterator[Metric]:
        tally = self.supervisor.lookout.tally
        turns = CounterMetricFamily("greenroom_turns", "Turns that ended.", labels=["kind", "tool", "outcome"])
        for labels, count in list(tally.turns.items()):
            turns.add_metric(labels, count)
        yield turns
        yield _histogram(
            "turn_duration",
            "From a turn's beginning to its end, questions to the user included.",
            "kind",
            tally.seconds,
        )

    def _threads(self) -> Iterator[Metric]:
        statistics = self.supervisor.threads.statistics()
        yield _gauge("worker_threads_in_use", "Threads that run a command.", statistics.borrowed_tokens)
        yield _gauge("worker_threads_limit", "Threads that may.", statistics.total_tokens)
        yield _gauge("worker_threads_waiting", "Commands that wait for a thread.", statistics.tasks_waiting)

    def _loop(self) -> Iterator[Metric]:
        yield _histogram("loop_lag", "How late the event loop is, measured twice a second.", "", {"": self.lag.meter})
        yield _gauge("loop_lag_recent_max_seconds", "The latest in the last minute.", self.lag.recent_max)
        living = trio.lowlevel.current_statistics().tasks_living
        yield _gauge("tasks", "Tasks of the event loop: connections, sessions on stage, and what runs beside.", living)

    def _http(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "greenroom_http_requests", "Requests that ended, by the first part of the path.", labels=["route", "status"]
        )
        for labels, count in list(self.traffic.answered.items()):
            requests.add_metric(labels, count)
        yield requests
        yield _gauge("http_requests_in_flight", "Requests that are under way.", len(self.traffic.under_way))
        yield _gauge("http_streams_open", "Responses that have begun and not ended.", self.traffic.streams)


def _store(workflow: Workflow) -> Iterator[Metric]:
    store = workflow.store if isinstance(workflow, KeptWorkflow) else None
    if isinstance(store, SpeedictStore):
        meters = store.pool.meters
        yield _histogram("store_commit", "A write to the store.", "", {"": meters.commits})
        yield CounterMetricFamily("greenroom_store_failures", "Writes that failed.", meters.failures)
        yield _gauge("store_databases_open", "Users whose database is open.", len(store.pool))


def _llm(workflow: Workflow) -> Iterator[Metric]:
    llm = workflow.llm if isinstance(workflow, KeptWorkflow) else None
    if isinstance(llm, LlmProcess):
        calls = CounterMetricFamily(
            "greenroom_llm_calls", "Calls to a language model, each with all its tries.", labels=["role", "outcome"]
        )
        for labels, count in list(llm.tally.outcomes.items()):
            calls.add_metric(labels, count)
        yield calls
        yield _histogram("llm_call", "A call, with all its tries.", "role", llm.tally.seconds)


# --- families ----------------------------------------------------------------------------------------------


def _gauge(name: str, told: str, value: float) -> Metric:
    return GaugeMetricFamily(f"greenroom_{name}", told, value)


def _labelled(name: str, told: str, labels: dict[str, str]) -> Metric:
    family = GaugeMetricFamily(f"greenroom_{name}_info", told, labels=list(labels))
    family.add_metric(list(labels.values()), 1)
    return family


def _histogram(name: str, told: str, label: str, meters: dict[str, Meter]) -> Metric:
    family = HistogramMetricFamily(f"greenroom_{name}_seconds", told, labels=[label] if label else [])
    for value, meter in meters.items():
        family.add_metric([value] if label else [], list(_buckets(meter)), meter.total)
    return family


def _buckets(meter: Meter) -> Iterator[tuple[str, float]]:
    below = 0
    for bound, count in zip((*meter.bounds, float("inf")), meter.counts, strict=True):
        below += count
        yield "+Inf" if bound == float("inf") else repr(bound), below


# --- the route ---------------------------------------------------------------------------------------------


def metrics_routes(door: Door, figures: Iterable[Collector]) -> Blueprint:
    routes = Blueprint("metrics", __name__)
    # Never the library's global one: a workflow's own code may fill that with what it likes.
    registry = CollectorRegistry(auto_describe=False)
    for each in figures:
        registry.register(each)
    ProcessCollector(registry=registry)

    @routes.before_request
    async def admit() -> Response | None:
        return door.refusal()

    @routes.get("/metrics")
    async def metrics() -> Response:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), 200, {**PRIVATE, "content-type": content_type})

    return routes

"""Idle sessions: what one weighs, and what thousands of them do to the calls of others.

On fresh servers, beside those of the other scenarios: memory that a server has used before and would use again
weighs nothing, and a session that is meant to be idle must not be one that a client is using.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Sequence
from contextlib import ExitStack

from bench import scenarios
from bench.load import Tally
from bench.peers.launch import CannotServe, Served
from bench.peers.table import BARE, OURS
from bench.record import Effort, Record

WARMING, WEIGHED, CROWD = 200, 2_000, 5_000
FILL_SECONDS = 60.0
SETTLE_SECONDS = 1.0
"""Whatever a session lets go of when it has nothing to do is gone by then."""
CROWDED_PEERS = frozenset({OURS, "sdk-uvloop", "sdk", "fastmcp", "fastapi-mcp", "typescript-v1", "typescript-v2"})
"""The rest are the same sessions with another kind of answer."""
QUICK_PEERS = frozenset({OURS, "sdk-uvloop"})


class NotFilled(Exception):
    """The server did not take so many sessions; the message says why."""


def measure_crowd(servers: Sequence[Served], effort: Effort, record: Record, *, crowded: bool) -> None:
    print("measuring idle sessions ...", flush=True)
    wanted = QUICK_PEERS if effort.quick else CROWDED_PEERS
    chosen = [each for each in servers if each.peer.name in wanted]
    with ExitStack() as stack:
        full: list[tuple[Served, Served]] = []
        for empty in chosen:
            try:
                fresh = stack.enter_context(Served(empty.peer, "-crowd"))
                _weigh(fresh, record, empty.peer.name, own=empty.peer.is_ours)
                if crowded:
                    _fill(fresh, CROWD - WARMING - WEIGHED, own=empty.peer.is_ours)
                    full.append((empty, fresh))
            except (CannotServe, NotFilled, OSError) as problem:
                record.absent("crowded", empty.peer.name, str(problem))
                record.note("crowded", empty.peer.name, Tally(wrong=1, faults=[str(problem)]))
        for empty in chosen:
            if empty.peer.name == OURS:
                _weigh_bare(empty, record)
        _interleave(full, effort, record)


def _weigh_bare(ours: Served, record: Record) -> None:
    """A session of the protocol only: what a client has that never calls the tool `initialize`."""
    with Served(ours.peer, "-bare") as fresh:
        try:
            _weigh(fresh, record, BARE, own=False)
        except (CannotServe, NotFilled, OSError) as problem:
            record.note("memory", OURS, Tally(wrong=1, faults=[str(problem)]))


def _weigh(served: Served, record: Record, name: str, *, own: bool) -> None:
    served.wait_until_ready()
    # The first ones bring what all of them share: caches, pools, a heap that has found its size.
    _fill(served, WARMING, own=own)
    time.sleep(SETTLE_SECONDS)
    before = served.memory_kb()
    _fill(served, WEIGHED, own=own)
    time.sleep(SETTLE_SECONDS)
    record.results["memory"][name] = {"kb_per_session": (served.memory_kb() - before) / WEIGHED}


def _fill(served: Served, count: int, *, own: bool) -> None:
    tally = served.client.play(served.stage.arrivals(own=own), FILL_SECONDS, most=count)
    if tally.wrong or len(tally.latencies) < count:
        came = f"{len(tally.latencies)} of {count} sessions came in {tally.seconds:.0f} s"
        raise NotFilled("; ".join([came, *tally.faults[:1]]))


def _interleave(full: Sequence[tuple[Served, Served]], effort: Effort, record: Record) -> None:
    playing = [
        (name, each, each.stage.calls(each.sessions))
        for empty, crowded in full
        for name, each in (("alone", empty), ("crowded", crowded))
    ]
    for name, served, scripts in playing:
        record.note(name, served.peer.name, scenarios.play(served, scripts, effort.warm_up)[1])
    for _ in range(effort.rounds):
        random.shuffle(playing)
        for name, served, scripts in playing:
            gc.collect()
            measured, tally = scenarios.play(served, scripts, effort.seconds)
            record.note(name, served.peer.name, tally)
            record.add(name, served.peer.name, measured)

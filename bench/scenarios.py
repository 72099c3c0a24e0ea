"""What is measured of every server, and one round of it."""

from __future__ import annotations

import time
from collections.abc import Callable

import attrs

from bench.figures import Round
from bench.load import Scripts, Tally
from bench.peers.launch import Served

STEPS = 100
"""Notifications of one countdown: enough that the call around them hardly counts."""
PACE_SECONDS = 0.5


@attrs.frozen
class Scenario:
    name: str
    title: str
    unit: str
    scripts: Callable[[Served], Scripts]
    units_per_script: int = 1
    ours_only: bool = False


def _stateless(served: Served) -> Scripts:
    return served.stage.stateless_calls(legacy=served.peer.legacy_stateless)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("call", "tools/call in a session", "call", lambda it: it.stage.calls(it.sessions)),
    Scenario(
        "handle",
        "tools/call of the newer era, in a session named by its handle",
        "call",
        lambda it: it.stage.handle_calls(it.stage.open_handles(it.client)),
        ours_only=True,
    ),
    Scenario("stateless", "tools/call without any session", "call", _stateless),
    Scenario("setup", "session set-up: initialize, initialized, DELETE", "set-up", lambda it: it.stage.set_ups()),
    Scenario(
        "own-setup",
        "the same with a session of the product in it",
        "set-up",
        lambda it: it.stage.own_set_ups(),
        ours_only=True,
    ),
    Scenario(
        "paced",
        f"notifications, one every {PACE_SECONDS / STEPS * 1000:g} ms",
        "notification",
        lambda it: it.stage.countdowns(it.sessions, STEPS, PACE_SECONDS),
        STEPS,
    ),
    Scenario(
        "burst",
        "notifications, as fast as they go",
        "notification",
        lambda it: it.stage.countdowns(it.sessions, STEPS, 0),
        STEPS,
    ),
)
BY_NAME = {each.name: each for each in SCENARIOS}


def play(served: Served, scripts: Scripts, seconds: float, per_script: int = 1) -> tuple[Round | None, Tally]:
    """One round. None if not a single script came to a good end."""
    try:
        client = served.client
        cpu, own = served.cpu(), time.process_time()
        tally = client.play(scripts, seconds)
        cpu, own = served.cpu() - cpu, time.process_time() - own
    except OSError as problem:
        return None, Tally(wrong=1, faults=[f"the server is gone: {problem}"])
    if not tally.latencies:
        return None, tally
    return Round.of(tally.latencies, tally.seconds, cpu, own, per_script), tally

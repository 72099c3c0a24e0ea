"""What only ours can do: commands and agent turns of a workflow folder, with conversations kept on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import trio

from bench import scenarios
from bench.figures import percentile
from bench.load import Tally, Wrong
from bench.peers.launch import CannotServe, Served, unpin
from bench.peers.table import BY_NAME, OURS
from bench.record import Effort, Record
from bench.wire import Malformed

if TYPE_CHECKING:
    from bench.agent.turns import Played

WORKFLOW = "examples/bookshop"
COMMAND, EXPECTED = "find_books <query>Hronek</query>", "by Pavel Hronek"
SESSIONS = 40
DELAYS_MS = (200, 0)
TURN_SECONDS, QUICK_TURN_SECONDS = 10.0, 4.0


def measure_commands(effort: Effort, record: Record) -> None:
    print("measuring execute_command ...", flush=True)
    ours = BY_NAME[OURS]
    command = tuple(WORKFLOW if part == "demo" else part for part in ours.command)
    with Served(attrs.evolve(ours, command=command), "-commands") as served:
        try:
            served.wait_until_ready()
            scripts = served.stage.commands(served.sessions, COMMAND, EXPECTED)
        except (CannotServe, Wrong, Malformed, OSError) as problem:
            record.note("command", OURS, Tally(wrong=1, faults=[str(problem)]))
            return
        record.note("command", OURS, scenarios.play(served, scripts, effort.warm_up)[1])
        for _ in range(effort.rounds):
            measured, tally = scenarios.play(served, scripts, effort.seconds)
            record.note("command", OURS, tally)
            record.add("command", OURS, measured)


def measure_turns(effort: Effort, record: Record) -> None:
    """The server, the process that calls the model, the model and the clients share all cores."""
    # Imported here: it brings the whole server into this process, which the load client can do without.
    from bench.agent import turns

    unpin()
    seconds = QUICK_TURN_SECONDS if effort.quick else TURN_SECONDS
    for delay in DELAYS_MS[:1] if effort.quick else DELAYS_MS:
        print(f"measuring agent turns at {delay} ms per LLM call ...", flush=True)
        played = trio.run(turns.play, WORKFLOW, SESSIONS, seconds, delay / 1000)
        record.results["turns"][str(delay)] = _figures(played, delay)
        wrong = played.tally.wrong
        record.note("turns", OURS, Tally(faults=wrong[:3], wrong=len(wrong)))


def _figures(played: Played, delay: int) -> dict[str, float]:
    latencies = played.tally.latencies
    count = len(latencies)
    return {
        "sessions": SESSIONS,
        "delay_ms": delay,
        "rate": count / played.seconds,
        "median_ms": percentile(latencies, 50) * 1000 if count else 0.0,
        "p95_ms": percentile(latencies, 95) * 1000 if count else 0.0,
        "cpu_ms_per_turn": played.spent["server"] / count * 1000 if count else 0.0,
        "llm_calls_per_turn": played.calls / count if count else 0.0,
    }

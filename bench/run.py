"""Greenroom beside its peers: `make bench`, or `python -m bench.run` with options.

All servers run at the same time, each in its own process; one is busy at a time, on a core of its own, and the client
has the other. Rounds are interleaved in a new random order each time, so that whatever the machine does meanwhile
happens to everybody. Every response is checked. The figures go to `.build/bench/results.json`, from which
`python -m bench.report` makes the page and the picture in docs/; those of a partial or quick run to a file beside it.

Ends with 0 even where a figure falls short, since it is a report; with 1 if a response was wrong, or if ours could not
be measured.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import attrs

from bench import judging, machine, scenarios, tables
from bench.crowd import measure_crowd
from bench.load import Scripts, Tally, Wrong
from bench.peers.install import BUILD, CannotInstall
from bench.peers.launch import CLIENT_CORE, CannotServe, Served, pin
from bench.peers.table import BY_NAME, OURS, PEERS, Peer
from bench.record import FULL, QUICK, Effort, Record
from bench.scenarios import Scenario
from bench.stages import measure_commands, measure_turns
from bench.wire import Malformed

RESULTS, PARTIAL = BUILD / "results.json", BUILD / "results-partial.json"
"""A run that leaves something out must not take the place of one that does not."""
MAIN = "call"
LATER = ("memory", "crowd", "command", "turns")
"""What is measured apart from the interleaved scenarios, because it needs servers of its own."""


def start(peers: Sequence[Peer], record: Record, stack: ExitStack) -> list[Served]:
    """All that can be had, ready. What cannot is noted with its reason."""
    served = []
    for peer in peers:
        try:
            one = stack.enter_context(Served(peer))
            one.wait_until_ready()
        except (CannotInstall, CannotServe) as problem:
            record.results["skipped"][peer.name] = str(problem)
            print(f"skipped {peer.title}: {problem}", flush=True)
        else:
            served.append(one)
    return served


def interleave(scenario: Scenario, servers: Sequence[Served], effort: Effort, record: Record) -> None:
    playing: list[tuple[Served, Scripts]] = []
    for served in servers:
        reason = served.peer.lacks.get(scenario.name)
        if reason is not None:
            record.absent(scenario.name, served.peer.name, reason)
        elif served.peer.is_ours or not scenario.ours_only:
            try:
                playing.append((served, scenario.scripts(served)))
            except (Wrong, Malformed, OSError) as problem:
                record.note(scenario.name, served.peer.name, Tally(wrong=1, faults=[f"no session: {problem}"]))
    # The scenario that comes first finds cold compilers: Node's takes more than three seconds until it has settled.
    warm_up = effort.warm_up * 5 if scenario.name == MAIN else effort.warm_up
    for served, scripts in playing:
        _, tally = scenarios.play(served, scripts, warm_up)
        record.note(scenario.name, served.peer.name, tally)
    for _ in range(effort.main_rounds if scenario.name == MAIN else effort.rounds):
        random.shuffle(playing)
        for served, scripts in playing:
            # The client's own rubbish is collected between rounds, not in one of them.
            gc.collect()
            measured, tally = scenarios.play(served, scripts, effort.seconds, scenario.units_per_script)
            record.note(scenario.name, served.peer.name, tally)
            record.add(scenario.name, served.peer.name, measured)


def measure(chosen: Sequence[str], peers: Sequence[Peer], effort: Effort, record: Record) -> None:
    with ExitStack() as stack:
        servers = start(peers, record, stack)
        record.results["versions"] = machine.versions([each.peer for each in servers])
        gc.disable()
        for scenario in scenarios.SCENARIOS:
            if scenario.name in chosen:
                print(f"measuring {scenario.title} ...", flush=True)
                interleave(scenario, servers, effort, record)
        if "memory" in chosen or "crowd" in chosen:
            measure_crowd(servers, effort, record, crowded="crowd" in chosen)
        gc.enable()
    if "command" in chosen:
        measure_commands(effort, record)
    if "turns" in chosen:
        measure_turns(effort, record)


def known_scenarios() -> list[str]:
    return [*scenarios.BY_NAME, *LATER]


def options() -> argparse.Namespace:
    known = known_scenarios()
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds: a look, not a measurement")
    parser.add_argument("--only", default=",".join(known), help=f"scenarios, with commas: {', '.join(known)}")
    parser.add_argument("--peers", default=",".join(BY_NAME), help=f"servers, with commas: {', '.join(BY_NAME)}")
    parser.add_argument("--rounds", type=int, help="instead of the usual number")
    parser.add_argument("--seconds", type=float, help="how long a round takes")
    given = parser.parse_args()
    for names, allowed in ((given.only, known), (given.peers, list(BY_NAME))):
        if unknown := sorted(set(names.split(",")) - set(allowed)):
            parser.error(f"{unknown[0]!r} is not one of {', '.join(allowed)}")
    return given


def main() -> int:
    given = options()
    partial = is_partial(given)
    record, began, finished = Record.empty(effort_of(given)), time.monotonic(), False
    record.results["machine"] = machine.describe()
    peers = [peer for peer in PEERS if peer.name in {*given.peers.split(","), OURS}]
    pin(CLIENT_CORE)
    # So that the servers and their data go away in good order when somebody stops the run.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        measure(given.only.split(","), peers, effort_of(given), record)
        finished = True
    finally:
        # Whatever went wrong at the end of it, minutes of measuring are worth keeping.
        record.results["machine"]["load_after"] = machine.load()
        record.results["took_seconds"] = round(time.monotonic() - began)
        BUILD.mkdir(parents=True, exist_ok=True)
        (PARTIAL if partial or not finished else RESULTS).write_text(json.dumps(record.results, indent=1))
    return tell(record.results, everything=not partial)


def tell(results: Mapping[str, Any], *, everything: bool) -> int:
    """Print it all; the exit code."""
    print(tables.as_text(results))
    print("\n" + judging.as_text([each for each in judging.judge(results) if each.figure or everything]))
    wrong = {name: each for name, each in results["wrong"].items() if each["count"]}
    for name, each in wrong.items():
        print(f"{each['count']} WRONG responses of {name}:", *each["faults"][:5], sep="\n  ")
    return 1 if wrong or OURS in results["skipped"] else 0


def effort_of(given: argparse.Namespace) -> Effort:
    effort = QUICK if given.quick else FULL
    if given.rounds:
        effort = attrs.evolve(effort, main_rounds=given.rounds, rounds=given.rounds)
    return attrs.evolve(effort, seconds=given.seconds or effort.seconds)


def is_partial(given: argparse.Namespace) -> bool:
    left_out = {*known_scenarios()} - {*given.only.split(",")} | {*BY_NAME} - {*given.peers.split(",")}
    return given.quick or bool(left_out)


if __name__ == "__main__":
    sys.exit(main())

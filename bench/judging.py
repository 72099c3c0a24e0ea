"""Whether the figures are as good as they are meant to be. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from bench.figures import figures_of
from bench.peers.table import OURS

INCUMBENT_TURNS = 5.7
"""Turns per second of the server that this one replaces, measured earlier on such a machine with the same model."""

# Our CPU over theirs, at most.
SHARES = (
    ("call", "sdk-uvloop", 1 / 2, "half of the Python SDK on uvloop in JSON mode"),
    ("call", "sdk", 1 / 5, "a fifth of the Python SDK as shipped"),
    ("call", "fastmcp", 1 / 6, "a sixth of FastMCP as shipped"),
    ("call", "fastapi-mcp", 1 / 8, "an eighth of fastapi-mcp"),
    ("call", "typescript-v1", 1.0, "less than the TypeScript SDK v1"),
    ("paced", "sdk", 1 / 4, "a quarter of the Python SDK"),
    ("burst", "sdk", 1 / 4, "a quarter of the Python SDK"),
    ("setup", "sdk", 1 / 3, "a third of the Python SDK"),
    ("own-setup", "sdk", 1 / 3, "a third of the Python SDK"),
)
SUBJECTS = {
    "call": "CPU of tools/call",
    "paced": "CPU of a paced notification",
    "burst": "CPU of a notification in a burst",
    "setup": "CPU of a session set-up",
    "own-setup": "CPU of a session set-up, with a session of the product in it",
}
THEIRS = {"own-setup": "setup"}
"""Where they have no such thing, what ours is compared with."""
IDLE_KB, CROWD_FACTOR, CROWD_MS, TURNS_FACTOR = 8.0, 2.0, 10.0, 10.0


@attrs.frozen
class Verdict:
    claim: str
    figure: str
    """Empty if there is none."""
    good: bool

    @property
    def word(self) -> str:
        return ("PASS" if self.good else "FALLS SHORT") if self.figure else "NOT MEASURED"


def judge(results: Mapping[str, Any]) -> list[Verdict]:
    return [*_shares(results), _idle(results), *_crowd(results), _turns(results)]


def _shares(results: Mapping[str, Any]) -> Iterator[Verdict]:
    for scenario, peer, share, meaning in SHARES:
        claim = f"{SUBJECTS[scenario]}: {meaning}"
        ours, theirs = figures_of(results, scenario, OURS), figures_of(results, THEIRS.get(scenario, scenario), peer)
        if ours is None or theirs is None:
            yield Verdict(claim, "", False)
            continue
        mine, other = ours.cpu_us, theirs.cpu_us
        figure = f"{mine.middle:.1f} to {other.middle:.1f} µs is {mine.to(other):.3f}, at most {share:.3f}"
        yield Verdict(claim, figure, mine.to(other) < share if share == 1.0 else mine.to(other) <= share)


def _idle(results: Mapping[str, Any]) -> Verdict:
    found = results["memory"].get(OURS)
    claim = f"memory of an idle session: {IDLE_KB:g} KB or less"
    if found is None:
        return Verdict(claim, "", False)
    return Verdict(claim, f"{found['kb_per_session']:.1f} KB", found["kb_per_session"] <= IDLE_KB)


def _crowd(results: Mapping[str, Any]) -> Iterator[Verdict]:
    alone, crowded = figures_of(results, "alone", OURS), figures_of(results, "crowded", OURS)
    claims = (
        f"p99 beside 5,000 idle sessions: within {CROWD_FACTOR:g} times that with none",
        f"p99 beside 5,000 idle sessions: under {CROWD_MS:g} ms",
    )
    if alone is None or crowded is None:
        yield from (Verdict(claim, "", False) for claim in claims)
        return
    factor, high = crowded.p99_ms.to(alone.p99_ms), crowded.p99_ms.middle
    yield Verdict(
        claims[0], f"{alone.p99_ms.middle:.2f} to {high:.2f} ms is {factor:.2f} times", factor <= CROWD_FACTOR
    )
    yield Verdict(claims[1], f"{high:.2f} ms", high < CROWD_MS)


def _turns(results: Mapping[str, Any]) -> Verdict:
    least = INCUMBENT_TURNS * TURNS_FACTOR
    claim = f"agent turns, 40 sessions at 200 ms per LLM call: {least:g} per second or more"
    found = results["turns"].get("200")
    if found is None:
        return Verdict(claim, "", False)
    return Verdict(claim, f"{found['rate']:.1f} per second", found["rate"] >= least)


def as_text(verdicts: Sequence[Verdict]) -> str:
    return "\n".join(f"{each.word:<12} {each.claim} ({each.figure or 'no figure'})" for each in verdicts)

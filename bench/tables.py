"""The figures as tables: titles, headings and rows of cells, and both as plain text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from bench.figures import Figures, Spread, figures_of
from bench.peers.table import BARE, OURS, PEERS
from bench.scenarios import SCENARIOS

HEADINGS = ("", "CPU µs", "min..max", "x ours", "per s", "p50 ms", "p99 ms")
TITLES = {
    **{each.name: f"{each.title}, per {each.unit}" for each in SCENARIOS},
    "alone": "tools/call in a session, with no other sessions",
    "crowded": "tools/call in a session, beside 5,000 idle ones",
    "command": "execute_command in a session (the example bookshop), per call",
}
NAMES = {**{peer.name: peer.title for peer in PEERS}, BARE: "Greenroom, protocol session alone"}


@attrs.frozen
class Table:
    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    """A row of two cells is a name and the reason why there are no figures."""


def tables(results: Mapping[str, Any]) -> Iterator[Table]:
    for name, title in TITLES.items():
        if name in results["scenarios"]:
            yield Table(title, HEADINGS, [_row(results, name, peer) for peer in _present(results["scenarios"][name])])
    if results["memory"]:
        yield Table("memory of an idle session that has had one call", ("", "KB", "x ours"), list(_memory(results)))
    if results["turns"]:
        headings = ("LLM latency", "turns/s", "median ms", "p95 ms", "server CPU ms per turn")
        yield Table("agent turns of one command, 40 sessions (Greenroom)", headings, list(_turns(results)))


def _present(found: Mapping[str, Any]) -> list[str]:
    return [name for name in NAMES if name in found]


def _row(results: Mapping[str, Any], scenario: str, peer: str) -> tuple[str, ...]:
    figures = figures_of(results, scenario, peer)
    if figures is None:
        reason = results["scenarios"][scenario][peer].get("absent", "no response was right")
        return (NAMES[peer], f"n/a: {reason}")
    ours = figures_of(results, scenario, OURS)
    return (
        NAMES[peer],
        number(figures.cpu_us.middle),
        f"{number(figures.cpu_us.low)}..{number(figures.cpu_us.high)}",
        _ratio(figures, ours),
        f"{figures.rate.middle:,.0f}",
        _between(figures.p50_ms),
        _between(figures.p99_ms),
    )


def number(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _ratio(figures: Figures, ours: Figures | None) -> str:
    return f"{figures.cpu_us.to(ours.cpu_us):.2f}" if ours else "-"


def _between(spread: Spread) -> str:
    return f"{number(spread.middle)} ({number(spread.low)}..{number(spread.high)})"


def _memory(results: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    ours = results["memory"].get(OURS, {}).get("kb_per_session")
    for name, found in results["memory"].items():
        kilobytes = found["kb_per_session"]
        yield NAMES[name], number(kilobytes), f"{kilobytes / ours:.2f}" if ours else "-"


def _turns(results: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for found in results["turns"].values():
        yield (
            f"{found['delay_ms']:g} ms",
            number(found["rate"]),
            number(found["median_ms"]),
            number(found["p95_ms"]),
            f"{found['cpu_ms_per_turn']:.2f}",
        )


def as_text(results: Mapping[str, Any]) -> str:
    blocks = ["\n".join([each.title, *map(_line, [each.headings, *each.rows])]) for each in tables(results)]
    skipped = [f"skipped {NAMES[name]}: {reason}" for name, reason in results["skipped"].items()]
    return "\n\n".join([*blocks, *skipped])


_WIDTHS = (34, 9, 15, 9, 9, 22, 22)


def _line(cells: tuple[str, ...]) -> str:
    first, *others = zip(cells, _WIDTHS, strict=False)
    if len(cells) == 2:
        return f"  {cells[0]:<{first[1]}} {cells[1]}"
    return f"  {first[0]:<{first[1]}} " + " ".join(f"{cell:>{width}}" for cell, width in others)

"""The picture of the result: bars, as SVG written by hand, in the reader's light or dark. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import attrs

from bench.figures import figures_of
from bench.peers.table import OURS, PEERS, STOCK
from bench.tables import NAMES, number

_PANELS = (
    ("call", "tools/call in a session, CPU µs"),
    ("stateless", "tools/call without a session, CPU µs"),
    ("setup", "session set-up, CPU µs"),
    ("paced", "paced notification, CPU µs"),
)
_MEMORY = "memory of an idle session, KB"
_CROWDED = "99th percentile beside 5,000 idle sessions, ms"

WIDTH, COLUMNS = 960, 2
_PANEL, _GAP, _MARGIN = 440, 32, 24
_TOP, _ROW, _HEAD = 74, 20, 30
_LABEL, _VALUE = 172, 52

_STYLE = """
  svg { --ground: #ffffff; --ink: #1f2328; --quiet: #59636e; --bar: #b6bfc9; --ours: #0f7b53; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #e6edf3; --quiet: #9198a1; --bar: #444c56; --ours: #3fb984; }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--ink); }
  .title { font-size: 18px; font-weight: 600; }
  .panel { font-weight: 600; }
  .quiet { fill: var(--quiet); }
  .ours { fill: var(--ours); font-weight: 600; }
  rect.bar { fill: var(--bar); }
  rect.ours { fill: var(--ours); }
  .ground { fill: var(--ground); }
"""


@attrs.frozen
class Panel:
    title: str
    bars: Sequence[tuple[str, float]]
    """A peer's name, and how long its bar is."""


def panels(results: Mapping[str, Any]) -> list[Panel]:
    found = [Panel(title, _bars(results, scenario, "cpu_us")) for scenario, title in _PANELS]
    memory = results["memory"]
    found.append(Panel(_MEMORY, [(name, memory[name]["kb_per_session"]) for name in _shown() if name in memory]))
    found.append(Panel(_CROWDED, _bars(results, "crowded", "p99_ms")))
    return [panel for panel in found if panel.bars]


def _shown() -> list[str]:
    # The stock HTTP path is for ourselves to look at; in the picture it would be a second thing of the same name.
    return [peer.name for peer in PEERS if peer.name != STOCK]


def _bars(results: Mapping[str, Any], scenario: str, figure: str) -> list[tuple[str, float]]:
    measured = ((name, figures_of(results, scenario, name)) for name in _shown())
    return [(name, getattr(figures, figure).middle) for name, figures in measured if figures is not None]


def picture(results: Mapping[str, Any]) -> str:
    shown = panels(results)
    rows = [shown[at : at + COLUMNS] for at in range(0, len(shown), COLUMNS)]
    body: list[str] = []
    top = float(_TOP)
    for row in rows:
        for column, panel in enumerate(row):
            body += _panel(panel, _MARGIN + column * (_PANEL + _GAP), top)
        top += _HEAD + _ROW * max(len(panel.bars) for panel in row) + _GAP
    machine = results["machine"]
    said = f"{machine['date']}, {machine['cores']} cores of {machine['cpu']}, Python {machine['python']}"
    height = top + 8
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}"'
            f' height="{height:g}" role="img" aria-label="Greenroom beside its peers; shorter bars are better">',
            f"<style>{_STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{height:g}"/>',
            f'<text class="title" x="{_MARGIN}" y="34">Greenroom beside its peers: shorter is better</text>',
            f'<text class="quiet" x="{_MARGIN}" y="54">{escape(said)}</text>',
            *body,
            f'<text class="quiet" x="{_MARGIN}" y="{top - 6:g}">{escape(_versions(results))}</text>',
            "</svg>\n",
        ]
    )


def _panel(panel: Panel, left: float, top: float) -> Iterator[str]:
    yield f'<text class="panel" x="{left:g}" y="{top + 14:g}">{escape(panel.title)}</text>'
    longest = max(value for _, value in panel.bars)
    room = _PANEL - _LABEL - _VALUE
    for place, (name, value) in enumerate(panel.bars):
        y = top + _HEAD + place * _ROW
        kind = "ours" if name == OURS else "bar"
        length = max(value / longest * room, 1.0)
        text = ' class="ours"' if name == OURS else ""
        yield f'<text{text} x="{left + _LABEL - 8:g}" y="{y + 4:g}" text-anchor="end">{escape(_short(name))}</text>'
        yield f'<rect class="{kind}" x="{left + _LABEL:g}" y="{y - 7:g}" width="{length:.1f}" height="14" rx="2"/>'
        yield f'<text{text} x="{left + _LABEL + length + 6:.1f}" y="{y + 4:g}">{number(value)}</text>'


def _short(name: str) -> str:
    return NAMES[name].removesuffix(", no log")


def _versions(results: Mapping[str, Any]) -> str:
    """The first of each environment's versions: the library that it is there for."""
    named = {"python-sdk": "Python SDK", "fastmcp": "FastMCP", "fastapi-mcp": "fastapi-mcp"}
    told = [f"{title} {_first(results, name)}" for name, title in named.items() if name in results["versions"]]
    for name in ("typescript-v1", "typescript-v2"):
        if name in results["versions"]:
            told.append(f"TypeScript SDK {_package(results['versions'][name])}")
    return ", ".join(told)


def _first(results: Mapping[str, Any], environment: str) -> str:
    version: str = results["versions"][environment].partition(",")[0]
    return version.rpartition(" ")[2]


def _package(versions: str) -> str:
    """The version of the SDK itself, among Node's and those of what is around it."""
    named = dict(each.rsplit(" ", 1) for each in versions.split(", "))
    return named.get("@modelcontextprotocol/sdk") or named.get("@modelcontextprotocol/server", "")

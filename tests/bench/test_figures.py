"""Rounds become figures, and figures become verdicts, tables, a page and a picture."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import attrs
import pytest

from bench import judging, tables
from bench.figures import Figures, Round, Spread, percentile
from bench.peers.install import HERE
from bench.peers.table import PEERS
from bench.picture import picture
from bench.report import page

MACHINE = {
    "date": "today",
    "cores": 2,
    "cpu": "A <fast> CPU",
    "memory_gb": 8,
    "system": "Linux",
    "python": "3.11",
    "load": 0.1,
}


def rounds(cpu: float, p99: float = 5.0) -> dict[str, Any]:
    return {"rounds": [attrs.asdict(Round(100, cpu + more, 1000.0, 1.0, p99, 1.0)) for more in (-1.0, 0.0, 2.0)]}


def results(**changes: Any) -> dict[str, Any]:
    """Figures that are good enough in everything."""
    call = {"greenroom": 50, "sdk-uvloop": 200, "sdk": 600, "fastmcp": 900, "fastapi-mcp": 1000, "typescript-v1": 190}
    pair = {"greenroom": rounds(20), "sdk": rounds(90)}
    return {
        "scenarios": {
            "call": {name: rounds(cpu) for name, cpu in call.items()},
            "paced": {**pair, "sdk-json": {"absent": "JSON mode sends none"}},
            "burst": pair,
            "setup": {"greenroom": rounds(300), "sdk": rounds(1400)},
            "own-setup": {"greenroom": rounds(400)},
            "alone": {"greenroom": rounds(50, 2.0)},
            "crowded": {"greenroom": rounds(50, 3.9)},
        },
        "memory": {"greenroom": {"kb_per_session": 4.0}, "sdk": {"kb_per_session": 36.0}},
        "turns": {"200": {"delay_ms": 200, "rate": 60.0, "median_ms": 500, "p95_ms": 600, "cpu_ms_per_turn": 2.0}},
        "skipped": {"typescript-v2": "npm is\nnot there"},
        "versions": {
            "greenroom": "greenroom 1",
            "python-sdk": "mcp 2.3.0, uvicorn 1",
            "typescript-v1": "Node 1, @modelcontextprotocol/sdk 3, express 5",
        },
        "machine": MACHINE,
        "quick": False,
        **changes,
    }


def words(found: dict[str, Any]) -> set[str]:
    return {verdict.word for verdict in judging.judge(found)}


@pytest.mark.parametrize(("percent", "expected"), [(50, 50), (99, 99), (100, 100), (1, 1), (0.1, 1)])
def test_a_percentile_is_a_value_that_so_many_do_not_exceed(percent: float, expected: int) -> None:
    assert percentile(list(range(100, 0, -1)), percent) == expected


def test_a_round_counts_units_but_times_scripts() -> None:
    measured = Round.of([0.125, 0.25], 2.0, 0.5, 0.25, per_script=100)
    assert measured == Round(200, 2500.0, 100.0, 125.0, 250.0, 1250.0)


def test_figures_are_medians_between_extremes() -> None:
    assert Figures.of(rounds(50)["rounds"]).cpu_us == Spread(50.0, 49.0, 52.0)


def test_figures_that_reach_every_mark_pass() -> None:
    assert words(results()) == {"PASS"}


@pytest.mark.parametrize(
    ("scenario", "peer", "cpu"),
    [
        ("call", "sdk-uvloop", 99),
        ("call", "sdk", 249),
        ("call", "fastmcp", 299),
        ("call", "fastapi-mcp", 399),
        ("call", "typescript-v1", 50),
        ("paced", "sdk", 79),
        ("burst", "sdk", 79),
        ("setup", "greenroom", 467),
        ("own-setup", "greenroom", 467),
    ],
)
def test_each_share_falls_short_by_itself(scenario: str, peer: str, cpu: float) -> None:
    found = results()
    found["scenarios"][scenario] = {**found["scenarios"][scenario], peer: rounds(cpu)}
    assert [verdict.word for verdict in judging.judge(found)].count("FALLS SHORT") == 1


@pytest.mark.parametrize(("p99", "short"), [(4.1, 1), (10.1, 2)])
def test_a_crowd_may_neither_double_the_latency_nor_reach_ten_milliseconds(p99: float, short: int) -> None:
    found = results()
    found["scenarios"]["crowded"] = {"greenroom": rounds(50, p99)}
    assert [verdict.word for verdict in judging.judge(found)].count("FALLS SHORT") == short


def test_memory_and_turns_have_their_marks() -> None:
    heavy = results(memory={"greenroom": {"kb_per_session": 8.1}})
    slow = results(turns={"200": {**results()["turns"]["200"], "rate": 56.9}})
    assert words(heavy) == words(slow) == {"PASS", "FALLS SHORT"}


def test_what_was_not_measured_is_not_judged() -> None:
    found = results(scenarios={}, memory={}, turns={})
    assert words(found) == {"NOT MEASURED"}
    assert len(judging.judge(found)) == len(judging.judge(results()))


def test_the_table_tells_ratios_absences_and_what_was_skipped() -> None:
    text = tables.as_text(results())
    assert re.search(r"Python SDK, as shipped +600 +599\.\.602 +12\.00 ", text)
    assert re.search(r"Python SDK, JSON +n/a: JSON mode sends none", text)
    assert "skipped TypeScript SDK v2" in text


def test_the_page_holds_every_row_of_every_table() -> None:
    written = page(results())
    for table in tables.tables(results()):
        for row in table.rows:
            assert all(cell in written for cell in row), row
    assert "because npm is not there" in written
    assert "quick run" not in written
    assert "quick run" in page(results(quick=True))


def test_the_picture_is_well_formed_and_as_long_as_the_figures() -> None:
    drawing = ElementTree.fromstring(picture(results()))
    svg = "{http://www.w3.org/2000/svg}"
    bars = [float(bar.attrib["width"]) for bar in drawing.iter(f"{svg}rect") if bar.attrib["class"] != "ground"]
    assert bars[0] / bars[2] == pytest.approx(50 / 600, abs=0.001)
    said = [text.text or "" for text in drawing.iter(f"{svg}text")]
    assert any("A <fast> CPU" in text for text in said)
    assert any("Python SDK 2.3.0, TypeScript SDK 3" in text for text in said)


def test_a_picture_can_be_drawn_of_little() -> None:
    ElementTree.fromstring(picture(results(memory={}, scenarios={"call": {"greenroom": rounds(1)}})))


@pytest.mark.parametrize("environment", sorted({peer.environment for peer in PEERS if peer.environment}))
def test_every_peer_has_pins_of_exact_versions_and_nothing_else(environment: str) -> None:
    pip, npm = HERE / f"{environment}.txt", HERE / f"{environment}.json"
    assert pip.exists() != npm.exists()
    if pip.exists():
        lines = [line for line in pip.read_text().splitlines() if line and not line.startswith("#")]
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9a-z.]*", line) for line in lines), lines
    else:
        assert re.findall(r'": "[^0-9{][^"]*[0-9]\.[^"]*"', npm.read_text()) == []
        assert "://" not in npm.read_text()

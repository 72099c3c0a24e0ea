"""A few rounds of chaos on every run of the tests; `make chaos` plays many."""

from __future__ import annotations

from pathlib import Path

from tests.chaos.run import Chaos


async def test_a_server_that_is_killed_keeps_every_turn_that_it_has_answered(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path, seed=7)
    await chaos.play(5)
    assert chaos.findings.sentences == []
    assert chaos.kills >= 5
    assert chaos.acknowledged > 0

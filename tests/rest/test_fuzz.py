"""A short run of the fuzzer; the long one is `python -m tests.rest.fuzz`."""

from __future__ import annotations

from pathlib import Path

from tests.rest.fuzz import fuzz_briefly


async def test_a_few_made_up_requests_of_every_route_find_nothing_wrong(tmp_path: Path) -> None:
    tally = await fuzz_briefly(150, 7, tmp_path)
    assert tally.failures == 0, tally.told
    assert tally.cases >= 150

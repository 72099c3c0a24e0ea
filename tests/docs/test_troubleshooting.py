"""Every heading of the troubleshooting page is something that Greenroom says, and is made to say here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.sentences import WAYS
from tests.transport.process import ROOT

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)


def pattern(heading: str) -> str:
    """A sentence with its `…` as whatever may stand there; a line break counts as a space."""
    return ".+?".join(re.escape(part) for part in heading.split("…")).replace(r"\ ", r"\s+")


def test_every_heading_has_a_way_to_hear_it_and_every_way_a_heading() -> None:
    assert len(HEADINGS) == len(set(HEADINGS))
    assert set(HEADINGS) == set(WAYS)


@pytest.mark.parametrize("heading", HEADINGS)
async def test_the_sentence_is_said(heading: str, tmp_path: Path) -> None:
    said = await WAYS[heading](tmp_path)
    assert re.search(pattern(heading), said, re.DOTALL), f"said was:\n{said}"

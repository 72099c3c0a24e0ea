"""The guide says what is so: its code runs, and its sentences hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from greenroom.workflow.engine import Instance
from greenroom.workflow.plain.load import load_plain
from tests.plain.apps import own_commands, says, write
from tests.transport.process import ROOT

GUIDE = (ROOT / "docs" / "writing-a-workflow.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)

RUNS = [
    (
        ["order_tea", "show_menu"],
        ["order_tea <tea>matcha</tea> <cups>2</cups>"],
        "Tea is coming: 2 x matcha, 9.00 in all.",
    ),
    (
        ["Book/rate", "open_book"],
        ["open_book <title>Dune</title>", "rate <stars>4</stars>"],
        "Thank you. Dune has 1 ratings.",
    ),
    (["Basket/show", "buy", "open_basket"], ["buy <item>tea</item>", "open_basket", "show"], "- tea"),
    (["Notes/write", "open_notes"], ["open_notes", "write <line>a</line>"], "Done."),
    (["bake"], ["bake <loaves>1</loaves>"], "The bread is ready."),
]


@pytest.mark.parametrize(("code", "run"), list(zip(BLOCKS, RUNS, strict=True)))
def test_each_piece_of_code_is_a_workflow(tmp_path: Path, code: str, run: tuple[list[str], list[str], str]) -> None:
    commands, walk, last = run
    instance = Instance(load_plain(write(tmp_path, code)))
    assert own_commands(instance.definition) == commands
    assert says(instance, *walk)[-1] == last


def test_the_fifteen_lines_are_those_of_the_example() -> None:
    assert BLOCKS[0] == (ROOT / "examples" / "plain_tearoom.py").read_text("utf-8")
    assert len(BLOCKS[0].splitlines()) == 15


def test_every_example_that_the_guide_names_is_there() -> None:
    for named in re.findall(r"`(examples/[\w/.]+)`", GUIDE):
        assert (ROOT / named).exists(), named

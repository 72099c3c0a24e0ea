"""The command line itself: help, examples, mistakes, and how little it takes to answer."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import pytest

from greenroom.config.cli import make_parser, parse
from tests.cli.running import ROOT, environment, greenroom

_, COMMANDS = make_parser()

HEAVY = {"trio", "anyio", "quart", "hypercorn", "mcp", "rich", "numpy", "pydantic", "watchfiles", "speedict"}


def imported_by(*arguments: str) -> set[str]:
    """The top-level modules that are loaded when the command has answered."""
    script = (
        "import sys, json\n"
        "from greenroom.__main__ import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(json.loads(ran.stdout.splitlines()[-1]))


def test_there_are_the_commands_that_the_readme_tells_of() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## The command line")[2].partition("\n## ")[0]
    told = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `greenroom ")]
    words = [name for cell in told for name in re.findall(r"`(?:greenroom )?([a-z]+)", cell)]
    assert sorted(words) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_an_example_that_can_be_typed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse([name, "--help"])
    assert caught.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    example = shown.partition("Example: ")[2]
    assert example.startswith(f"greenroom {name}")
    for one in example.split("&&"):
        program, *arguments = shlex.split(one)
        assert program == "greenroom"
        parse(arguments)


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["--version"], ["sevre"], ["call", "nonsense"]])
def test_help_and_mistakes_are_answered_without_loading_anything_heavy(arguments: list[str]) -> None:
    loaded = imported_by(*arguments)
    assert "argparse" in loaded
    assert loaded & HEAVY == set()


def test_a_bad_configuration_is_told_without_loading_anything_heavy() -> None:
    assert imported_by("serve", "--port", "eighty") & HEAVY == set()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["sevre"], "there is no command 'sevre': did you mean serve?"),
        (["instal", "cursor"], "did you mean install?"),
        (["serve", "--prot", "1"], "'--prot' is not understood: did you mean --port?"),
        (["serve", "--prot=1"], "did you mean --port?"),
        (["call", "http://h/mcp", "tool", "--rwa"], "did you mean --raw?"),
        (["serve", "one", "two"], "'two' is not understood"),
        (["serve", "one", "--workflow", "two"], "two workflows are named, 'one' and 'two': leave one out"),
        (["call", "h/mcp"], "'h/mcp' is not an http or https URL"),
        (["call", "http://h/mcp", "tool", "oops"], "'oops' is not KEY=VALUE"),
        (["call", "http://h/mcp", "tool", "--json", "[1]"], "is not a JSON object"),
        (["call", "http://h/mcp", "tool", "a=1", "--json", "{}"], "either as KEY=VALUE or with --json"),
        (["call", "http://h/mcp", "--json", "{}"], "say which TOOL"),
        (["install", "emacs"], "invalid choice: 'emacs'"),
        (["install", "cursor", "--name", "a b"], "is not a name of letters, digits, - and _"),
        ([], "say what to do"),
    ],
)
def test_a_mistake_says_what_may_have_been_meant(arguments: list[str], hint: str) -> None:
    ran = greenroom(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("usage: greenroom")
    assert hint in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_header_that_is_refused_is_not_shown() -> None:
    ran = greenroom("call", "http://h/mcp", "--header", "Authorization Bearer hush-hush")
    assert ran.returncode == 2
    assert "NAME:VALUE" in ran.stderr
    assert "hush" not in ran.stderr


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_version_tells_what_a_report_of_a_problem_needs(arguments: list[str]) -> None:
    ran = greenroom(*arguments)
    assert (ran.returncode, ran.stderr) == (0, "")
    names = [line.partition(" ")[0] for line in ran.stdout.splitlines()]
    assert names == ["greenroom", "Python", "trio", "hypercorn", "mcp", "speedict"]
    assert all(line.split(" ")[1][0].isdigit() for line in ran.stdout.splitlines())


def test_whoever_stops_reading_is_not_shown_a_traceback() -> None:
    ran = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m greenroom check | head -c 1"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    assert "BrokenPipe" not in ran.stderr

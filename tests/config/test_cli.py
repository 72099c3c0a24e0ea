"""The command line, and what the process that it starts says and returns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from greenroom import __version__
from greenroom.__main__ import main
from greenroom.config.cli import Call, Chat, Check, Command, Dev, Install, New, Serve, Version, parse

ROOT = Path(__file__).parents[2]


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    return subprocess.run(
        [sys.executable, "-m", "greenroom", *arguments],
        env=clean | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["serve"], Serve({})),
        (["check"], Check({})),
        (["serve", "--host", "::1", "--port", "0"], Serve({"GREENROOM_HOST": "::1", "GREENROOM_PORT": "0"})),
        (["serve", "--port", "-1"], Serve({"GREENROOM_PORT": "-1"})),
        (["serve", "--workflow", "demo"], Serve({"WORKFLOW_PATH": "demo"})),
        (["serve", "demo"], Serve({"WORKFLOW_PATH": "demo"})),
        (["serve", "demo", "--workflow", "demo"], Serve({"WORKFLOW_PATH": "demo"})),
        (["dev", "--port", "0", "app.py"], Dev({"WORKFLOW_PATH": "app.py", "GREENROOM_PORT": "0"})),
        (["check", "--workflow=./w"], Check({"WORKFLOW_PATH": "./w"})),
    ],
)
def test_arguments_become_a_command_with_overrides_by_variable(argv: list[str], command: Command) -> None:
    assert parse(argv) == command


@pytest.mark.parametrize(
    "argv", [[], ["dance"], ["serve", "--prot", "1"], ["serve", "--por", "1"], ["serve", "one", "two"]]
)
def test_a_mistaken_command_line_ends_with_usage_and_code_2(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(argv)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: greenroom")


URL = "http://127.0.0.1:8000/mcp"


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["new", "shop"], New(Path("shop"))),
        (["new", "--plain", "shop"], New(Path("shop"), plain=True)),
        (["version"], Version()),
        (["call", URL], Call(URL)),
        (["call", URL, "add", "a=1", "b=x=y"], Call(URL, "add", (("a", "1"), ("b", "x=y")))),
        (
            ["call", "--raw", URL, "--timeout", "2", "add", "--legacy", "a="],
            Call(URL, "add", (("a", ""),), None, True, True, (), 2.0),
        ),
        (["call", URL, "add", "--json", '{"a": [1]}'], Call(URL, "add", arguments={"a": [1]})),
        (["call", URL, "--header", "A: b", "--header", "C:d:e"], Call(URL, headers=(("A", "b"), ("C", "d:e")))),
        (["chat"], Chat()),
        (["chat", URL, "--user", "ann", "--assistant"], Chat(URL, "ann", assistant=True)),
        (["install", "cursor"], Install("cursor")),
        (
            ["install", "vscode", "--name", "a", "--url", URL, "--file", "f", "--dry-run", "--force"],
            Install("vscode", "a", URL, Path("f"), dry_run=True, force=True),
        ),
    ],
)
def test_arguments_become_a_command(argv: list[str], command: Command) -> None:
    assert parse(argv) == command


def test_version_is_printed_and_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith(f"greenroom {__version__}\n")


@pytest.mark.parametrize("command", ["serve", "check"])
def test_a_bad_configuration_is_one_message_and_code_2_without_a_traceback(command: str) -> None:
    result = run(command, "--port", "eighty", CONTEXT="{oops", GREENROOM_PROT="1")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[0] == "Greenroom cannot start: its configuration has 3 problems."
    assert "GREENROOM_PORT is 'eighty' (from command line), but it must be a whole number" in result.stderr


def test_check_shows_the_effective_configuration_without_secrets_and_finds_the_workflow() -> None:
    result = run("check", "--port", "0", LITELLM_API_KEY_AGENT="hush-hush", LLM_AGENT="openai/gpt")
    assert result.returncode == 0, result.stderr
    shown = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "GREENROOM_PORT 0 (from command line)" in shown
    assert "LLM_AGENT openai/gpt (from environment)" in shown
    assert "LITELLM_API_KEY_AGENT *** (from environment)" in shown
    assert "hush" not in result.stdout + result.stderr
    assert shown[-1] == "The configuration is good and the workflow 'demo' can be loaded."


def test_check_refuses_a_folder_that_is_no_workflow_without_a_traceback(tmp_path: Path) -> None:
    result = run("check", "--workflow", str(tmp_path))
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith(f"The workflow in {tmp_path} has a problem:")

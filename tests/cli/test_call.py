"""`call` against a real server: progress before the result, exit codes, plain pipes."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.folders import GATE, gated
from tests.cli.running import SECONDS, environment, greenroom, running, serving, terminal

ERAS = [[], ["--legacy"]]
both_eras = pytest.mark.parametrize("era", ERAS, ids=["modern", "legacy"])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving("demo", tmp_path_factory.mktemp("demo")) as url:
        yield url


def session_of(url: str) -> str:
    opened = json.loads(greenroom("call", url, "initialize", "--raw").stdout)
    session: str = opened["structuredContent"]["session_id"]
    return session


@both_eras
def test_progress_is_on_screen_while_the_tool_runs(era: list[str], tmp_path: Path) -> None:
    gate = tmp_path / "open"
    with serving(gated(tmp_path), tmp_path, **{GATE: str(gate)}) as url:
        session = f"session_id={session_of(url)}"
        with running("call", url, "execute_command", "command=wait", session, *era) as call:
            call.line("[2/3] half way")
            # The tool cannot have ended: it waits for this.
            assert call.process.poll() is None
            gate.touch()
            told = [line for line in call.rest() if not line.startswith("... ")]
            assert told[0] == "the gate is open"
            assert json.loads("\n".join(told[1:]))["response_text"] == "the gate is open"
            assert call.exit_code() == 0


@both_eras
def test_all_progress_comes_in_its_order_and_before_the_result(demo: str, era: list[str]) -> None:
    with running("call", demo, "countdown", "steps=50", "seconds=0", *era) as call:
        lines = call.rest()
    assert lines == [*(f"[{n}/50] T minus {50 - n}" for n in range(1, 51)), "50 steps, and lift-off!"]


@both_eras
def test_without_a_tool_they_are_listed(demo: str, era: list[str]) -> None:
    ran = greenroom("call", demo, *era)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "remember note= [session_id=]" in ran.stdout
    raw = json.loads(greenroom("call", demo, "--raw", *era).stdout)
    assert {tool["name"] for tool in raw} >= {"countdown", "initialize"}
    assert all("inputSchema" in tool for tool in raw)


@both_eras
def test_raw_is_one_line_of_json_and_nothing_else(demo: str, era: list[str]) -> None:
    ran = greenroom("call", demo, "countdown", "steps=2", "seconds=0", "--raw", *era)
    assert (ran.returncode, ran.stderr) == (0, "")
    [line] = ran.stdout.splitlines()
    assert json.loads(line)["content"] == [{"type": "text", "text": "2 steps, and lift-off!"}]


def test_arguments_may_be_json(demo: str) -> None:
    ran = greenroom("call", demo, "countdown", "--json", '{"steps": 1, "seconds": 0}')
    assert ran.stdout == "1 steps, and lift-off!\n"


@both_eras
def test_a_structured_result_is_printed(demo: str, era: list[str]) -> None:
    session = session_of(demo)
    ran = greenroom("call", demo, "remember", "note=12", f"session_id={session}", *era)
    assert ran.returncode == 0
    assert '"notes": [\n    "12"\n  ]' in ran.stdout


@both_eras
def test_an_error_result_is_code_1(demo: str, era: list[str]) -> None:
    ran = greenroom("call", demo, "recall", "session_id=nobody", *era)
    assert ran.returncode == 1
    assert "Call the tool `initialize`" in ran.stdout
    raw = greenroom("call", demo, "recall", "session_id=nobody", "--raw", *era)
    assert raw.returncode == 1
    assert json.loads(raw.stdout)["isError"] is True


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["countdwn"], "The server has no tool 'countdwn': did you mean countdown?"),
        (["xyz"], "The server has no tool 'xyz': it has countdown, greet,"),
        (["countdown", "steps=many"], "steps must be an integer, and 'many' is not."),
        (["countdown", "steps=1", "steps=2"], "steps is given twice"),
    ],
)
def test_what_does_not_fit_the_server_is_code_2(demo: str, arguments: list[str], sentence: str) -> None:
    ran = greenroom("call", demo, *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(sentence)
    assert len(ran.stderr.splitlines()) == 1


@both_eras
def test_where_no_server_is_the_code_is_3(demo: str, era: list[str]) -> None:
    for url, sentence in (
        ("http://127.0.0.1:9/mcp", "There is no MCP server at http://127.0.0.1:9/mcp: "),
        ("http://no.such.host.invalid/mcp", "There is no MCP server at http://no.such.host.invalid/mcp: "),
        (demo.replace("/mcp", "/elsewhere"), "What answers at "),
    ):
        ran = greenroom("call", url, *era)
        assert (ran.returncode, ran.stdout) == (3, "")
        assert ran.stderr.startswith(sentence)
        assert len(ran.stderr.splitlines()) == 1


@both_eras
def test_ctrl_c_stops_the_turn_and_then_the_program(era: list[str], tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path, **{GATE: str(tmp_path / "never")}) as url:
        session = f"session_id={session_of(url)}"
        with running("call", url, "execute_command", "command=wait", session, *era) as call:
            call.line("half way")
            call.signal(signal.SIGINT)
            assert call.exit_code() == 130, call.rest()
            assert call.rest() == ["Stopped."]
        # The session becomes free, without its turn having been let through.
        deadline = time.monotonic() + SECONDS
        while (ran := greenroom("call", url, "execute_command", "command=hello", session)).returncode != 0:
            assert time.monotonic() < deadline, ran.stdout
        assert ran.stdout.startswith("hello there\n")


def test_text_of_a_server_cannot_give_orders_to_a_terminal(tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path) as url:
        ran = greenroom("call", url, "execute_command", "command=rude", f"session_id={session_of(url)}")
    assert ran.returncode == 0
    assert "wiped" in ran.stdout
    assert "\x1b" not in ran.stdout + ran.stderr
    assert "\x07" not in ran.stdout + ran.stderr


# --- a terminal --------------------------------------------------------------------------------------------


def test_a_terminal_gets_colour_and_a_bar_and_a_pipe_gets_neither(demo: str) -> None:
    arguments = ("call", demo, "recall", "session_id=nobody")
    with terminal(*arguments) as screen:
        shown = screen.to_the_end()
        assert screen.process.returncode == 1
    assert b"\x1b[31m" in shown
    with terminal("call", demo, "countdown", "steps=3", "seconds=0.3") as screen:
        shown = screen.to_the_end()
    assert b"T minus 1" in shown
    assert "━".encode() in shown
    assert b"lift-off" in shown
    for piped in (greenroom(*arguments), greenroom("call", demo, "countdown", "steps=3", "seconds=0")):
        assert "\x1b" not in piped.stdout + piped.stderr
    assert piped.stderr == "[1/3] T minus 2\n[2/3] T minus 1\n[3/3] T minus 0\n"


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_plain_lines(demo: str, variables: dict[str, str]) -> None:
    with terminal("call", demo, "countdown", "steps=2", "seconds=0", **variables) as screen:
        shown = screen.to_the_end()
    assert shown.replace(b"\r\n", b"\n") == b"[1/2] T minus 1\n[2/2] T minus 0\n2 steps, and lift-off!\n"


@both_eras
def test_a_question_of_the_tool_is_put_to_whoever_sits_at_the_terminal(demo: str, era: list[str]) -> None:
    with terminal("call", demo, "greet", *era) as screen:
        screen.until(b"What is your name?")
        screen.until(b": ")
        screen.type(b"Ada\r")
        assert b"Ada!" in screen.to_the_end().partition(b"Ada\r\n")[2]


def test_nobody_is_asked_through_a_pipe(demo: str) -> None:
    ran = greenroom("call", demo, "greet", said="Ada\n")
    assert "cannot be asked for a name" in ran.stdout


def test_environment_of_the_tests_has_nothing_of_ours_in_it() -> None:
    assert not [name for name in environment() if name.startswith("GREENROOM_")]

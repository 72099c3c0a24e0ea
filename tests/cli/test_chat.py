"""`chat` with a real server: lines through a pipe, keys on a terminal."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.folders import GATE, gated
from tests.cli.running import greenroom, running, serving, terminal, url_in

both_eras = pytest.mark.parametrize("era", [[], ["--legacy"]], ids=["modern", "legacy"])


def talk(url: str, *lines: str, arguments: tuple[str, ...] = ()) -> list[str]:
    """What is shown when these lines come through a pipe, without the greeting."""
    ran = greenroom("chat", url, *arguments, said="".join(f"{line}\n" for line in lines))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "\x1b" not in ran.stdout
    head, _, rest = ran.stdout.partition("/quit ends.\n")
    assert head.startswith("gated\nWaits at a gate.")
    return rest.splitlines()


@both_eras
def test_traces_appear_while_the_turn_runs(era: list[str], tmp_path: Path) -> None:
    gate = tmp_path / "open"
    with serving(gated(tmp_path), tmp_path, **{GATE: str(gate)}) as url, running("chat", url, *era) as chat:
        chat.line("/quit ends")
        chat.say("/wait")
        assert chat.line() == "... wait"
        assert chat.line().endswith("half way")
        # Nothing more can come: the turn waits for this.
        gate.touch()
        assert chat.line() == "... wait done: the gate is open"
        assert chat.line() == "the gate is open"
        chat.say("/quit")
        assert chat.exit_code() == 0


@both_eras
def test_ctrl_c_stops_the_turn_and_not_the_program(era: list[str], tmp_path: Path) -> None:
    never = {GATE: str(tmp_path / "never")}
    with serving(gated(tmp_path), tmp_path, **never) as url, running("chat", url, *era) as chat:
        for _ in range(2):
            chat.say("/wait")
            chat.line("half way")
            chat.signal(signal.SIGINT)
            assert chat.line() == "Stopped."
        chat.say("/hello")
        assert chat.line("hello there") == "... hello done: hello there"
        assert chat.line() == "hello there"
        chat.say("/quit")
        assert chat.exit_code() == 0


@both_eras
def test_a_question_is_answered_by_the_next_line(era: list[str], tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path) as url:
        lines = talk(url, "/assistant echo", "good morning", "/hello", arguments=tuple(era))
    assert lines[0] == "? echo needs text."
    assert lines[-3:] == ["... hello", "... hello done: hello there", "hello there"]
    assert "good morning" in lines


def test_a_question_that_nobody_answers_ends_the_chat_in_good_order(tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path) as url:
        lines = talk(url, "/assistant echo")
    assert lines[0] == "? echo needs text."
    assert "also need" in lines[-1]


@both_eras
def test_conversations_are_begun_listed_switched_and_rated(era: list[str], tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path) as url:
        arguments = ("--user", "ann", *era)
        shown = talk(url, "/hello", "/good", "/bad", "/bad too short", "/new", "/list", arguments=arguments)
        _, _, answer, good, hint, bad, begun, newest, oldest = shown
        assert answer == "hello there"
        assert good == bad == "Thank you, that is kept."
        assert hint == "Say what was wrong: /bad TEXT"
        assert begun.startswith("A new conversation has begun: ")
        assert newest.partition("  ")[0] == begun.rpartition(" ")[2]
        conversation, _, topic = oldest.partition("  ")
        assert "hello" in topic.lower()
        switched = talk(url, f"/switch {conversation}", "/switch nowhere", "/hello", "/list", arguments=arguments)
        assert switched[0] == "The conversation goes on."
        assert switched[1].startswith("There is no conversation 'nowhere'")
        # It is the newest now, because something was said in it.
        assert switched[-2].startswith(conversation)
        assert talk(url, "/list", arguments=("--user", "bob"))[0] != switched[-2]


def test_plain_words_go_to_the_agent_or_to_the_assistant(tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path) as url:
        lines = talk(url, "hello", "/assistant", "hello", "", "/agent", "hello")
        short = talk(url, "hello", arguments=("--assistant",))
    answers = [line for line in lines if not line.startswith("...")]
    told = "No language model is configured, so each part of the task was taken by its meaning alone."
    heard = "From now on invoke_{} hears what you say."
    assert answers == [
        *(told, "hello there"),
        *(heard.format("assistant"), "hello there"),
        *(heard.format("agent"), told, "hello there"),
    ]
    assert short[-1] == "hello there"


def test_help_hints_and_errors_are_told_and_the_chat_goes_on(tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path) as url:
        lines = talk(url, "/help", "/lits", "//list", "/commands", "/hello")
    assert any(line.lstrip().startswith("/switch ID") for line in lines)
    assert "/lits: did you mean list?" in lines
    assert any("There is no command 'list'" in line for line in lines)
    assert any(line.startswith("echo: ") or line == "echo" for line in lines)
    assert lines[-1] == "hello there"


def test_a_server_that_is_restarted_is_found_again_by_the_next_turn(tmp_path: Path) -> None:
    folder = gated(tmp_path)
    settings = {"SPEEDDICT_FOLDERNAME": str(tmp_path / "data"), "GREENROOM_LOG_FORMAT": "json"}
    with running("serve", str(folder), "--port", "0", **settings) as first:
        url = url_in(first.line('"listening"'))
        port = url.rpartition(":")[2].partition("/")[0]
        with running("chat", url) as chat:
            chat.say("/hello")
            chat.line("hello there")
            assert chat.line() == "hello there"
            first.signal(signal.SIGKILL)
            first.exit_code()
            chat.say("/hello")
            assert chat.line().startswith(f"There is no MCP server at {url}: ")
            with running("serve", str(folder), "--port", port, **settings) as second:
                second.line('"listening"')
                chat.say("/hello")
                chat.line("hello done")
                assert chat.line() == "hello there"
                chat.say("/quit")
                assert chat.exit_code() == 0


def test_a_session_that_the_server_does_not_know_any_more_is_opened_again(tmp_path: Path) -> None:
    folder = gated(tmp_path)
    common = {"GREENROOM_LOG_FORMAT": "json"}
    with running("serve", str(folder), "--port", "0", SPEEDDICT_FOLDERNAME=str(tmp_path / "one"), **common) as first:
        url = url_in(first.line('"listening"'))
        port = url.rpartition(":")[2].partition("/")[0]
        with running("chat", url) as chat:
            chat.line("/quit ends")
            first.signal(signal.SIGKILL)
            first.exit_code()
            other = {"SPEEDDICT_FOLDERNAME": str(tmp_path / "two"), **common}
            with running("serve", str(folder), "--port", port, **other) as second:
                second.line('"listening"')
                chat.say("/hello")
                chat.line("a new one was opened")
                chat.line("hello done")
                assert chat.line() == "hello there"


def test_there_has_to_be_a_server_that_can_converse(tmp_path: Path) -> None:
    nobody = greenroom("chat", "http://127.0.0.1:9/mcp")
    assert (nobody.returncode, nobody.stdout) == (3, "")
    assert "`greenroom serve` starts one" in nobody.stderr
    with serving("demo", tmp_path) as url:
        mute = greenroom("chat", url)
    assert (mute.returncode, mute.stdout) == (1, "")
    assert mute.stderr.startswith("This server cannot hold a conversation: it has no execute_command, invoke_agent")


def test_without_a_url_it_is_the_one_that_is_configured(tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path) as url:
        ran = greenroom("chat", said="/hello\n", GREENROOM_PUBLIC_URL=url.removesuffix("/mcp"))
    assert ran.returncode == 0
    assert ran.stdout.endswith("hello there\n")


# --- a terminal --------------------------------------------------------------------------------------------


def test_on_a_terminal_there_is_a_prompt_colour_and_ctrl_c_as_a_key(tmp_path: Path) -> None:
    with (
        serving(gated(tmp_path), tmp_path, **{GATE: str(tmp_path / "never")}) as url,
        terminal("chat", url) as screen,
    ):
        modes = screen.modes()
        screen.until(b"> ")
        assert b"\x1b[1m" in screen.shown
        screen.type(b"/wait\r")
        screen.until(b"half way")
        screen.type(b"\x03")
        screen.until(b"Stopped.")
        screen.forget()
        screen.type(b"/hello\r")
        screen.until(b"hello there")
        screen.forget()
        # At the prompt, once is a slip and twice is meant.
        screen.until(b"> ")
        screen.type(b"\x03")
        screen.until(b"Ctrl-C once more")
        screen.type(b"\x03")
        screen.to_the_end()
        assert screen.process.returncode == 0
        assert screen.modes() == modes


def test_ctrl_d_leaves(tmp_path: Path) -> None:
    with serving(gated(tmp_path), tmp_path) as url, terminal("chat", url) as screen:
        screen.until(b"> ")
        screen.type(b"\x04")
        screen.to_the_end()
        assert screen.process.returncode == 0

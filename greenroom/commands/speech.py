"""What a line in a chat means: something to say, a command of the workflow, or one of the chat's own. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from greenroom.config.cli.building import suggestion

HELP = """\
Say what you want in plain words, or run a command of the workflow: /name <parameter>value</parameter>
  /commands          what can be done here
  /agent [TEXT]      hand over a whole task; alone: do so with every line
  /assistant [TEXT]  one command per sentence; alone: do so with every line
  /new               put this conversation away and begin another
  /list              the conversations, the newest first
  /switch ID         go on with another conversation
  /good [TEXT]       the last answer was good
  /bad TEXT          the last answer was not, and why
  /help              this
  /quit              leave; so does Ctrl-D
//name runs a command of the workflow that is called like one of these. Ctrl-C stops a turn that runs."""


@attrs.frozen
class Turn:
    """A tool to call, with its progress on screen."""

    tool: str
    arguments: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class Mode:
    """Which tool hears lines in plain words from now on."""

    tool: str


@attrs.frozen
class Hint:
    """Nothing to do, but something to tell."""

    text: str


@attrs.frozen
class Quit:
    pass


@attrs.frozen
class Nothing:
    pass


Meaning = Turn | Mode | Hint | Quit | Nothing

AGENT, ASSISTANT = "invoke_agent", "invoke_assistant"
_OWN = ("commands", "agent", "assistant", "new", "list", "switch", "good", "bad", "help", "quit", "exit")


def meaning_of(line: str, plain: str) -> Meaning:
    """`plain` is the tool that hears plain words."""
    text = line.strip()
    if not text:
        return Nothing()
    if text.startswith("//"):
        return _command(text[2:])
    if not text.startswith("/"):
        return Turn(plain, {"user_query": text})
    name, _, rest = text[1:].partition(" ")
    return _own(name, rest.strip()) if name in _OWN else _command(text[1:])


def did_you_mean(line: str) -> str:
    """For a slash command that the workflow does not have either."""
    return suggestion(line.strip()[1:].partition(" ")[0], _OWN)


def _command(text: str) -> Meaning:
    return Turn("execute_command", {"command": text.strip()}) if text.strip() else Hint("Which command?")


def _own(name: str, rest: str) -> Meaning:
    match name, rest:
        case "quit" | "exit", _:
            return Quit()
        case "help", _:
            return Hint(HELP)
        case "agent" | "assistant", "":
            return Mode(AGENT if name == "agent" else ASSISTANT)
        case "agent" | "assistant", _:
            return Turn(AGENT if name == "agent" else ASSISTANT, {"user_query": rest})
        case "switch", "":
            return Hint("Which one? /list tells their ids.")
        case "switch", _:
            return Turn("activate_conversation", {"conversation_id": rest})
        case "bad", "":
            return Hint("Say what was wrong: /bad TEXT")
        case "good" | "bad", _:
            words = {"nl_feedback": rest} if rest else {}
            return Turn("post_feedback", {"binary_or_numeric_score": name == "good", **words})
        case _:
            tools = {"commands": "get_commands", "new": "new_conversation", "list": "list_conversations"}
            return Turn(tools[name])

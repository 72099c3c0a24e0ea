"""What a line in a chat means."""

from __future__ import annotations

import pytest

from greenroom.commands.speech import AGENT, ASSISTANT, HELP, Hint, Meaning, Mode, Nothing, Quit, Turn, meaning_of


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("", Nothing()),
        ("   ", Nothing()),
        (" open it ", Turn(AGENT, {"user_query": "open it"})),
        ("/open_book <title>x</title>", Turn("execute_command", {"command": "open_book <title>x</title>"})),
        ("//list", Turn("execute_command", {"command": "list"})),
        ("//", Hint("Which command?")),
        ("/", Hint("Which command?")),
        ("/list", Turn("list_conversations")),
        ("/listing", Turn("execute_command", {"command": "listing"})),
        ("/new", Turn("new_conversation")),
        ("/commands", Turn("get_commands")),
        ("/switch abc", Turn("activate_conversation", {"conversation_id": "abc"})),
        ("/switch", Hint("Which one? /list tells their ids.")),
        ("/good", Turn("post_feedback", {"binary_or_numeric_score": True})),
        ("/good thanks", Turn("post_feedback", {"binary_or_numeric_score": True, "nl_feedback": "thanks"})),
        ("/bad too slow", Turn("post_feedback", {"binary_or_numeric_score": False, "nl_feedback": "too slow"})),
        ("/bad", Hint("Say what was wrong: /bad TEXT")),
        ("/assistant", Mode(ASSISTANT)),
        ("/assistant add it", Turn(ASSISTANT, {"user_query": "add it"})),
        ("/agent", Mode(AGENT)),
        ("/agent add it", Turn(AGENT, {"user_query": "add it"})),
        ("/help", Hint(HELP)),
        ("/quit", Quit()),
        ("/exit", Quit()),
    ],
)
def test_a_line_means_what_the_help_says(line: str, meaning: Meaning) -> None:
    assert meaning_of(line, AGENT) == meaning


def test_plain_words_go_to_the_tool_that_was_chosen() -> None:
    assert meaning_of("hello", ASSISTANT) == Turn(ASSISTANT, {"user_query": "hello"})

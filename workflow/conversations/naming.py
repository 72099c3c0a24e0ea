"""A topic and a summary for a conversation: by a language model if there is one, by its own words if not.

The extractive half is pure: the topic is made of the words that carry the first thing that was asked, the summary of
what was asked and how it ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from greenroom.workflow.llm.port import JsonSchema, LanguageModel, Message, Purpose, Request

MAX_TOPIC = 60
MAX_SUMMARY = 400
MAX_SHOWN = 12_000
"""Characters of a conversation that the model is shown, the newest."""

UNTITLED = "Conversation"

_TAGS = re.compile(r"<[^<>]*>")
_SPACE = re.compile(r"\s+")

_SCHEMA = {
    "type": "object",
    "properties": {
        "topic": {"type": "string", "description": "What it was about, in at most eight words"},
        "summary": {"type": "string", "description": "What was asked and what came of it, in at most three sentences"},
    },
    "required": ["topic", "summary"],
    "additionalProperties": False,
}


@attrs.frozen
class Exchange:
    """One turn, as far as naming is concerned."""

    asked: str
    answered: str


@attrs.frozen
class Name:
    topic: str
    summary: str


async def name_conversation(exchanges: Sequence[Exchange], llm: LanguageModel | None) -> Name:
    """Raises `LlmError` if there is a model and it fails: a conversation is not given a name that nobody chose."""
    if llm is None or not llm.configured(Purpose.CONVERSATION_STORE):
        return extract_name(exchanges)
    lines = "\n".join(f"User: {each.asked}\nAnswer: {each.answered}" for each in exchanges)[-MAX_SHOWN:]
    request = Request(
        Purpose.CONVERSATION_STORE,
        [Message("user", f"Name this conversation and sum it up.\n\n{lines}")],
        json_schema=JsonSchema("conversation", _SCHEMA),
        temperature=0,
    )
    parsed = (await llm.complete(request)).parsed
    return Name(_cut(parsed["topic"], MAX_TOPIC) or UNTITLED, _cut(parsed["summary"], MAX_SUMMARY))


def extract_name(exchanges: Sequence[Exchange]) -> Name:
    if not exchanges:
        return Name(UNTITLED, "")
    first, last = exchanges[0], exchanges[-1]
    topic = _cut(_plain(first.asked), MAX_TOPIC) or UNTITLED
    count = f"{len(exchanges)} turns" if len(exchanges) > 1 else "One turn"
    summary = f"{count}. Asked first: {_cut(_plain(first.asked), 120)}. Last answer: {_cut(_plain(last.answered), 200)}"
    return Name(topic[:1].upper() + topic[1:], _cut(summary, MAX_SUMMARY))


def _plain(text: str) -> str:
    """Without the tags and underscores of a command in its explicit form."""
    return _SPACE.sub(" ", _TAGS.sub(" ", text).replace("_", " ")).strip()


def _cut(text: str, most: int) -> str:
    text = _SPACE.sub(" ", text).strip()
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."

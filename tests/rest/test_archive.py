"""Reading and searching what is kept, page by page, against the plain idea of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.persistence.errors import ConversationNotFound, InvalidCursor
from greenroom.persistence.memory_store import MemoryStore
from greenroom.persistence.records import Turn
from greenroom.persistence.store import UserStore
from greenroom.transport.rest import archive

WORDS = st.lists(st.sampled_from(["rain", "Rain in May", "sun", "snow"]), max_size=12)
SEARCH = st.sampled_from([None, "rain", "MAY", "hail"])
LIMIT = st.integers(1, 5)

Read = Callable[[str | None], Awaitable[dict[str, Any]]]


async def pages(read: Read, of: str) -> list[list[dict[str, Any]]]:
    found, cursor = [], None
    while True:
        page = await read(cursor)
        found.append(page[of])
        cursor = page.get("next_cursor")
        if cursor is None:
            return found


def wanted(words: list[str], search: str | None) -> list[str]:
    return [each for each in words if search is None or search.casefold() in each.casefold()]


def a_user(topics: list[str] | None = None, said: list[str] | None = None) -> UserStore:
    user = MemoryStore().user("alice")
    for number, topic in enumerate(topics or []):
        # A topic is unique among its user's, so the words are in the summary.
        user.create_conversation(f"c{number}", at=1000 - number, summary=topic)
    if said is not None:
        user.create_conversation("talk", at=1)
    for number, text in enumerate(said or []):
        outputs = {"text": text, "structured": {"response_text": text}, "is_error": False}
        user.append_turn(
            Turn(id=f"t{number}", conversation_id="talk", tool="t", input={}, outputs=outputs, started_at=number)
        )
    return user


@settings(deadline=None)
@given(WORDS, SEARCH, LIMIT)
def test_pages_of_conversations_have_all_that_match_once_each_and_are_never_too_large(
    topics: list[str], search: str | None, limit: int
) -> None:
    user = a_user(topics)
    found = trio.run(pages, lambda cursor: archive.list_conversations(user, limit, cursor, search), "conversations")
    assert all(len(page) <= limit for page in found)
    assert [each["summary"] for page in found for each in page] == wanted(topics, search)


@settings(deadline=None)
@given(WORDS, SEARCH, LIMIT)
def test_pages_of_turns_go_back_from_the_end_and_each_is_in_order(
    said: list[str], search: str | None, limit: int
) -> None:
    user = a_user(said=said)
    found = trio.run(pages, lambda cursor: archive.read_conversation(user, "talk", limit, cursor, search), "turns")
    assert all(len(page) <= limit for page in found)
    assert [each["text"] for page in reversed(found) for each in page] == wanted(said, search)


async def test_a_long_search_stops_on_the_way_and_says_where_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_LOOKED_AT", 3)
    user = a_user(["sun"] * 7 + ["rain"], ["rain"] + ["sun"] * 7)
    listing = partial(archive.list_conversations, user, 1)
    reading = partial(archive.read_conversation, user, "talk", 1)
    assert (await listing(None, "rain")).keys() == {"conversations", "next_cursor"}
    assert (await reading(None, "rain"))["next_cursor"] == "6"
    for read, of in ((listing, "conversations"), (reading, "turns")):
        found = await pages(lambda cursor, read=read: read(cursor, "rain"), of)  # type: ignore[misc]
        assert [len(page) for page in found if page] == [1]


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.5", "\u0663", "9" * 19])
async def test_a_cursor_that_was_not_given_out_is_refused(cursor: str) -> None:
    user = a_user(said=["rain"])
    with pytest.raises(InvalidCursor):
        await archive.read_conversation(user, "talk", 5, cursor, None)
    with pytest.raises(ConversationNotFound):
        await archive.read_conversation(user, "nowhere", 5, cursor, None)

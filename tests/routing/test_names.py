"""What counts as a command's name, and what is only nearly one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.workflow.routing.names import Match, distance, index_names, match_name

NAMES = index_names(
    ["add_user", "remove_user", "ChatRoom/list_users", "Admin/list_users", "go_up", "get_item", "set_item"]
)


def matched(sentence: str) -> Match:
    match = match_name(sentence, NAMES)
    assert match is not None
    return match


@pytest.mark.parametrize("sentence", ["add_user bob", "ADD_USER bob", "  add_user   bob ", "Add_User\tbob"])
def test_the_first_token_in_any_case_is_the_name(sentence: str) -> None:
    assert matched(sentence) == Match(("add_user",), 0.0, "bob")


def test_a_parenthesis_ends_the_name() -> None:
    assert matched("add_user(bob)") == Match(("add_user",), 0.0, "(bob)")


def test_a_qualified_name_is_exact() -> None:
    assert matched("chatroom/LIST_USERS now").names == ("ChatRoom/list_users",)


def test_a_simple_name_that_two_contexts_share_is_both() -> None:
    assert matched("list_users").names == ("ChatRoom/list_users", "Admin/list_users")


def test_a_full_name_wins_over_another_commands_simple_one() -> None:
    match = match_name("list", index_names(["Room/list", "list"]))
    assert match is not None
    assert match.names == ("list",)


@pytest.mark.parametrize("sentence", ["add_usr bob", "ad_user bob", "adduser bob", "addd_user bob"])
def test_a_misspelt_name_is_recognised(sentence: str) -> None:
    match = matched(sentence)
    assert (match.names, match.rest, match.typed) == (("add_user",), "bob", True)


def test_spaces_stand_for_underscores() -> None:
    assert matched("remove user").names == ("remove_user",)
    assert matched("remove user").distance == 0


def test_leading_words_may_be_the_name_but_are_marked_as_plain_words() -> None:
    match = matched("remove usr bob from the room")
    assert (match.names, match.rest, match.typed) == (("remove_user",), "bob from the room", False)


def test_a_misspelling_between_two_names_is_both() -> None:
    assert matched("xet_item").names == ("get_item", "set_item")


@pytest.mark.parametrize("sentence", ["", "   ", "(", "what is the weather like", "x", "user", "éé" * 500])
def test_what_resembles_no_name_matches_nothing(sentence: str) -> None:
    assert match_name(sentence, NAMES) is None


def test_more_than_three_tenths_away_is_another_word() -> None:
    index = index_names(["abcdefghij"])
    assert match_name("abcdefgxyz", index) is not None
    assert match_name("abcdefwxyz", index) is None


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("same", "same", 0), ("ab", "ba", 2)],
)
def test_distance_counts_edits(one: str, other: str, edits: int) -> None:
    assert distance(one, other) == distance(other, one) == edits


@given(st.text("abc", max_size=8), st.text("abcd", max_size=8))
def test_distance_agrees_with_the_textbook(one: str, other: str) -> None:
    row = list(range(len(other) + 1))
    for at, left in enumerate(one, start=1):
        above, row = row, [at]
        for place, right in enumerate(other):
            row.append(min(above[place + 1] + 1, row[place] + 1, above[place] + (left != right)))
    assert distance(one, other) == row[-1]


@given(st.text())
def test_no_sentence_makes_matching_fail(sentence: str) -> None:
    match = match_name(sentence, NAMES)
    assert match is None or match.names

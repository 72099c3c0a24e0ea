"""A sentence means a command, may mean one of several, or means none."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.workflow.routing import Candidates, Command, How, OutOfScope, Routed, Router, router_for

LIBRARY = (
    Command("borrow_book", "Lend a book to a member", ("I'd like to take this novel home", "check out a book for Ann")),
    Command("return_book", "Take back a borrowed book", ("here is the novel I had", "bring a book back")),
    Command("renew_loan", "Extend the due date of a loan", ("give me two more weeks", "can I keep it longer")),
    Command("pay_fine", "Pay the fee for a late return", ("settle what I owe", "how do I pay my late fee")),
    Command("find_book", "Search the catalogue by title or author", ("do you have anything by Tolstoy",)),
    Command("open_hours", "Tell when the library is open", ("when do you close today", "are you open on Sunday")),
    Command("join", "Register a new member", ("I want to sign up", "how do I get a library card")),
)
ROUTER = Router(LIBRARY)


def routed(sentence: str, router: Router = ROUTER) -> tuple[str, How]:
    answer = router.route(sentence)
    assert isinstance(answer, Routed), answer
    return answer.command.name, answer.how


def test_a_name_is_taken_at_its_word() -> None:
    answer = ROUTER.route("return_book War and Peace")
    assert answer == Routed(LIBRARY[1], How.NAME, 1.0, "War and Peace")


def test_a_misspelt_name_is_still_a_name() -> None:
    assert routed("retrun_book") == ("return_book", How.SPELLING)


@pytest.mark.parametrize(
    ("sentence", "command"),
    [
        ("could I have this novel for a while, I want to take it home", "borrow_book"),
        ("I am bringing back the novel I borrowed", "return_book"),
        ("may I keep the loan two weeks longer", "renew_loan"),
        ("where can I pay the late fee that I owe", "pay_fine"),
        ("which novels by Tolstoy do you have", "find_book"),
        ("at what time do you close on Saturday", "open_hours"),
        ("I would like to register as a member and get a card", "join"),
    ],
)
def test_a_sentence_in_other_words_finds_its_command_by_meaning(sentence: str, command: str) -> None:
    assert routed(sentence) == (command, How.MEANING)


@pytest.mark.parametrize(
    "sentence",
    [
        "the mitochondria is the powerhouse of the cell",
        "qwertz uiop",
        "?!",
        "天气怎么样",
        "preheat the oven to 200 degrees",
    ],
)
def test_what_has_nothing_to_do_with_any_command_is_out_of_scope(sentence: str) -> None:
    assert isinstance(ROUTER.route(sentence), OutOfScope)


def test_what_may_mean_several_commands_gives_the_three_best_with_descriptions() -> None:
    answer = ROUTER.route("something about a book")
    assert isinstance(answer, Candidates), answer
    assert len(answer.candidates) == 3
    assert {candidate.name for candidate in answer.candidates} <= {command.name for command in LIBRARY}
    scores = [candidate.score for candidate in answer.candidates]
    assert scores == sorted(scores, reverse=True)
    assert all(candidate.description for candidate in answer.candidates)


def test_a_name_that_two_contexts_share_gives_both_as_candidates() -> None:
    answer = Router([Command("Room/list"), Command("User/list")]).route("list")
    assert isinstance(answer, Candidates)
    assert [candidate.name for candidate in answer.candidates] == ["Room/list", "User/list"]


def test_plain_words_that_resemble_a_name_do_not_overrule_what_the_sentence_means() -> None:
    router = Router(
        [
            Command("start_timer", "Start a timer that rings after some time", ("set a timer for ten minutes",)),
            Command("vacuum", "Start the vacuum cleaner", ("start rover", "clean the floor with the robot")),
        ]
    )
    answer = router.route("start rover")
    assert not isinstance(answer, Routed) or answer.command.name == "vacuum"


def test_descriptions_alone_are_enough_to_route_by() -> None:
    router = Router([Command(command.name, command.description) for command in LIBRARY])
    assert routed("please extend the due date of my loan", router) == ("renew_loan", How.MEANING)


def test_a_name_alone_is_enough_to_route_by() -> None:
    router = Router([Command(command.name) for command in LIBRARY])
    assert routed("please renew my loan", router)[0] == "renew_loan"


def test_words_that_the_table_does_not_know_still_count_when_they_are_the_same() -> None:
    router = Router([Command("a1", utterances=("отменить заказ",)), Command("b2", utterances=("показать погоду",))])
    answer = router.route("отменить заказ")
    assert isinstance(answer, Routed)
    assert answer.command.name == "a1"


def test_a_router_without_commands_says_so() -> None:
    assert Router([]).route("anything") == OutOfScope()


def test_an_empty_sentence_means_nothing() -> None:
    assert ROUTER.route(" \n") == OutOfScope()


def test_a_single_command_is_not_forced_on_every_sentence() -> None:
    router = Router(LIBRARY[:1])
    assert isinstance(router.route("preheat the oven to 200 degrees"), OutOfScope)
    assert routed("check out a book for Bob", router)[0] == "borrow_book"


def test_many_utterances_are_thinned_out_not_refused() -> None:
    many = Command("count", utterances=tuple(f"count to {number}" for number in range(500)))
    assert routed("count to 7 please", Router([many, *LIBRARY]))[0] == "count"


def test_two_routers_of_the_same_commands_agree_to_the_last_digit() -> None:
    sentence = "may I keep the loan two weeks longer"
    assert Router(LIBRARY).route(sentence) == Router(LIBRARY).route(sentence)


def test_the_router_of_a_context_is_made_once() -> None:
    assert router_for(LIBRARY) is router_for(tuple(LIBRARY))


def test_numpy_is_not_imported_before_a_sentence_is_routed_by_meaning() -> None:
    program = (
        "import sys\n"
        "from greenroom.workflow.routing import Command, Parameter, Router, extract\n"
        "router = Router([Command('greet', 'Say hello'), Command('part', 'Say good-bye')])\n"
        "router.route('greet Bob'), extract('greet Bob', [Parameter('who')], 'greet')\n"
        "assert 'numpy' not in sys.modules\n"
        "router.route('would you say hello to Bob')\n"
        "assert 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@given(st.text())
def test_no_sentence_makes_routing_fail(sentence: str) -> None:
    assert isinstance(ROUTER.route(sentence), Routed | Candidates | OutOfScope)


@given(
    st.lists(st.builds(Command, st.text(), st.text(), st.lists(st.text(), max_size=3).map(tuple)), max_size=5),
    st.text(),
)
def test_no_commands_make_routing_fail(commands: list[Command], sentence: str) -> None:
    assert isinstance(Router(commands).route(sentence), Routed | Candidates | OutOfScope)

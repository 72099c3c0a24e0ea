"""A walk through the bookshop."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.workflow.engine import Instance, UnknownCommand, load_workflow
from tests.examples.sessions import FOLDER, Session

BREAD = "Bread Before Dawn by Ines Calder (cooking, 24.00 EUR)"
TRAIN = "The Ostrava Night Train by Pavel Hronek (mystery, 11.00 EUR)"


@pytest.fixture
def shop() -> Session:
    session = Session("bookshop")
    root: Any = session.instance.workflow.root_command_context
    root.seconds_per_step = 0
    return session


@pytest.fixture
def full_basket(shop: Session) -> Session:
    shop.run("open_book <title>Bread Before Dawn</title>")
    shop.run("add_to_basket <quantity>2</quantity>")
    shop.run("open_book <title>The Ostrava Night Train</title>")
    shop.run("add_to_basket")
    shop.run("open_basket")
    return shop


def test_the_shop_is_open_when_a_session_begins(shop: Session) -> None:
    assert shop.greeting == "Welcome. There are 9 books on the shelves."
    assert shop.context == "Shop"


def test_a_host_that_runs_no_start_up_finds_the_shop_open_too() -> None:
    instance = Instance(load_workflow(FOLDER / "bookshop"))
    assert instance.execute("list_orders").text == "No order has been placed yet."
    assert instance.execute("open_basket").context == "Basket"


def test_books_are_found_by_words_genre_and_price(shop: Session) -> None:
    assert shop.says("find_books <query>ines calder</query> <max_price>24</max_price>") == (
        f"{BREAD}\nThe Quiet Kitchen by Ines Calder (cooking, 19.00 EUR)"
    )
    assert shop.says("find_books <query>any</query> <genre>mystery</genre> <max_price>12</max_price>") == TRAIN
    assert shop.says("find_books <query>rain</query>") == (
        "A Short History of Rain by Ida Verhoeven (science, 18.00 EUR)"
    )
    assert shop.says("find_books <query>the moon landing</query> <genre>science</genre>") == (
        "Nothing on the shelves fits that."
    )


def test_a_genre_is_one_of_four(shop: Session) -> None:
    assert shop.rejects("find_books <query>any</query> <genre>poetry</genre>") == [
        'genre is "poetry", but it must be one of: fiction, mystery, science, cooking.'
    ]


@pytest.mark.parametrize("title", ["Bread Before Dawn", "bread before dawn", "bred befor down", "the bread book"])
def test_a_title_that_is_nearly_right_is_corrected(shop: Session, title: str) -> None:
    result = shop.run(f"open_book <title>{title}</title>")
    assert result.parameters == {"title": "Bread Before Dawn"}
    assert result.context == "Book: Bread Before Dawn"
    assert result.text == f"{BREAD}: Baking forty loaves, patiently. 5 in stock, not rated yet."


def test_a_title_that_may_be_one_of_two_is_asked_about(shop: Session) -> None:
    assert shop.rejects("open_book <title>seven moons</title>") == [
        "title is 'seven moons', which is not known. Is one of these meant: Seven Moons of Winter, "
        "Seven Moons of Winter (signed)?"
    ]
    assert shop.run("open_book <title>seven moons of winter</title>").context == "Book: Seven Moons of Winter"


def test_a_title_like_no_other_leaves_the_customer_where_they_are(shop: Session) -> None:
    assert shop.refuses("open_book <title>Whale Song</title>") == (
        "There is no book called 'Whale Song' on the shelves. Try find_books."
    )
    assert shop.context == "Shop"


def test_an_open_book_can_be_rated_and_described(shop: Session) -> None:
    shop.run("open_book <title>ostrava</title>")
    assert shop.says("rate <stars>4</stars>") == "Thank you. The Ostrava Night Train: 4.0 of 5 stars."
    assert shop.says("rate <stars>5</stars>") == "Thank you. The Ostrava Night Train: 4.5 of 5 stars."
    assert shop.says("describe") == f"{TRAIN}: Nine passengers, ten tickets. 4 in stock, 4.5 of 5 stars."
    assert shop.rejects("rate <stars>6</stars>") == ["stars: Input should be less than or equal to 5."]


def test_no_more_copies_than_there_are(shop: Session) -> None:
    shop.run("open_book <title>The Quiet Kitchen</title>")
    assert shop.says("add_to_basket") == "The basket now holds 1 x The Quiet Kitchen."
    assert shop.rejects("add_to_basket <quantity>2</quantity>") == [
        "quantity comes to 3 with what is in the basket, but there are 2 in stock."
    ]
    assert shop.rejects("add_to_basket <quantity>0</quantity>") == [
        "quantity: Input should be greater than or equal to 1."
    ]


def test_a_signed_copy_is_a_book_with_an_inscription(shop: Session) -> None:
    assert shop.run("open_book <title>seven moons of winter (signed)</title>").context == (
        "Book: Seven Moons of Winter (signed)"
    )
    assert shop.instance.workflow.current_command_context_name == "SignedCopy"
    assert shop.says("read_inscription") == "To whoever stayed up for the last chapter. A. B."
    assert shop.says("add_to_basket") == "The basket now holds 1 x Seven Moons of Winter (signed)."
    assert shop.run("SignedCopy/describe").command_name == "Book/describe"
    shop.run("open_book <title>Bread Before Dawn</title>")
    with pytest.raises(UnknownCommand):
        shop.run("read_inscription")


def test_a_basket_is_shown_changed_and_left(full_basket: Session) -> None:
    assert full_basket.says("show_basket") == (
        "2 x Bread Before Dawn: 48.00 EUR\n1 x The Ostrava Night Train: 11.00 EUR\nTotal: 59.00 EUR"
    )
    assert (
        full_basket.says("remove <title>night trane</title>") == "The Ostrava Night Train is no longer in the basket."
    )
    assert full_basket.refuses("remove <title>The Sound of Stars</title>") == "The Sound of Stars is not in the basket."
    assert full_basket.says("apply_voucher <code>READ-10</code>") == "10 % off. The total is now 43.20 EUR."
    assert (
        full_basket.says("set_gift_notes <notes>Happy birthday, Nora</notes> <notes>From all of us</notes>")
        == "The parcel will carry 2 gift note(s): Happy birthday, Nora; From all of us"
    )
    assert full_basket.says("show_basket") == (
        "2 x Bread Before Dawn: 48.00 EUR\nVoucher READ-10: 10 % off\nGift note: Happy birthday, Nora\n"
        "Gift note: From all of us\nTotal: 43.20 EUR"
    )
    assert full_basket.says("go_up") == "Context is now 'Shop'"


def test_a_voucher_has_a_form_and_must_be_known(full_basket: Session) -> None:
    assert full_basket.rejects("apply_voucher <code>read ten</code>") == [
        r'code is "read ten", but it must match the pattern ^[A-Z]{4}-\d{2}$, such as READ-10.'
    ]
    assert full_basket.refuses("apply_voucher <code>FREE-99</code>") == "The voucher FREE-99 is not valid."


@pytest.mark.parametrize("notes", ['["One", "Two"]', "One, Two"])
def test_gift_notes_may_come_as_any_kind_of_list(full_basket: Session, notes: str) -> None:
    assert full_basket.run(f"set_gift_notes <notes>{notes}</notes>").parameters == {"notes": ["One", "Two"]}


def test_an_order_says_how_far_it_is_and_empties_the_basket(full_basket: Session) -> None:
    line = "Order 1001: 2 x Bread Before Dawn, 1 x The Ostrava Night Train, 59.00 EUR"
    assert full_basket.says("place_order") == f"{line}. It is on its way."
    assert full_basket.reports == [
        (0, 4, "Fetching the books"),
        (1, 4, "Wrapping them up"),
        (2, 4, "Printing the label"),
        (3, 4, "Handing the parcel to the courier"),
        (4, 4, "Shipped"),
    ]
    assert full_basket.says("list_orders") == line
    assert full_basket.says("show_basket") == "The basket is empty."
    assert "3 in stock" in full_basket.says("open_book <title>Bread Before Dawn</title>")


def test_an_empty_basket_cannot_be_ordered(shop: Session) -> None:
    assert shop.refuses("place_order") == "The basket is empty, so there is nothing to order."
    assert shop.reports == []


def test_every_customer_has_a_shop_of_their_own(full_basket: Session) -> None:
    assert Session("bookshop").says("open_basket") == "The basket is empty."

"""Tasks for the agent in `examples/bookshop`, and how to tell that they were done, and nothing else was.

The model's words are not looked at. What counts is what the shop says afterwards, asked with exact commands: a book
that was rated as it should be, and then ordered because the model did not know when to stop, is a failure.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs


@attrs.frozen
class Task:
    words: str
    look: Sequence[str]
    """Commands whose responses show whether it was done."""
    wanted: Sequence[str]
    """What they must contain."""
    unwanted: Sequence[str] = ()
    before: Sequence[str] = ()
    """Commands that set the scene."""

    def done(self, seen: str) -> bool:
        return all(each in seen for each in self.wanted) and not any(each in seen for each in self.unwanted)


def _open(title: str) -> str:
    return f"open_book <title>{title}</title>"


def _in_basket(title: str, quantity: int = 1) -> tuple[str, ...]:
    return _open(title), f"add_to_basket <quantity>{quantity}</quantity>"


_LEFT = ("open_basket", "list_orders")
_NO_ORDER = "No order has been placed yet."
_NOTHING_BOUGHT = ("The basket is empty.", _NO_ORDER)

TASKS = (
    Task(
        "Open the book Bread Before Dawn and add two copies of it to the basket.",
        _LEFT,
        ["2 x Bread Before Dawn: 48.00 EUR\nTotal: 48.00 EUR", _NO_ORDER],
    ),
    Task(
        "Open The Quiet Kitchen, then rate it with 4 stars.",
        [_open("The Quiet Kitchen"), *_LEFT],
        ["4.0 of 5 stars", *_NOTHING_BOUGHT],
    ),
    Task(
        "I want to buy A Short History of Rain: open it and put one copy into my basket.",
        _LEFT,
        ["1 x A Short History of Rain: 18.00 EUR\nTotal: 18.00 EUR", _NO_ORDER],
    ),
    Task(
        "Search for books by Junia Park, then open the one you find.",
        ["describe", *_LEFT],
        ["The Cartographer's Niece", "not rated yet", *_NOTHING_BOUGHT],
    ),
    Task(
        "Go to my basket and use the voucher READ-10 on it.",
        _LEFT,
        ["1 x Bread Before Dawn: 24.00 EUR\nVoucher READ-10: 10 % off\nTotal", _NO_ORDER],
        before=_in_basket("Bread Before Dawn"),
    ),
    Task(
        "Go to the basket and remove The Quiet Kitchen from it.",
        _LEFT,
        ["1 x Bread Before Dawn: 24.00 EUR\nTotal: 24.00 EUR", _NO_ORDER],
        unwanted=["The Quiet Kitchen"],
        before=[*_in_basket("The Quiet Kitchen"), *_in_basket("Bread Before Dawn")],
    ),
    Task(
        "Open the basket and write a gift note that says: Happy birthday Nora",
        _LEFT,
        ["1 x Seven Moons of Winter: 16.00 EUR\nGift note: Happy birthday Nora\nTotal", _NO_ORDER],
        before=_in_basket("Seven Moons of Winter"),
    ),
    Task(
        "Show me what is in my basket and then place the order.",
        _LEFT,
        ["The basket is empty.", "Order 1001: 2 x Bread Before Dawn, 48.00 EUR"],
        unwanted=["Order 1002"],
        before=_in_basket("Bread Before Dawn", 2),
    ),
    Task(
        "Find the book about rain and open it so that I can read about it.",
        ["describe", *_LEFT],
        ["A Short History of Rain", "not rated yet", *_NOTHING_BOUGHT],
    ),
    Task(
        "Take The Cartographer's Niece from the shelf and give it five stars.",
        [_open("The Cartographer's Niece"), *_LEFT],
        ["5.0 of 5 stars", *_NOTHING_BOUGHT],
    ),
)

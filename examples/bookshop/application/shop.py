"""A small bookshop: one per session, nothing kept elsewhere."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable
from typing import Any

from .basket import Basket
from .books import Book, Genre, SignedCopy, money

SECONDS_PER_STEP = 0.5
SMALL_WORDS = frozenset(
    ["a", "about", "an", "and", "any", "book", "books", "by", "for", "of", "on", "or", "some", "something", "the"]
)
STEPS = ("Fetching the books", "Wrapping them up", "Printing the label", "Handing the parcel to the courier")

CATALOGUE: tuple[tuple[type[Book], str, str, Genre, int, int, str], ...] = (
    (Book, "The Lighthouse Ledger", "Mara Ellison", Genre.MYSTERY, 1250, 6, "A keeper vanishes overnight."),
    (Book, "The Ostrava Night Train", "Pavel Hronek", Genre.MYSTERY, 1100, 4, "Nine passengers, ten tickets."),
    (Book, "A Short History of Rain", "Ida Verhoeven", Genre.SCIENCE, 1800, 3, "Weather, from cloud to forecast."),
    (Book, "The Sound of Stars", "Leo Marchetti", Genre.SCIENCE, 990, 8, "Radio astronomy: listening to the sky."),
    (Book, "Bread Before Dawn", "Ines Calder", Genre.COOKING, 2400, 5, "Baking forty loaves, patiently."),
    (Book, "The Quiet Kitchen", "Ines Calder", Genre.COOKING, 1900, 2, "Suppers for two, in one pot."),
    (Book, "The Cartographer's Niece", "Junia Park", Genre.FICTION, 1490, 7, "An atlas shows a street too many."),
    (Book, "Seven Moons of Winter", "Aiko Brandt", Genre.FICTION, 1600, 5, "A village waits out the snow."),
    (SignedCopy, "Seven Moons of Winter (signed)", "Aiko Brandt", Genre.FICTION, 4500, 1, "With a dedication."),
)
TITLES = [title for _, title, *_ in CATALOGUE]


class Order:
    def __init__(self, number: int, basket: Basket) -> None:
        self.number = number
        self.total = basket.total
        self.parcel = ", ".join(f"{quantity} x {book.title}" for book, quantity in basket.quantities.items())

    @property
    def line(self) -> str:
        return f"Order {self.number}: {self.parcel}, {money(self.total)}"


class Shop:
    def __init__(self) -> None:
        self.books = [
            kind(self, title, author, genre, price, stock, about)
            for kind, title, author, genre, price, stock, about in CATALOGUE
        ]
        self.basket = Basket(self)
        self.orders: list[Order] = []
        self.seconds_per_step = SECONDS_PER_STEP

    def find(self, query: str, genre: Genre | None, most_cents: float | None) -> list[Book]:
        """Any telling word of the query will do; "any" finds every book."""
        words = [word for word in query.casefold().split() if word not in SMALL_WORDS]
        return [
            book
            for book in self.books
            if (query.casefold() == "any" or any(book.mentions(word) for word in words))
            and (genre is None or book.genre is genre)
            and (most_cents is None or book.price <= most_cents)
        ]

    def book(self, title: str) -> Book | None:
        return next((book for book in self.books if book.title == title), None)

    def titles_like(self, wanted: str) -> list[str]:
        """Those that share a telling word with it, give or take a letter."""
        words = _telling_words(wanted)
        return [
            book.title
            for book in self.books
            if any(difflib.get_close_matches(word, _telling_words(book.title), n=1, cutoff=0.8) for word in words)
        ]

    def place_order(self, report: Callable[[float, float, str], None]) -> Order:
        """Takes its time, as packing does. The basket must not be empty."""
        for done, step in enumerate(STEPS):
            report(done, len(STEPS), step)
            time.sleep(self.seconds_per_step)
        order = Order(1001 + len(self.orders), self.basket)
        for book, quantity in self.basket.quantities.items():
            book.stock -= quantity
        self.orders.append(order)
        self.basket.quantities.clear()
        self.basket.gift_notes.clear()
        self.basket.voucher = None
        report(len(STEPS), len(STEPS), "Shipped")
        return order


def shop_of(workflow: Any) -> Shop:
    """The session's shop. Not every host runs start-up actions, so the first command may find none, and opens it."""
    if workflow.root_command_context is None:
        workflow.root_command_context = Shop()
    shop: Shop = workflow.root_command_context
    return shop


def _telling_words(text: str) -> list[str]:
    return [word for word in re.findall(r"[\w']{4,}", text.casefold()) if word not in SMALL_WORDS]

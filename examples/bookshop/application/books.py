"""The books, and what a reader can do with one of them. Prices are in cents: money is counted, not measured."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shop import Shop


class Genre(enum.Enum):
    FICTION = "fiction"
    MYSTERY = "mystery"
    SCIENCE = "science"
    COOKING = "cooking"


def money(cents: int) -> str:
    return f"{cents / 100:.2f} EUR"


class Book:
    def __init__(self, shop: Shop, title: str, author: str, genre: Genre, price: int, stock: int, about: str) -> None:
        self.shop = shop
        self.title = title
        self.author = author
        self.genre = genre
        self.price = price
        self.stock = stock
        self.about = about
        self.stars: list[int] = []

    @property
    def rating(self) -> str:
        if not self.stars:
            return "not rated yet"
        return f"{sum(self.stars) / len(self.stars):.1f} of 5 stars"

    @property
    def line(self) -> str:
        return f"{self.title} by {self.author} ({self.genre.value}, {money(self.price)})"

    def describe(self) -> str:
        return f"{self.line}: {self.about} {self.stock} in stock, {self.rating}."

    def rate(self, stars: int) -> None:
        self.stars.append(stars)

    def mentions(self, start_of_word: str) -> bool:
        words = re.findall(r"[\w']+", f"{self.title} {self.author} {self.genre.value} {self.about}".casefold())
        return any(word.startswith(start_of_word) for word in words)


class SignedCopy(Book):
    """There is one of it, and its author has written in it."""

    inscription = "To whoever stayed up for the last chapter. A. B."

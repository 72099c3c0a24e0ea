"""What a customer means to buy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .books import Book, money

if TYPE_CHECKING:
    from .shop import Shop

VOUCHERS = {"READ-10": 10, "MOON-25": 25}
"""What each voucher takes off, in percent."""


class Basket:
    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.quantities: dict[Book, int] = {}
        self.voucher: str | None = None
        self.gift_notes: list[str] = []

    @property
    def is_empty(self) -> bool:
        return not self.quantities

    @property
    def titles(self) -> list[str]:
        return [book.title for book in self.quantities]

    @property
    def total(self) -> int:
        full = sum(book.price * quantity for book, quantity in self.quantities.items())
        return full - full * VOUCHERS.get(self.voucher or "", 0) // 100

    def quantity_of(self, book: Book) -> int:
        return self.quantities.get(book, 0)

    def add(self, book: Book, quantity: int) -> None:
        self.quantities[book] = self.quantity_of(book) + quantity

    def remove(self, title: str) -> bool:
        """Whether it was there."""
        book = next((book for book in self.quantities if book.title == title), None)
        return book is not None and self.quantities.pop(book) > 0

    def describe(self) -> str:
        if self.is_empty:
            return "The basket is empty."
        lines = [
            f"{quantity} x {book.title}: {money(book.price * quantity)}" for book, quantity in self.quantities.items()
        ]
        if self.voucher:
            lines.append(f"Voucher {self.voucher}: {VOUCHERS[self.voucher]} % off")
        lines += [f"Gift note: {note}" for note in self.gift_notes]
        return "\n".join([*lines, f"Total: {money(self.total)}"])

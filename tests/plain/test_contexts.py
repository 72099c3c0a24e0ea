"""How a session gets to an object, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.workflow.engine import Instance, UnknownCommand
from greenroom.workflow.plain.session import PlainSession
from tests.plain.apps import load, own_commands, says, session

SHOP = """
    class Basket:
        'What you want to buy.'
        def __init__(self): self.items = []
        def put(self, item: str) -> Basket:
            self.items.append(item)
            return self
        def show(self) -> list[str]: return self.items

    class Book:
        def __init__(self, title): self.title = title
        def get_displayname(self): return f"the book {self.title}"
        def buy(self, basket: Basket) -> str:
            basket.items.append(self.title)
            return f"{self.title} is in the basket"
        def open_page(self, number: int) -> Page: return Page(number)

    class Page:
        def __init__(self, number): self.number = number
        def read(self) -> str: return f"page {self.number}"
        def cover(self, book: Book) -> str: return book.title
        def turn(self) -> Page: return Page(self.number + 1)

    def open_book(title: str) -> Book | None:
        return Book(title) if title != "none" else None

    def count(basket: Basket) -> int: return len(basket.items)
    def read_aloud(page: Page) -> str: return page.read()
    def whisper(page: Page | None = None) -> str: return page.read() if page else "nothing to read"
"""


@pytest.fixture
def shop(tmp_path: Path) -> Instance:
    return session(tmp_path, SHOP)


def place(instance: Instance) -> str:
    return instance.workflow.current_command_context_displayname


def test_a_class_that_needs_no_arguments_is_opened_by_a_command_of_its_own(shop: Instance) -> None:
    assert "open_basket" in own_commands(shop.definition)
    assert shop.find("open_basket").command.description == "Open the basket: What you want to buy."
    assert says(shop, "open_basket", "put <item>tea</item>", "show") == ["Context is now 'Basket'", "Done.", "- tea"]


def test_there_is_one_object_of_it_per_session(tmp_path: Path) -> None:
    definition = load(tmp_path, SHOP)
    one, other = Instance(definition), Instance(definition)
    says(one, "open_basket", "put <item>tea</item>", "go_up", "open_basket", "put <item>milk</item>")
    says(other, "open_basket")
    assert says(one, "show") == ["- tea\n- milk"]
    assert says(other, "show") == ["Nothing."]


def test_an_object_that_a_command_returns_is_the_next_context(shop: Instance) -> None:
    assert says(shop, "open_book <title>Dune</title>") == ["Context is now 'the book Dune'"]
    assert place(shop) == "the book Dune"
    assert says(shop, "open_page <number>3</number>", "read") == ["Context is now 'Page'", "page 3"]


def test_up_from_an_object_is_where_it_was_returned(shop: Instance) -> None:
    says(shop, "open_book <title>Dune</title>", "open_page <number>3</number>")
    assert says(shop, "go_up", "go_up", "go_up") == [
        "Context is now 'the book Dune'",
        "Context is now 'global'",
        "Already at the top-level 'global' context.",
    ]


def test_turning_a_page_goes_deeper_and_every_page_leads_back(shop: Instance) -> None:
    says(shop, "open_book <title>Dune</title>", "open_page <number>3</number>", "turn", "turn")
    assert says(shop, "read", "go_up", "read", "go_up", "go_up") == [
        "page 5",
        "Context is now 'Page'",
        "page 4",
        "Context is now 'Page'",
        "Context is now 'the book Dune'",
    ]


def test_a_session_does_not_grow_with_the_steps_it_goes_back(shop: Instance) -> None:
    for number in range(50):
        says(shop, f"open_book <title>{number}</title>", "open_page <number>1</number>", "reset_context")
    root = shop.workflow.root_command_context
    assert isinstance(root, PlainSession)
    assert len(root._way) == 2


def test_the_commands_around_an_object_can_be_run_inside_it(shop: Instance) -> None:
    says(shop, "open_book <title>Dune</title>", "open_page <number>3</number>")
    assert says(shop, "buy", "Book/buy", "count") == ["Dune is in the basket", "Dune is in the basket", "2"]
    assert place(shop) == "Page"


def test_a_parameter_of_a_context_class_is_the_nearest_object_or_the_sessions_own(shop: Instance) -> None:
    says(shop, "open_book <title>Dune</title>", "buy", "open_page <number>3</number>")
    assert says(shop, "cover", "count", "read_aloud") == ["Dune", "1", "page 3"]


def test_a_parameter_of_a_class_that_the_session_is_not_in_is_refused_in_words(shop: Instance) -> None:
    result = shop.execute_text("read_aloud")
    assert not result.success
    assert result.text == "read_aloud works on a Page, and the session is in none: enter one first."


def test_a_parameter_of_such_a_class_may_have_a_default(shop: Instance) -> None:
    assert says(shop, "whisper") == ["nothing to read"]
    says(shop, "open_book <title>Dune</title>", "open_page <number>3</number>")
    assert says(shop, "whisper") == ["page 3"]


def test_a_command_that_may_return_no_object_stays_where_it_is(shop: Instance) -> None:
    assert says(shop, "open_book <title>none</title>") == ["Done."]
    assert place(shop) == "global"


def test_a_command_of_another_context_is_not_guessed(shop: Instance) -> None:
    with pytest.raises(UnknownCommand, match="It belongs to 'Page'"):
        shop.execute_text("read")


def test_an_attribute_parent_is_around_an_object(tmp_path: Path) -> None:
    text = """
        class Chapter:
            def __init__(self, parent): self.parent = parent
            def read(self) -> str: ...
        class Book:
            def count(self) -> int: return 12
        BOOK = Book()
        def open_chapter() -> Chapter: return Chapter(BOOK)
    """
    assert says(session(tmp_path, text), "open_chapter", "count", "go_up", "go_up") == [
        "Context is now 'Chapter'",
        "12",
        "Context is now 'Book'",
        "Context is now 'global'",
    ]


def test_a_hint_parent_says_where_a_class_is_opened(tmp_path: Path) -> None:
    text = """
        class Shop:
            def greet(self) -> str: return "hello"
        class ShoppingCart:
            parent: Shop
            def show(self) -> str: return "empty"
    """
    instance = session(tmp_path, text)
    assert own_commands(instance.definition) == [
        "Shop/greet",
        "Shop/open_shopping_cart",
        "ShoppingCart/show",
        "open_shop",
    ]
    assert instance.definition.contexts["ShoppingCart"].parents == ("Shop",)
    assert says(instance, "open_shop", "open_shopping_cart", "greet", "go_up")[2:] == ["hello", "Context is now 'Shop'"]


def test_a_class_that_a_command_returns_gets_no_command_of_its_own(tmp_path: Path) -> None:
    text = """
        class Basket:
            def put(self) -> Basket: return self
        class Till:
            def pay(self) -> str: ...
            def back(self) -> Basket: ...
        def basket() -> Basket: return Basket()
    """
    assert own_commands(load(tmp_path, text)) == ["Basket/put", "Till/back", "Till/pay", "basket", "open_till"]


def test_two_classes_that_only_return_each_other_can_be_opened(tmp_path: Path) -> None:
    text = """
        class Day:
            def end(self) -> Night: return Night()
        class Night:
            def end(self) -> Day: return Day()
    """
    instance = session(tmp_path, text)
    assert "open_day" in own_commands(instance.definition)
    assert says(instance, "open_day", "end", "end", "go_up") == [
        "Context is now 'Day'",
        "Context is now 'Night'",
        "Context is now 'Day'",
        "Context is now 'Night'",
    ]


def test_an_author_may_write_the_opening_command(tmp_path: Path) -> None:
    text = """
        class Basket:
            def show(self) -> str: ...
        def open_basket() -> str: return "mine"
    """
    assert says(session(tmp_path, text), "open_basket") == ["mine"]


def test_objects_are_told_apart_by_identity_whatever_their_equality_says(tmp_path: Path) -> None:
    text = """
        class Box:
            def __init__(self, name="outer"): self.name = name
            def __eq__(self, other): raise RuntimeError("never compare")
            __hash__ = None
            def inner(self) -> Box: return Box("inner")
            def which(self) -> str: return self.name
    """
    assert says(session(tmp_path, text), "open_box", "inner", "which", "go_up", "which")[2:] == [
        "inner",
        "Context is now 'Box'",
        "outer",
    ]


def test_a_constructor_that_fails_is_a_command_that_failed(tmp_path: Path) -> None:
    text = """
        class Shop:
            def __init__(self): raise OSError("the shop is closed")
            def show(self) -> str: ...
    """
    result = session(tmp_path, text).execute_text("open_shop")
    assert (result.success, result.text, result.context) == (False, "the shop is closed", "global")

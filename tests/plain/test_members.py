"""Which names of a module become commands and contexts."""

from __future__ import annotations

from pathlib import Path

from tests.plain.apps import load, own_commands, says, session, write


def test_public_functions_that_the_module_defines_are_commands(tmp_path: Path) -> None:
    text = """
        from os.path import join

        def shown() -> str: ...
        def _hidden() -> str: ...
        async def later() -> str: ...
        square = lambda x: x * x
        joined = join
        if True:
            def under_if() -> str: ...
        else:
            def never() -> str: ...
        try:
            import no_such_module_at_all
        except ImportError:
            def fallback() -> str: ...
    """
    assert own_commands(load(tmp_path, text)) == ["fallback", "later", "shown", "under_if"]


def test_what_all_names_is_all_there_is(tmp_path: Path) -> None:
    write(tmp_path, "def borrowed() -> str:\n    return 'from elsewhere'\n", "other.py")
    text = """
        from other import borrowed
        __all__ = ["borrowed", "own", "LIMIT"]
        LIMIT = 3
        def own() -> str: ...
        def not_named() -> str: ...
    """
    instance = session(tmp_path, text)
    assert own_commands(instance.definition) == ["borrowed", "own"]
    assert says(instance, "borrowed") == ["from elsewhere"]


def test_a_decorator_leaves_a_command_what_it_is(tmp_path: Path) -> None:
    text = """
        def loud(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs).upper()
            return wrapper
        del_me = None
        __all__ = ["cached", "hail"]

        @functools.cache
        def cached(a: int) -> str:
            "Remember."
            return str(a)

        @loud
        def hail(name: str) -> str:
            "Say hello."
            return f"hello {name}"
    """
    instance = session(tmp_path, text)
    assert says(instance, "cached <a>1</a>", "hail <name>Ada</name>") == ["1", "HELLO ADA"]
    assert instance.find("hail").command.description == "Say hello."


def test_classes_with_public_methods_are_contexts_and_others_are_values(tmp_path: Path) -> None:
    text = """
        class Shop:
            def show(self) -> str: ...
        class Size(Enum):
            SMALL = 1
            def bigger(self) -> str: ...
        class Order(BaseModel):
            def total(self) -> int: ...
        class Lost(Exception):
            def why(self) -> str: ...
        class Point(NamedTuple):
            x: int
            def norm(self) -> int: ...
        class Row(TypedDict):
            x: int
        class Shape(Protocol):
            def area(self) -> int: ...
        @dataclass
        class Note:
            text: str
        class _Hidden:
            def show(self) -> str: ...
    """
    assert load(tmp_path, text).context_names == ("global", "Shop")


def test_methods_are_the_commands_of_their_context(tmp_path: Path) -> None:
    text = """
        class Shop:
            'Where things are sold.'
            limit = 3
            def show(self) -> str: return "shown"
            async def wait(self) -> str: ...
            def _count(self) -> int: ...
            def __len__(self) -> int: return 1
            @property
            def size(self) -> int: return 2
            @staticmethod
            def rules(a: int) -> str: return f"rule {a}"
            @classmethod
            def kind(cls, a: int) -> str: return f"{cls.__name__} {a}"
            class Inner:
                def inner(self) -> str: ...
    """
    instance = session(tmp_path, text)
    assert own_commands(instance.definition) == [
        "Shop/kind",
        "Shop/rules",
        "Shop/show",
        "Shop/wait",
        "open_shop",
    ]
    assert instance.definition.contexts["Shop"].description == "Where things are sold."
    assert says(instance, "open_shop", "rules <a>1</a>", "Shop/kind <a>2</a>")[1:] == ["rule 1", "Shop 2"]


def test_a_context_has_the_commands_of_its_base_classes_but_not_of_foreign_ones(tmp_path: Path) -> None:
    text = """
        import threading
        class _Named:
            def rename(self, name: str) -> str: return f"now {name}"
        class Book(_Named):
            def rate(self, stars: int) -> str: return f"{stars} stars"
            def lend(self) -> str: return "lent"
            def sell(self) -> str: return "sold"
        class Signed(Book):
            sell = None
            def lend(self) -> str: return "never"
            def inscription(self) -> str: return "for you"
        class Reader(threading.Thread):
            def read(self) -> str: return "reading"
    """
    instance = session(tmp_path, text)
    contexts = instance.definition.contexts
    assert contexts["Signed"].bases == ("Book",)
    assert {name: each.qualified_name for name, each in contexts["Signed"].commands.items()} == {
        "inscription": "Signed/inscription",
        "lend": "Signed/lend",
        "rate": "Book/rate",
        "rename": "Signed/rename",
    }
    assert list(contexts["Reader"].commands) == ["read"]
    assert says(instance, "open_signed", "rate <stars>5</stars>", "lend", "Signed/rate <stars>1</stars>")[1:] == [
        "5 stars",
        "never",
        "1 stars",
    ]


def test_the_docstrings_describe_the_workflow_and_its_commands(tmp_path: Path) -> None:
    file = write(tmp_path, '"""Sells tea.\n\nBy the cup."""\ndef brew(tea: str) -> str:\n    """Brew it."""\n')
    from greenroom.workflow.plain.load import load_plain

    definition = load_plain(file)
    assert (definition.name, definition.purpose, definition.folder) == ("app", "Sells tea.", tmp_path)
    assert definition.contexts["*"].commands["brew"].description == "Brew it."

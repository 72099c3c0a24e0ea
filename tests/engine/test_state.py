"""A session's workflow put away as JSON and brought back, and what is said of the rest."""

from __future__ import annotations

import enum
import json
import logging
import sys
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import pytest

from greenroom.workflow.engine import Instance, load_workflow
from greenroom.workflow.engine.state import OBJECTS, PLACE, VARIABLES, Loss, Restored, SavedState
from greenroom.workflow.engine.state import restore_state as restore
from greenroom.workflow.engine.state import save_state as save
from tests.engine.folders import command, instance
from tests.engine.wheels import VERSIONS, examples

SHELF = """
    class Book:
        def __init__(self, shelf, title): self.shelf, self.title = shelf, title
    class Shelf:
        def __init__(self, titles): self.books = [Book(self, title) for title in titles]
"""
HOOKS = {
    "state_version": "state_version = 3",
    "get_state": "def get_state(shelf): return {'books': [book.title for book in shelf.books]}",
    "from_state": "def from_state(state, workflow, *, state_version):\n"
    "    assert workflow.root_command_context is None\n"
    "    if state_version > 3: raise fastworkflow.UnsupportedStateVersion(state_version)\n"
    "    return Shelf(state['books'])",
    "get_locator": "def get_locator(book): return [book.title]",
    "find_by_locator": "def find_by_locator(shelf, at): return {book.title: book for book in shelf.books}[at.pop()]",
}
COMMANDS = {
    "start": "workflow.root_command_context = Shelf(['Emma', 'Ulysses']); return 'begun'",
    "Shelf/titles": "return ', '.join(b.title for b in workflow.command_context_for_response_generation.books)",
    "Shelf/add": "shelf = workflow.root_command_context; shelf.books.append(Book(shelf, 'Dracula')); return 'added'",
    "Shelf/open": "workflow.current_command_context = workflow.root_command_context.books[-1]; return 'open'",
    "Book/read": "return workflow.command_context_for_response_generation.title",
}


def shelf(folder: Path, *steps: str, **changed: str | None) -> Instance:
    """After its start-up and those commands. A hook can be replaced, or left out with None."""
    hooks = [text for text in {**HOOKS, **changed}.values() if text is not None]
    objects = "from shelf_objects import *"
    files = {f"_commands/{name}.py": command(body, imports=objects) for name, body in COMMANDS.items()}
    top = f"import sys, fastworkflow\n{objects}\nclass Context:\n"
    files["_commands/Shelf/_Shelf.py"] = top + indent("\n".join(["pass", *hooks]), "    ")
    files["_commands/Book/_Book.py"] = "class Context:\n    def get_parent(book): return book.shelf"
    return run(instance(folder, {"shelf_objects.py": SHELF, **files}), "start", *steps)


def run(one: Instance, *steps: str) -> Instance:
    for step in steps:
        assert one.execute_text(step).success
    return one


def root(one: Instance) -> Any:
    return one.workflow.root_command_context


def again(one: Instance) -> Instance:
    return run(Instance(one.definition), "start")


def plain(folder: Path, **context: Any) -> Instance:
    one = instance(folder, {"_commands/a.py": command()})
    one.workflow.context.update(context)
    return one


def through_json(saved: SavedState) -> SavedState:
    return SavedState.from_json(json.loads(json.dumps(saved.to_json(), allow_nan=False)))


def why(found: SavedState | Restored, part: str) -> str:
    return next(loss.why for loss in found.lost if loss.part == part)


@pytest.mark.parametrize("is_started", [True, False])
def test_everything_comes_back_where_there_are_all_hooks(tmp_path: Path, is_started: bool) -> None:
    one = shelf(tmp_path / "full", "add", "open")
    one.workflow.context.update(count=3, tags=["a", {"b": None}])
    one.workflow.is_complete = True
    saved = save(one)
    assert saved.lost == ()
    one.workflow.context["tags"].append("later")
    other = again(one) if is_started else Instance(one.definition)
    assert restore(other, through_json(saved)) == Restored((VARIABLES, OBJECTS, PLACE))
    assert save(other) == saved == through_json(saved)
    assert other.workflow.context == {"count": 3, "tags": ["a", {"b": None}]}
    assert other.workflow.is_complete
    assert other.workflow.current_command_context is root(other).books[2]
    assert other.execute("read").text == "Dracula"
    assert other.execute("titles").text == "Emma, Ulysses, Dracula"
    other.workflow.context["tags"].append("later")
    assert saved.variables["tags"] == ["a", {"b": None}]


@pytest.mark.parametrize(
    ("hook", "text", "reason"),
    [
        ("get_state", None, "the context Shelf has no get_state"),
        ("from_state", None, "the context Shelf has no from_state"),
        ("get_state", "return fastworkflow.EPHEMERAL", "the context Shelf says that its state is not worth keeping"),
        ("get_state", "raise RuntimeError('secret')", "Shelf.get_state failed with RuntimeError"),
        ("get_state", "print('printed'); sys.exit(1)", "Shelf.get_state failed with SystemExit"),
        ("get_state", "return None", "Shelf.get_state returned a value of type NoneType, and a dict is due"),
        ("get_state", "return {'me': shelf}", "state['me'] is of type Shelf, which JSON does not have"),
        ("get_state", "return {'a': [{1: 2}]}", "state['a'][0] has a key of type int, and JSON has text alone"),
        ("get_state", "async", "Shelf.get_state is async, and a hook cannot be"),
    ],
)
def test_objects_that_cannot_be_saved_are_those_of_the_start_and_the_variables_come_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, hook: str, text: str | None, reason: str
) -> None:
    caplog.set_level(logging.INFO)
    changed = "async def get_state(shelf): return {}" if text == "async" else text and f"def {hook}(shelf): {text}"
    one = shelf(tmp_path / "unsaved", "add", "open", **{hook: changed})
    one.workflow.context["count"] = 3
    saved = save(one)
    assert saved.lost == (Loss(OBJECTS, reason), Loss(PLACE, reason))
    assert ("failed with" in reason) == ("the hook Shelf.get_state failed" in caplog.text)
    assert ("printed" in str(text)) == ("Shelf.get_state printed: printed" in caplog.text)

    assert restore(other := again(one), through_json(saved)) == Restored((VARIABLES,), saved.lost)
    assert other.workflow.context == {"count": 3}
    assert other.workflow.is_current_command_context_root
    assert other.execute("titles").text == "Emma, Ulysses"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise fastworkflow.UnsupportedStateVersion(3, 'secret')", "does not support version 3 of its state"),
        ("workflow.root_command_context = 1; raise KeyError('secret')", "failed with KeyError"),
        ("workflow.context.clear(); sys.exit('secret')", "failed with SystemExit"),
        ("1 / (workflow.context['count'] - 3)", "failed with ZeroDivisionError"),
        ("return Book(None, 'x')", "returned a value of type Book, and a Shelf is due"),
    ],
)
def test_objects_that_cannot_be_restored_leave_all_as_start_up_made_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, body: str, reason: str
) -> None:
    from_state = f"def from_state(state, workflow, *, state_version): {body}"
    one = shelf(tmp_path / "bad", "add", "open", from_state=from_state)
    one.workflow.context["count"] = 3
    other = again(one)
    other.workflow.context["fresh"] = True
    place, restored = other.workflow.place(), restore(other, through_json(save(one)))
    assert restored.restored == ()
    assert [loss.part for loss in restored.lost] == [VARIABLES, OBJECTS, PLACE]
    assert why(restored, OBJECTS) == f"Shelf.from_state {reason}"
    assert other.workflow.place() == place
    assert other.workflow.context == {"fresh": True}
    assert "secret" not in str(restored)
    assert ("secret" in body) == ("secret" in caplog.text)


def test_a_version_is_the_hooks_to_read_or_to_refuse(tmp_path: Path) -> None:
    newer = shelf(tmp_path / "newer" / "shelf", state_version="state_version = 4")
    today = shelf(tmp_path / "today" / "shelf")
    older = shelf(tmp_path / "older" / "shelf", state_version=None)
    assert [one.objects and one.objects.state_version for one in map(save, (newer, today, older))] == [4, 3, 1]
    assert restore(today, save(older)).lost == ()
    assert why(restore(today, save(newer)), OBJECTS) == "Shelf.from_state does not support version 4 of its state"


def test_the_names_of_the_real_package_are_known_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    get_state = "def get_state(shelf): return sys.modules['fastworkflow'].EPHEMERAL if shelf.books else {}"
    from_state = "def from_state(state, workflow, **_): raise sys.modules['fastworkflow'].UnsupportedStateVersion"
    one = shelf(tmp_path / "real", get_state=get_state, from_state=from_state)
    real: Any = ModuleType("fastworkflow")
    real.EPHEMERAL, real.UnsupportedStateVersion = object(), type("Refusal", (Exception,), {})
    monkeypatch.setitem(sys.modules, "fastworkflow", real)
    assert "not worth keeping" in why(save(one), OBJECTS)
    root(one).books.clear()
    assert "does not support version 3" in why(restore(one, save(one)), OBJECTS)


@pytest.mark.parametrize(
    ("hook", "text", "reason"),
    [
        ("get_locator", None, "the context Shelf has no get_locator"),
        ("find_by_locator", None, "the context Shelf has no find_by_locator"),
        ("get_locator", "return book", "locator is of type Book, which JSON does not have"),
        ("get_locator", "1 / 0", "Shelf.get_locator failed with ZeroDivisionError"),
        ("find_by_locator", "0", "Shelf.find_by_locator does not find what Shelf.get_locator was asked about"),
        ("find_by_locator", "return book.it", "Shelf.find_by_locator failed with AttributeError"),
        ("find_by_locator", "return getattr(book, 'it', 5)", "returned a value of type int, and a Book is due"),
    ],
)
def test_a_place_that_cannot_be_found_again_is_lost_and_the_session_comes_back_at_its_root(
    tmp_path: Path, hook: str, text: str | None, reason: str
) -> None:
    one = shelf(tmp_path / "lost", "add", "open", **{hook: text and f"def {hook}(book, at=None): {text}"})
    root(one).it = one.workflow.current_command_context
    assert (restored := restore(other := again(one), through_json(save(one)))).restored == (VARIABLES, OBJECTS)
    assert reason in why(restored, PLACE)
    assert other.workflow.is_current_command_context_root
    assert other.execute("titles").text == "Emma, Ulysses, Dracula"


def test_the_global_context_is_a_place_too(tmp_path: Path) -> None:
    one = shelf(tmp_path / "out")
    unbegun = restore(one, save(Instance(one.definition)))
    assert unbegun.lost == (Loss(PLACE, "the session had not entered any context when it was saved"),)
    assert one.workflow.is_current_command_context_root
    one.workflow.current_command_context = None
    assert restore(other := again(one), save(one)).lost == ()
    assert other.workflow.current_command_context is None


def test_without_contexts_the_variables_are_all_there_is(tmp_path: Path) -> None:
    one = plain(tmp_path / "plain", a=1)
    other = Instance(one.definition, context={"a": 0, "deleted since": 1})
    assert restore(other, through_json(save(one))) == Restored((VARIABLES, PLACE))
    assert other.workflow.context == {"a": 1}
    one.workflow.current_command_context = object()
    assert why(save(one), OBJECTS) == "the context object has no get_state"


RED = enum.StrEnum("Colour", "RED").RED  # type: ignore[attr-defined]
CYCLE: list[Any] = []
CYCLE.append(CYCLE)
DEEP = json.loads("[" * 101 + "]" * 101)
ODD = [object(), (1, 2), b"x", RED, {RED: 1}, {1: 2}, [float("nan")], "\ud800", 10**5000, DEEP, CYCLE]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_a_variable_that_json_would_not_give_back_as_it_was_is_lost_alone(tmp_path: Path, odd: Any) -> None:
    good = [1, 2.5, None, True, "ü", {"a": {}}, DEEP[0][0]]
    saved = save(plain(tmp_path / "odd", odd=odd, good=good))
    assert saved.variables == {"good": good}
    assert [(loss.part, loss.name) for loss in saved.lost] == [(VARIABLES, "odd")]
    other = plain(tmp_path / "odd", odd=(made_by_start_up := object()), good=0, deleted=1)
    assert restore(other, through_json(saved)) == Restored((VARIABLES, PLACE), saved.lost)
    assert other.workflow.context == {"odd": made_by_start_up, "good": good}


def test_variables_that_share_a_list_do_not_come_back_with_two(tmp_path: Path) -> None:
    shared = [1]
    saved = save(plain(tmp_path / "shared", bad=[shared, object()], a=shared, b={"c": shared}))
    assert saved.variables == {"a": [1]}
    assert saved.lost[1].why == "b['c'] is the same list as a, and would come back as another"


@pytest.mark.parametrize("context", [{"http_bearer_token": "secret", 5: 6, "\ud800": 1}, None])
def test_where_no_variable_can_be_saved_those_of_the_start_stay(tmp_path: Path, context: Any) -> None:
    one = plain(tmp_path / "none")
    one.workflow.context = context
    saved = save(one)
    assert b"secret" not in str(saved.to_json()).encode()
    other = Instance(one.definition, context={"http_bearer_token": "new", 5: 7})  # type: ignore[dict-item]
    assert restore(other, saved) == Restored((PLACE,), saved.lost)
    assert other.workflow.context == {"http_bearer_token": "new", 5: 7}


GOOD = SavedState({"a": 1}).to_json()
WRONG = [None, {}, "text", *({**GOOD, key: "x"} for key in ("format", "variables", "objects", "place", "lost", "more"))]


@pytest.mark.parametrize("wrong", [*WRONG, {**GOOD, "place": {"standing": "beyond", "context_name": "x"}}])
def test_what_is_no_saved_state_is_refused(wrong: Any) -> None:
    assert SavedState.from_json(GOOD) == SavedState({"a": 1})
    with pytest.raises(ValueError):  # noqa: PT011
        SavedState.from_json(wrong)


USER, PREMIUM = "<user_name>Mary</user_name>", "<is_premium_user>true</is_premium_user>"
BUG = "<workitem_type>Bug</workitem_type> <id>b1</id>"
TREE = f"startup; add_child_workitem {BUG}; go_to_workitem {BUG}; mark_as_complete <is_complete>true</is_complete>"
EXAMPLES = {
    "messaging_app_2": ("startup <name>Mary</name>", "User"),
    "messaging_app_3": (f"initialize_user <name>Mary</name> {PREMIUM}", "PremiumUser"),
    "messaging_app_4": (f"set_root_context; add_user {USER} {PREMIUM}; set_current_user {USER}", "PremiumUser"),
    "simple_workflow_template": (TREE, "WorkItem: /Bug[id=b1]"),
    "extended_workflow_example": (TREE, "WorkItem: /Bug[id=b1]"),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_come_back(version: str, name: str) -> None:
    steps, place = EXAMPLES[name]
    one = run(Instance(load_workflow(examples(version) / name)), *steps.split("; "))
    other = run(Instance(one.definition), steps.split("; ")[0])
    saved = save(one)
    assert restore(other, through_json(saved)) == Restored((VARIABLES, OBJECTS, PLACE))
    assert save(other) == saved
    assert other.workflow.current_command_context_displayname == place
    assert (root(other) is None) == (name == "messaging_app_3")

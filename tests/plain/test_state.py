"""A session of a plain workflow that is put away and comes back."""

from __future__ import annotations

from pathlib import Path

from greenroom.workflow.engine import Instance
from greenroom.workflow.engine.state import Restored, SavedState, restore_state, save_state
from tests.plain.apps import load, says

APP = """
    class Basket:
        state_version = 2
        def __init__(self): self.items = []
        def put(self, item: str) -> None: self.items.append(item)
        def show(self) -> list[str]: return self.items
        def get_state(self): return {"items": self.items}
        @classmethod
        def from_state(cls, state, state_version):
            assert state_version == 2
            basket = cls()
            basket.items = state["items"]
            return basket

    class Scratch:
        def __init__(self): self.notes = []
        def note(self, text: str) -> None: self.notes.append(text)
        def count(self) -> int: return len(self.notes)

    class Page:
        def __init__(self, number): self.number = number
        def read(self) -> str: ...

    def open_page() -> Page: return Page(1)
"""


def brought_back(instance: Instance) -> tuple[Instance, Restored]:
    """The same session in another life, by way of JSON."""
    saved = SavedState.from_json(save_state(instance).to_json())
    again = Instance(instance.definition)
    return again, restore_state(again, saved)


def test_an_object_with_hooks_comes_back_wherever_the_session_stood(tmp_path: Path) -> None:
    instance = Instance(load(tmp_path, APP))
    says(instance, "open_basket", "put <item>tea</item>", "go_up")
    again, restored = brought_back(instance)
    assert restored.lost == ()
    assert again.workflow.current_command_context_displayname == "global"
    assert says(again, "go_up", "open_basket", "show")[0::2] == ["Already at the top-level 'global' context.", "- tea"]


def test_a_session_comes_back_into_the_object_that_it_stood_in(tmp_path: Path) -> None:
    instance = Instance(load(tmp_path, APP))
    says(instance, "open_basket", "put <item>tea</item>")
    again, restored = brought_back(instance)
    assert restored.lost == ()
    assert says(again, "show", "go_up") == ["- tea", "Context is now 'global'"]


def test_an_object_without_hooks_begins_anew(tmp_path: Path) -> None:
    instance = Instance(load(tmp_path, APP))
    says(instance, "open_scratch", "note <text>a</text>", "go_up", "open_basket", "put <item>tea</item>", "go_up")
    again, _ = brought_back(instance)
    assert says(again, "open_scratch", "count", "open_basket", "show")[1::2] == ["0", "- tea"]


def test_a_place_that_nobody_can_find_again_is_said_to_be_lost(tmp_path: Path) -> None:
    instance = Instance(load(tmp_path, APP))
    says(instance, "open_basket", "put <item>tea</item>", "open_page")
    again, restored = brought_back(instance)
    assert [loss.part for loss in restored.lost] == ["place"]
    assert again.workflow.current_command_context_displayname == "global"
    assert says(again, "open_basket", "show")[1] == "- tea"


def test_a_hook_that_returns_something_else_is_a_loss_and_not_a_crash(tmp_path: Path) -> None:
    text = APP.replace("return basket", "return None")
    instance = Instance(load(tmp_path, text))
    says(instance, "open_basket", "put <item>tea</item>")
    again, restored = brought_back(instance)
    assert {loss.part for loss in restored.lost} == {"context variables", "workflow objects", "place"}
    assert says(again, "open_basket", "show")[1] == "Nothing."


def test_a_workflow_without_classes_loses_nothing(tmp_path: Path) -> None:
    instance = Instance(load(tmp_path, "def f() -> str: ..."), context={"a": 1})
    again, restored = brought_back(instance)
    assert restored.lost == ()
    assert again.workflow.context == {"a": 1}

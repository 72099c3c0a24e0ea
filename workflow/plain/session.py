"""What one session has of a plain workflow: the objects it has opened, and the way it came.

It is the root context of the session, so that it lives, and is put away, like any context of the engine's. Its name is
that of the global context, where module-level functions are found. An object that a command returned is inside the one
that the command was called on; an attribute `parent` of the object wins over that.

An object that a session opened itself is kept by two hooks of its class, if it has them:

    get_state(self) -> a dict of JSON          from_state(cls, state), or (cls, state, state_version) -> the object
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from greenroom.workflow.compat.workflow import GLOBAL, GLOBAL_DISPLAY
from greenroom.workflow.engine.definition import Root


class PlainSession(Root):
    contexts: ClassVar[frozenset[type]] = frozenset()

    def __init__(self) -> None:
        self._opened: dict[type, Any] = {}
        # Each object that was entered, with the one that it was entered from, the outermost first.
        self._way: tuple[tuple[object, object], ...] = ()

    def opened(self, cls: type) -> object:
        """The session's own object of that class, made when it is first needed."""
        if cls not in self._opened:
            self._opened[cls] = cls()
        found: object = self._opened[cls]
        return found

    def is_context(self, value: object) -> bool:
        return type(value) in self.contexts

    def enter(self, entered: object, from_where: object) -> None:
        """Remembers the way, and forgets what is no longer on it: a session must not grow with every step."""
        on_the_way = [inner for inner, _ in self._way]
        if entered is from_where or _index(on_the_way, entered) is not None:
            return
        around = _index(on_the_way, from_where)
        self._way = (*self._way[: 0 if around is None else around + 1], (entered, from_where))

    def parent_of(self, context: object) -> object:
        parent = getattr(context, "parent", None)
        if self.is_context(parent):
            return parent
        return next((around for inner, around in self._way if inner is context), self)

    def state(self) -> dict[str, Any]:
        """Of the objects whose classes have the hooks; another one is made anew when it is needed."""
        return {
            cls.__name__: {"state": each.get_state(), "version": getattr(cls, "state_version", 1)}
            for cls, each in self._opened.items()
            if keeps_state(cls)
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        for cls in self.contexts:
            if cls.__name__ in saved and keeps_state(cls):
                self._opened[cls] = _made_again(cls, **saved[cls.__name__])

    def opened_as(self, name: str) -> object | None:
        return next((each for cls, each in self._opened.items() if cls.__name__ == name), None)


def _index(objects: Collection[object], wanted: object) -> int | None:
    """By identity: what the author's `==` means is not asked."""
    return next((at for at, each in enumerate(objects) if each is wanted), None)


def keeps_state(cls: type) -> bool:
    return hasattr(cls, "get_state") and hasattr(cls, "from_state")


def _made_again(cls: Any, state: Any, version: int) -> object:
    takes_version = "state_version" in inspect.signature(cls.from_state).parameters
    made: object = cls.from_state(state, state_version=version) if takes_version else cls.from_state(state)
    if type(made) is not cls:
        raise TypeError(f"{cls.__name__}.from_state returned a {type(made).__name__}")
    return made


def root_class(contexts: Collection[type]) -> type[PlainSession]:
    """What a session's root is made of. The engine calls a context by the name of its class, and this one's is `*`."""
    return type(GLOBAL, (PlainSession,), {"contexts": frozenset(contexts), "__doc__": None})


def root_hooks(root: type[PlainSession], contexts: Collection[type]) -> type:
    """The `Context` class of the root: its name for people and, if any class keeps state, the engine's state hooks."""
    named: dict[str, Any] = {"get_displayname": staticmethod(lambda session: GLOBAL_DISPLAY)}
    if not any(keeps_state(cls) for cls in contexts):
        return type("Context", (), named)

    def from_state(state: Mapping[str, Any], workflow: object, state_version: int) -> PlainSession:
        session = root()
        session.restore(state)
        return session

    hooks: dict[str, Callable[..., Any]] = {
        "get_state": PlainSession.state,
        "from_state": from_state,
        # The engine asks whether that object is found again, so one that was not opened as such is noticed.
        "get_locator": lambda context: type(context).__name__,
        "find_by_locator": PlainSession.opened_as,
    }
    return type("Context", (), {**named, **{name: staticmethod(hook) for name, hook in hooks.items()}})


def context_hooks(cls: type) -> type:
    """The `Context` class of one of the author's: what it is for, and its name for people if it says one."""
    members: dict[str, Any] = {"__doc__": cls.__doc__}
    if hasattr(cls, "get_displayname"):
        members["get_displayname"] = staticmethod(lambda context: context.get_displayname())
    return type("Context", (), members)

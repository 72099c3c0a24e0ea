"""`fastworkflow.Workflow`: the object that command code is given as `workflow`.

It remembers where a session stands: the root context, the current one, and the one in which the running command
was found. A context is any Python object; its name is the name of its class, and `None` is the global context.
It executes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

log = logging.getLogger(__name__)

GLOBAL, GLOBAL_DISPLAY = "*", "global"


class Workflow:
    def __init__(self, *, folderpath: str, id: int, context: dict[str, Any], context_classes: Mapping[str, type]):
        self.folderpath = folderpath
        self.id = id
        self.context = context
        self.is_complete = False
        self.command_context_for_response_generation: object | None = None
        self._context_classes = context_classes
        self._root: object | None = None
        self._current: object | None = None

    @property
    def root_command_context(self) -> object | None:
        return self._root

    @root_command_context.setter
    def root_command_context(self, value: object | None) -> None:
        if self._root is not None:
            raise ValueError("Root command context can only be set once per Workflow")
        self._root = self._current = value

    @property
    def current_command_context(self) -> object | None:
        return self._current

    @current_command_context.setter
    def current_command_context(self, value: object | None) -> None:
        self._current = value

    @property
    def current_command_context_name(self) -> str:
        return self.get_command_context_name(self._current)

    @property
    def current_command_context_displayname(self) -> str:
        name = self.get_command_context_name(self._current)
        get_displayname = getattr(self._context_classes.get(name), "get_displayname", None)
        if get_displayname is not None:
            try:
                return str(get_displayname(self._current))
            # A workflow's own code: whatever it raises, the context still has a name.
            except Exception:
                log.exception("get_displayname of the context %s failed", name)
        return self.get_command_context_name(self._current, for_display=True)

    @property
    def is_current_command_context_root(self) -> bool:
        return self._current is self._root

    @property
    def is_command_context_for_response_generation_root(self) -> bool:
        return self.command_context_for_response_generation is self._root

    def get_parent(self, command_context_object: object | None = None) -> object | None:
        if command_context_object is None or command_context_object is self._root:
            return self._root
        context_class = self._context_classes.get(self.get_command_context_name(command_context_object))
        get_parent = getattr(context_class, "get_parent", None)
        parent: object | None = get_parent(command_context_object) if get_parent else None
        return parent

    @staticmethod
    def get_command_context_name(command_context_object: object | None, for_display: bool = False) -> str:
        if command_context_object is not None:
            return type(command_context_object).__name__
        return GLOBAL_DISPLAY if for_display else GLOBAL

    def end_command_processing(self) -> None:
        """There is nothing to end: no command leaves a state behind."""

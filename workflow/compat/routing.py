"""What command code may ask about its own workflow: `RoutingRegistry` and `list_context_names`.

Nothing is routed here. The engine publishes what it has loaded; this module only looks it up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs


@attrs.frozen
class Utterances:
    plain_utterances: list[str]
    template_utterances: list[str]


@attrs.frozen
class Published:
    """A loaded workflow, as far as its own commands may ask. The names of contexts include `*`."""

    context_names: tuple[str, ...]
    commands: Mapping[str, Callable[[], Utterances]]

    def get_command_utterances(self, command_name: str) -> Utterances:
        try:
            return self.commands[command_name]()
        except KeyError:
            raise KeyError(f"Could not find utterances for command '{command_name}'") from None


_published: dict[Path, Published] = {}


def publish(folder: Path, workflow: Published) -> None:
    _published[folder.resolve()] = workflow


class RoutingRegistry:
    @classmethod
    def get_definition(cls, workflow_folderpath: str, load_cached: bool = True) -> Published:
        try:
            return _published[Path(workflow_folderpath).resolve()]
        except KeyError:
            raise KeyError(f"No workflow is loaded from {workflow_folderpath}") from None


def list_context_names(workflow_folderpath: str, include_default: bool = False) -> list[str]:
    names = RoutingRegistry.get_definition(workflow_folderpath).context_names
    return [name for name in names if include_default or name != "*"]

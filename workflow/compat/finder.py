"""Makes `import fastworkflow` find the stand-in, and only that, and only if the real package is absent.

One entry on `sys.meta_path` that answers for the modules of a table and refuses every other name below
`fastworkflow`. `fastworkflow.examples` is no part of the table: example workflows are folders on disk, and where
they are depends on who asks; the engine's importer knows.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from greenroom.workflow.compat import environment, matching, routing, types, workflow

NAME = "fastworkflow"

_TOP: Mapping[str, Any] = {
    "Action": types.Action,
    "CommandOutput": types.CommandOutput,
    "CommandResponse": types.CommandResponse,
    "CommandTraceEventDirection": types.CommandTraceEventDirection,
    "EPHEMERAL": types.EPHEMERAL,
    "Recommendation": types.Recommendation,
    "RoutingRegistry": routing.RoutingRegistry,
    "TurnStatus": types.TurnStatus,
    "UnsupportedStateVersion": types.UnsupportedStateVersion,
    "Workflow": workflow.Workflow,
    "get_env_var": environment.get_env_var,
    "init": environment.init,
}

MODULES: Mapping[str, Mapping[str, Any]] = {
    NAME: _TOP,
    f"{NAME}.command_routing": {"RoutingRegistry": routing.RoutingRegistry},
    f"{NAME}.train": {},
    f"{NAME}.train.generate_synthetic": {"generate_diverse_utterances": types.generate_diverse_utterances},
    f"{NAME}.turn": {"TurnStatus": types.TurnStatus},
    f"{NAME}.utils": {},
    f"{NAME}.utils.context_utils": {"list_context_names": routing.list_context_names},
    f"{NAME}.utils.fuzzy_match": {"find_best_matches": matching.find_best_matches},
    f"{NAME}.utils.logging": {"logger": logging.getLogger("greenroom.command")},
    f"{NAME}.utils.signatures": {
        "DatabaseValidator": matching.DatabaseValidator,
        "InputForParamExtraction": types.InputForParamExtraction,
        "NOT_FOUND": environment.NOT_FOUND,
    },
    f"{NAME}.workflow": {"Workflow": workflow.Workflow},
}
"""Every module of the stand-in, and what is in it."""


class StandIn(Loader):
    """Finder and loader in one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in MODULES:
            return None
        is_package = any(name.startswith(f"{fullname}.") for name in MODULES)
        return ModuleSpec(fullname, self, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(MODULES[module.__name__])


_STAND_IN = StandIn()


def install() -> None:
    """Answer for `fastworkflow` from now on, unless somebody better does. Asking twice does no harm."""
    if NAME in sys.modules or is_stand_in():
        return
    spec = importlib.util.find_spec(NAME)
    # A folder of that name on the path, without an __init__.py, is no package to step aside for.
    if spec is None or spec.origin is None:
        sys.meta_path.insert(0, _STAND_IN)


def is_stand_in() -> bool:
    """Whether command files get the stand-in rather than the real package."""
    return _STAND_IN in sys.meta_path

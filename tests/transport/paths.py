"""Which HTTP path the servers of the running test use. `tests/conftest.py` chooses, the helpers that serve look."""

from __future__ import annotations

from types import ModuleType
from typing import Final

ALL: Final = ("own", "stock")

chosen: str = ALL[0]

_HELPERS: Final = frozenset({"open_house", "server_process", "serving_on_both"})
_HOMES: Final = frozenset({"tests.transport.playhouse", "tests.transport.process", "tests.http1.opening"})
_ONE_IS_ENOUGH: Final = ("tests.console.", "tests.test_readme")
"""A browser and the lines of the README say nothing of a connection that others do not say sooner."""


def of(module: ModuleType) -> tuple[str, ...]:
    """The paths that a module's tests run on: both if it can open a real server, and none to choose if it cannot."""
    if module.__name__.startswith(_ONE_IS_ENOUGH):
        return ()
    found = (vars(module).get(name) for name in _HELPERS)
    return ALL if any(getattr(each, "__module__", "") in _HOMES for each in found) else ()

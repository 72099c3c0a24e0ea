"""`from greenroom import progress`: how plain functions say how far they have come.

A function has no `workflow` object to call; whose command it is, is known by a context variable, which threads and
tasks of the command inherit.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_Tell = Callable[[float, float | None, str | None], None]

_tell: contextvars.ContextVar[_Tell | None] = contextvars.ContextVar("_tell", default=None)


def progress(done: float, total: float | None = None, message: str | None = None) -> None:
    """Tell whoever waits for this command how far it has come. Outside of a command it does nothing."""
    tell = _tell.get()
    if tell is not None:
        tell(done, total, message)


@contextmanager
def told_to(tell: _Tell) -> Iterator[None]:
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)

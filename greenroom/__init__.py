"""Greenroom serves a workflow to AI clients over MCP Streamable HTTP; each client session is an actor of its own."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenroom.workflow.plain.progress import progress

__all__ = ["__version__", "progress"]

try:
    __version__ = version("greenroom")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> Any:
    # When it is first asked for: the language model's process imports this package too, and needs nothing of ours.
    if name != "progress":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from greenroom.workflow.plain.progress import progress

    return progress

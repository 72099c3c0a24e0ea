"""Greenroom serves a workflow to AI clients over MCP Streamable HTTP; each client session is an actor of its own."""

from importlib.metadata import PackageNotFoundError, version

from greenroom.workflow.plain.progress import progress

__all__ = ["__version__", "progress"]

try:
    __version__ = version("greenroom")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

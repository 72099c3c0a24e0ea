"""What `import fastworkflow` gives to a command file when that package is not installed.

A FastWorkflow command file names a few types of that package and little else; the package itself takes seconds
and half a gigabyte to import. This one answers for those names and steps aside when the real one is there. It
is a stand-in for command files alone: it trains nothing, routes nothing and calls no model.

`workflow.engine` stands above and hands in what only it knows (`publish`).
"""

from greenroom.workflow.compat.finder import install, is_stand_in
from greenroom.workflow.compat.routing import publish

__all__ = ["install", "is_stand_in", "publish"]

"""Which workflow the settings mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from greenroom.config.problems import ConfigurationError
from greenroom.config.settings import Settings
from greenroom.workflow.conformance import ConformanceWorkflow
from greenroom.workflow.demo import DemoWorkflow
from greenroom.workflow.port import Workflow

BUILT_IN: Mapping[str, Callable[[], Workflow]] = {"demo": DemoWorkflow, "conformance": ConformanceWorkflow}


def find_workflow(settings: Settings) -> Workflow:
    """The workflow to serve. Raises `ConfigurationError`, with what to do, if there is none."""
    make = BUILT_IN.get(settings.workflow)
    if make is None:
        names = " or ".join(sorted(BUILT_IN))
        raise ConfigurationError(
            [f"WORKFLOW_PATH={settings.workflow!r} is a folder; this version serves built-in workflows only: {names}."]
        )
    return make()

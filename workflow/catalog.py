"""Which workflow the settings mean: one that ships with the product, a folder of commands, or plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from greenroom.config.settings import Settings
from greenroom.workflow.conformance import ConformanceWorkflow
from greenroom.workflow.demo import DemoWorkflow
from greenroom.workflow.port import Workflow

if TYPE_CHECKING:
    from greenroom.workflow.engine import WorkflowDefinition

BUILT_IN: Mapping[str, Callable[[], Workflow]] = {"demo": DemoWorkflow, "conformance": ConformanceWorkflow}


def find_workflow(settings: Settings) -> Workflow:
    """The workflow to serve. Raises `ConfigurationError`, with everything that is wrong, if it cannot be."""
    make = BUILT_IN.get(settings.workflow)
    return make() if make is not None else _served(settings)


def load_definition(named: str) -> WorkflowDefinition:
    """From a folder, a file or the name of a module. Raises `WorkflowProblems`."""
    from greenroom.workflow.engine import load_workflow
    from greenroom.workflow.plain.load import load_plain
    from greenroom.workflow.plain.places import is_plain

    return load_plain(named) if is_plain(named) else load_workflow(named)


def _served(settings: Settings) -> Workflow:
    # Imported here, so that a built-in workflow does not pay for what it does not use.
    from greenroom.persistence.speedict_store import SpeedictStore
    from greenroom.workflow.compat import environment
    from greenroom.workflow.conversations.kept import KeptWorkflow
    from greenroom.workflow.llm.process import LlmProcess
    from greenroom.workflow.talk.served import ServedWorkflow, Startup

    environment.init(settings.variables)
    definition = load_definition(settings.workflow)
    llm = LlmProcess.from_settings(settings, proxy_base=settings.llm_proxy_base) if settings.llm_models else None
    served = ServedWorkflow(
        definition,
        startup=Startup.of(settings.startup_command, settings.startup_action, definition),
        context=settings.context,
        tracing=settings.show_agent_traces,
        llm=llm,
        parts=(llm.run,) if llm is not None else (),
    )
    store = SpeedictStore(settings.user_conversations_foldername, max_open=settings.max_open_databases)
    return KeptWorkflow(
        served,
        store,
        llm,
        sync_seconds=settings.sync_ms / 1000,
        handle_days=settings.handle_days,
        retention_days=settings.retention_days,
    )

"""`serve` and `check`."""

from __future__ import annotations

from collections.abc import Mapping

from greenroom.config.describe import describe
from greenroom.config.settings import load_settings


def serve(overrides: Mapping[str, str]) -> int:
    settings = load_settings(overrides=overrides)
    from greenroom.transport.serving import serve

    return serve(settings)


def check(overrides: Mapping[str, str]) -> int:
    settings = load_settings(overrides=overrides)
    print(describe(settings))
    from greenroom.workflow.catalog import find_workflow

    find_workflow(settings)
    print(f"\nThe configuration is good and the workflow {settings.workflow!r} can be loaded.")
    return 0

"""A server of its own process for the tests that measure or kill one: `python -m tests.transport.stage_server`.

It plays a flood (as much data as a client will take, and then some), a hold (a turn that only ends when it is
stopped) and a note (one small turn), and tells its own figures at /figures.
"""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Mapping
from typing import Any

import trio
import trio.lowlevel

from greenroom.config.settings import load_settings
from greenroom.transport.app import GreenroomApp, create_app
from greenroom.transport.logs import configure_logging
from greenroom.transport.serving import serve_app
from greenroom.workflow.events import Level, Note, Progress
from greenroom.workflow.port import Turn
from greenroom.workflow.values import SessionUse
from tests.transport.playhouse import Script


async def flood(arguments: Mapping[str, Any], turn: Turn) -> str:
    while True:
        turn.report(Note(Level.INFO, "x" * 65536))
        await trio.lowlevel.checkpoint()


async def hold(arguments: Mapping[str, Any], turn: Turn) -> str:
    turn.report(Progress(1, 2, "holding"))
    await trio.Event().wait()
    return "never"


async def note(arguments: Mapping[str, Any], turn: Turn) -> str:
    return "noted"


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def add_figures(app: GreenroomApp) -> None:
    async def figures() -> dict[str, int]:
        gc.collect()
        return {
            "tasks": trio.lowlevel.current_statistics().tasks_living,
            "resident_bytes": resident_bytes(),
            "sessions": len(app.supervisor),
            "connections": len(app.mcp.legacy.connections),
        }

    app.add_url_rule("/figures", view_func=figures)


def main() -> int:
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    logging.getLogger("greenroom.request").setLevel(logging.WARNING)
    app = create_app(settings, Script({"flood": flood, "hold": hold, "note": note}, {"note": SessionUse.REQUIRED}))
    add_figures(app)
    return serve_app(app, settings)


if __name__ == "__main__":
    sys.exit(main())

"""Commands as part of a turn: in a worker thread, between two trace events.

What a command needs of the session is the engine's affair; what a client sees of it while it runs is decided here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import trio

from greenroom.config.errors import GreenroomError
from greenroom.workflow.engine.instance import Instance, PreparedCall
from greenroom.workflow.engine.outcome import CommandResult
from greenroom.workflow.engine.parameters import format_command
from greenroom.workflow.events import Direction, Progress, Trace
from greenroom.workflow.port import Turn
from greenroom.workflow.spans import CURRENT

MAX_TRACES = 500
"""Of one turn, kept for the answer; the oldest go first. What is streamed is not limited by this."""


class Performer:
    """Runs the commands of one turn, one after the other, and remembers what there was to see."""

    def __init__(
        self, instance: Instance, turn: Turn, *, tracing: bool = True, wall_clock: Callable[[], float] = time.time
    ) -> None:
        self.instance = instance
        self.turn = turn
        self.results: list[CommandResult] = []
        self.traces: list[Trace] = []
        self._tracing = tracing
        self._wall_clock = wall_clock

    async def run_text(self, text: str) -> CommandResult:
        """A command in its explicit form. Raises what the engine raises."""
        return await self._run(text, lambda: self.instance.prepare_text(text))

    async def run(self, name: str, parameters: Mapping[str, Any], *, said: str = "") -> CommandResult:
        """A command by name with raw parameters. `said` is the sentence that led to it, for the command to see."""
        text = format_command(name, parameters)
        return await self._run(text, lambda: self.instance.prepare(name, parameters, text=said or text))

    async def _run(self, text: str, prepare: Callable[[], PreparedCall]) -> CommandResult:
        recorder = CURRENT.get()
        if recorder is None:
            return await self._run_traced(text, prepare)
        with recorder.step("command", {}) as step:
            result = await self._run_traced(text, prepare)
            step.rename(f"command {result.command_name}")
            step.note({"greenroom.command": result.command_name})
            if not result.success:
                step.failed("failed")
            return result

    async def _run_traced(self, text: str, prepare: Callable[[], PreparedCall]) -> CommandResult:
        self._trace(Direction.TO_WORKFLOW, raw_command=text)
        try:
            result = await self._perform(prepare)
        except GreenroomError as error:
            self._trace(Direction.TO_AGENT, raw_command=text, response_text=error.message, success=False)
            raise
        self._trace(
            Direction.TO_AGENT,
            command_name=result.command_name,
            parameters=result.parameters,
            response_text=result.text,
            success=result.success,
        )
        self.results.append(result)
        return result

    async def _perform(self, prepare: Callable[[], PreparedCall]) -> CommandResult:
        """One trip into a thread for everything that blocks; an async command is awaited here."""
        loop = trio.lowlevel.current_trio_token()

        loop_thread = threading.get_ident()

        def report_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
            report = partial(self.turn.report, Progress(progress, total, message))
            if threading.get_ident() == loop_thread:
                report()
            else:
                loop.run_sync_soon(report)

        def in_thread() -> PreparedCall | CommandResult:
            call = prepare()
            return call if call.is_async else call.run()

        workflow = self.instance.workflow
        between_turns, workflow.report_progress = workflow.report_progress, report_progress
        try:
            done = await self.turn.run_blocking(in_thread)
            return await done.run_async() if isinstance(done, PreparedCall) else done
        finally:
            workflow.report_progress = between_turns

    def _trace(self, direction: Direction, **facts: Any) -> None:
        if not self._tracing:
            return
        trace = Trace(direction, round(self._wall_clock() * 1000), **facts)
        self.traces.append(trace)
        del self.traces[:-MAX_TRACES]
        self.turn.report(trace)

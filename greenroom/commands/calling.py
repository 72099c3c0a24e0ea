"""`call`: one tool of any MCP server, with its progress on screen while it runs.

Progress and logs go to stderr and the result to stdout, so that a pipe gets the result alone.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from typing import Any

import trio

from greenroom.commands.arguments import read_pairs
from greenroom.commands.asking import Asker
from greenroom.commands.codes import FAILED, INTERRUPTED, MISTAKE, UNREACHABLE
from greenroom.commands.interrupts import Interrupted, Interrupts
from greenroom.commands.screen import Screen, fail, keep_libraries_quiet, screen_for
from greenroom.config.cli import Call
from greenroom.config.cli.building import suggestion
from greenroom.transport.mcp.client import (
    Address,
    Connection,
    Logged,
    News,
    Outcome,
    Progress,
    Refused,
    ToolInfo,
    Unreachable,
    connect,
)

TRACES = "greenroom.trace"
"""The log of what a turn does. The same is told as progress, which every server has, so it is not shown twice."""


def call(command: Call) -> int:
    keep_libraries_quiet()
    return trio.run(_Calling(command).run)


class _Mistake(Exception):
    """The command does not fit the server."""


class _Calling:
    def __init__(self, command: Call) -> None:
        self._command = command
        self._interrupts = Interrupts()
        self._out = screen_for(sys.stdout)
        # Who asks for JSON and nothing else may well read both streams at once; a terminal is a person.
        self._err = None if command.raw and not sys.stderr.isatty() else screen_for(sys.stderr)

    async def run(self) -> int:
        with trio.open_signal_receiver(signal.SIGINT) as signals:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._interrupts.listen, signals)
                code = await self._code()
                nursery.cancel_scope.cancel()
        return code

    async def _code(self) -> int:
        try:
            code = await self._interrupts.guard(self._go)
        except Unreachable as error:
            return self._failed(error, UNREACHABLE)
        except Refused as error:
            return self._failed(error, FAILED)
        except _Mistake as error:
            return self._failed(error, MISTAKE)
        return self._failed("Stopped.", INTERRUPTED) if isinstance(code, Interrupted) else code

    def _failed(self, why: object, code: int) -> int:
        self._settle()
        fail(str(why))
        return code

    def _settle(self) -> None:
        if self._err is not None:
            self._err.settle()

    async def _go(self) -> int | Interrupted:
        command = self._command
        address = Address(command.url, command.headers, command.legacy)
        # Only a human at a terminal can be asked anything.
        ask = Asker(screen_for(sys.stderr), sys.stdin).ask if sys.stdin.isatty() and sys.stderr.isatty() else None
        async with connect(address, self._hear, ask) as connection:
            return await self._converse(connection)

    async def _converse(self, connection: Connection) -> int | Interrupted:
        command, tools = self._command, await connection.tools()
        if command.tool is None:
            self._list(tools)
            return 0
        tool, arguments = command.tool, self._arguments(command.tool, tools)
        outcome = await self._interrupts.guard(lambda: connection.call(tool, arguments, command.timeout))
        self._settle()
        if isinstance(outcome, Interrupted):
            return outcome
        self._show(outcome)
        return FAILED if outcome.is_error else 0

    def _arguments(self, name: str, tools: Sequence[ToolInfo]) -> Any:
        tool = next((each for each in tools if each.name == name), None)
        if tool is None:
            known = [each.name for each in tools]
            hint = suggestion(name, known) or f": it has {', '.join(known) or 'none at all'}."
            raise _Mistake(f"The server has no tool {name!r}{hint}")
        if self._command.arguments is not None:
            return self._command.arguments
        try:
            return read_pairs(self._command.pairs, tool.input_schema)
        except ValueError as error:
            raise _Mistake(str(error)) from None

    def _hear(self, news: News) -> None:
        if self._err is not None:
            show_news(self._err, news)

    def _list(self, tools: Sequence[ToolInfo]) -> None:
        if self._command.raw:
            print(json.dumps([tool.raw for tool in tools]))
            return
        for tool in tools:
            self._out.line(_heading(tool), "bold")
            if tool.description:
                self._out.line(f"    {' '.join(tool.description.split())}")

    def _show(self, outcome: Outcome) -> None:
        if self._command.raw:
            print(json.dumps(outcome.raw), flush=True)
            return
        show_outcome(self._out, outcome)


def show_news(screen: Screen, news: News) -> None:
    match news:
        case Progress(done, total, message):
            screen.progress(done, total, message)
        case Logged(level, data, logger) if logger != TRACES:
            said = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            screen.line(f"{level}: {said}", "yellow" if level not in ("debug", "info", "notice") else "dim")


def show_outcome(screen: Screen, outcome: Outcome) -> None:
    """The text, and the structure unless the text is nothing else."""
    style = "red" if outcome.is_error else ""
    text = "\n".join(outcome.texts)
    if outcome.structured is None or not _is_same(text, outcome.structured):
        screen.line(text, style)
    if outcome.structured is not None:
        screen.line(json.dumps(outcome.structured, indent=2, ensure_ascii=False), "red" if outcome.is_error else "cyan")


def _is_same(text: str, structured: Any) -> bool:
    try:
        return bool(json.loads(text) == structured)
    except (ValueError, RecursionError):
        return False


def _heading(tool: ToolInfo) -> str:
    properties = tool.input_schema.get("properties")
    required = tool.input_schema.get("required")
    names = list(properties) if isinstance(properties, dict) else []
    needed = required if isinstance(required, list) else []
    return " ".join([tool.name, *(f"{name}=" if name in needed else f"[{name}=]" for name in names)])

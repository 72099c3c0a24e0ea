"""A server's question, put to the human: a line for each thing that it wants to know.

Lines are read by a thread, because a terminal cannot be waited for in Trio; it is one thread for the whole program,
and it reads only when a line is wanted, so what is typed ahead stays where it is.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import Any, TextIO

import trio

from greenroom.commands.arguments import read_value
from greenroom.commands.screen import Screen
from greenroom.transport.mcp.client import Form, Visit


class Lines:
    """The lines of a stream, one at a time. A read that is given up is taken up again by the next."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting: trio.Event | None = None
        self._heard: list[str | None] = []

    async def next(self, prompt: str = "") -> str | None:
        """The next line without its end, or None when there are no more."""
        if self._waiting is None:
            self._waiting = trio.Event()
            token = trio.lowlevel.current_trio_token()
            # Daemonic: nothing can end a thread that waits for a keyboard, and the program must be able to leave.
            threading.Thread(target=self._read, args=(prompt, token, self._waiting), daemon=True).start()
        await self._waiting.wait()
        self._waiting = None
        return self._heard.pop()

    def _read(self, prompt: str, token: trio.lowlevel.TrioToken, done: trio.Event) -> None:
        line = self._read_line(prompt)
        self._heard.append(line)
        try:
            token.run_sync_soon(done.set)
        except trio.RunFinishedError:
            pass

    def _read_line(self, prompt: str) -> str | None:
        try:
            if self._stream is sys.stdin and self._stream.isatty():
                return input(prompt)
            line = self._stream.readline()
        except (EOFError, OSError, ValueError):
            return None
        return line.rstrip("\r\n") if line else None


class Asker:
    def __init__(self, screen: Screen, stream: TextIO, lines: Lines | None = None) -> None:
        self._screen = screen
        self._lines = lines or Lines(stream)
        # Questions that come at the same time are put one after the other.
        self._turn = trio.Lock()

    async def ask(self, question: Form | Visit) -> Mapping[str, Any] | None:
        async with self._turn:
            self._screen.settle()
            self._screen.line(f"? {question.message}", "bold magenta")
            if isinstance(question, Visit):
                self._screen.line(f"  Open {question.url}")
                answer = await self._lines.next("  Done? [yes/no] ")
                return {} if answer is not None and answer.strip().lower() in ("y", "yes") else None
            return await self._fill_in(question)

    async def _fill_in(self, form: Form) -> Mapping[str, Any] | None:
        properties = form.schema.get("properties") or {}
        required = form.schema.get("required") or ()
        content: dict[str, Any] = {}
        for name, schema in properties.items():
            field = schema if isinstance(schema, Mapping) else {}
            answered, value = await self._field(name, field, name in required)
            if not answered:
                return None
            if value is not None:
                content[name] = value
        return content

    async def _field(self, name: str, schema: Mapping[str, Any], required: bool) -> tuple[bool, Any]:
        """Whether there was an answer at all, and which; an empty line is the default, or nothing."""
        while True:
            line = await self._lines.next(f"  {_label(name, schema, required)}: ")
            if line is None:
                return False, None
            text = line.strip()
            if not text:
                if "default" in schema or not required:
                    return True, schema.get("default")
                self._screen.line(f"  {name} is needed. Ctrl-D declines to answer.")
                continue
            try:
                return True, _chosen(name, text, schema)
            except ValueError as error:
                self._screen.line(f"  {error}", "yellow")


def _label(name: str, schema: Mapping[str, Any], required: bool) -> str:
    title = str(schema.get("title") or name)
    choices = schema.get("enum")
    shown = f" ({', '.join(map(str, choices))})" if isinstance(choices, list) else ""
    default = f" [{schema['default']}]" if "default" in schema else "" if required else " [leave out]"
    return f"{title}{shown}{default}"


def _chosen(name: str, text: str, schema: Mapping[str, Any]) -> Any:
    choices = schema.get("enum")
    if isinstance(choices, list):
        same = [each for each in choices if str(each).casefold() == text.casefold()]
        if not same:
            raise ValueError(f"{name} must be one of {', '.join(map(str, choices))}.")
        return same[0]
    return read_value(name, text, schema)

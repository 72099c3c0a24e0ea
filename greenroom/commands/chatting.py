"""`chat`: a conversation with a running server in the terminal, or line by line through a pipe.

Each turn has a connection of its own: the session is known by its handle, so a server that was restarted in the
meantime is simply found again.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import trio

from greenroom.commands.asking import Asker, Lines
from greenroom.commands.calling import show_news
from greenroom.commands.codes import FAILED, INTERRUPTED, UNREACHABLE
from greenroom.commands.interrupts import Interrupted, Interrupts
from greenroom.commands.screen import fail, keep_libraries_quiet, screen_for
from greenroom.commands.speech import (
    AGENT,
    ASSISTANT,
    Hint,
    Mode,
    Nothing,
    Quit,
    Turn,
    did_you_mean,
    meaning_of,
)
from greenroom.config.cli import Chat
from greenroom.config.settings import load_settings
from greenroom.transport.mcp.client import Address, News, Outcome, Refused, Unreachable, connect

NEEDED = frozenset({"initialize", "execute_command", AGENT, ASSISTANT})


def chat(command: Chat) -> int:
    url = command.url or f"{load_settings().public_url}/mcp"
    keep_libraries_quiet()
    with _terminal_as_it_was():
        return trio.run(_Chatting(command, Address(url, command.headers, command.legacy)).run)


class _Chatting:
    def __init__(self, command: Chat, address: Address) -> None:
        self._command = command
        self._address = address
        self._interrupts = Interrupts()
        self._screen = screen_for(sys.stdout)
        self._lines = Lines(sys.stdin)
        self._asker = Asker(self._screen, sys.stdin, self._lines)
        self._plain = ASSISTANT if command.assistant else AGENT
        self._session_id = ""
        self._prompt = "> "

    async def run(self) -> int:
        with trio.open_signal_receiver(signal.SIGINT) as signals:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._interrupts.listen, signals)
                code = await self._code()
                nursery.cancel_scope.cancel()
        return code

    async def _code(self) -> int:
        try:
            begun = await self._interrupts.guard(self._begin)
        except Unreachable as error:
            fail(f"{error} Is it running? `greenroom serve` starts one.")
            return UNREACHABLE
        except Refused as error:
            fail(str(error))
            return FAILED
        if isinstance(begun, Interrupted):
            return INTERRUPTED
        if not begun:
            return FAILED
        await self._until_quit()
        return 0

    async def _begin(self) -> bool:
        async with connect(self._address, self._hear) as connection:
            missing = NEEDED - {tool.name for tool in await connection.tools()}
            if missing:
                fail(
                    f"This server cannot hold a conversation: it has no {', '.join(sorted(missing))}. "
                    f"`greenroom call {self._address.url}` lists its tools."
                )
                return False
        info = await self._open()
        self._screen.line(str(info.get("workflow_name", "")), "bold")
        self._screen.line(f"{info.get('description', '')}\n/help tells what can be said; /quit ends.", "dim")
        return True

    async def _open(self) -> Mapping[str, Any]:
        """Open a session. What the workflow says of itself."""
        outcome = await self._call("initialize", {"user_id": self._command.user} if self._command.user else {})
        structured = {} if isinstance(outcome, Interrupted) else _structured(outcome)
        if not isinstance(structured.get("session_id"), str):
            raise Refused("No session was opened." if isinstance(outcome, Interrupted) else "\n".join(outcome.texts))
        self._session_id = structured["session_id"]
        info = structured.get("workflow_info")
        return info if isinstance(info, dict) else {}

    async def _until_quit(self) -> None:
        interruptions = 0
        while True:
            line = await self._interrupts.guard(lambda: self._lines.next(self._prompt))
            if isinstance(line, Interrupted):
                interruptions += 1
                if interruptions == 2:
                    return
                self._screen.line("\n/quit ends, and so does Ctrl-C once more.", "dim")
                continue
            interruptions = 0
            if line is None or not await self._heed(line):
                return

    async def _heed(self, line: str) -> bool:
        """Do what a line means. False when that is to leave."""
        match meaning_of(line, self._plain):
            case Quit():
                return False
            case Hint(text):
                self._screen.line(text)
            case Mode(tool):
                self._plain = tool
                self._screen.line(f"From now on {tool} hears what you say.", "dim")
            case Turn(tool, arguments):
                await self._turn(line, tool, arguments)
            case Nothing():
                pass
        return True

    async def _turn(self, line: str, tool: str, arguments: Mapping[str, Any]) -> None:
        try:
            outcome = await self._interrupts.guard(lambda: self._in_session(tool, arguments))
        except (Unreachable, Refused) as error:
            self._screen.settle()
            self._screen.line(str(error), "red")
            return
        self._screen.settle()
        if isinstance(outcome, Interrupted):
            self._screen.line("Stopped.", "yellow")
            return
        self._show(line, tool, outcome)

    async def _in_session(self, tool: str, arguments: Mapping[str, Any]) -> Outcome | Interrupted:
        outcome = await self._call(tool, {**arguments, "session_id": self._session_id})
        if not isinstance(outcome, Interrupted) and _error_name(outcome) == "session_not_found":
            # The server has forgotten us: it was restarted without a store, or we were silent for too long.
            await self._open()
            self._screen.line("The server did not know this session any more, so a new one was opened.", "yellow")
            outcome = await self._call(tool, {**arguments, "session_id": self._session_id})
        return outcome

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> Outcome | Interrupted:
        async with connect(self._address, self._hear, self._asker.ask) as connection:
            # The SDK learns from the list which arguments travel as headers.
            await connection.tools()
            return await self._interrupts.guard(lambda: connection.call(tool, arguments))

    def _hear(self, news: News) -> None:
        show_news(self._screen, news)

    def _show(self, line: str, tool: str, outcome: Outcome) -> None:
        structured = _structured(outcome)
        if outcome.is_error:
            hint = did_you_mean(line) if tool == "execute_command" else ""
            self._screen.line("\n".join([*outcome.texts, *([f"/{line.strip()[1:]}{hint}"] if hint else [])]), "red")
            return
        tell = _TELLERS.get(tool)
        text = tell(structured) if tell is not None else "\n".join(outcome.texts)
        awaiting = structured.get("status") == "awaiting_user"
        self._screen.line(text, "magenta" if awaiting else "yellow" if structured.get("success") is False else "")
        if "context" in structured:
            self._prompt = f"{structured['context']}{' (answer)' if awaiting else ''}> "


def _structured(outcome: Outcome) -> Mapping[str, Any]:
    return outcome.structured if isinstance(outcome.structured, dict) else {}


def _error_name(outcome: Outcome) -> str | None:
    error = _structured(outcome).get("error") if outcome.is_error else None
    return error.get("name") if isinstance(error, dict) else None


def _tell_conversations(structured: Mapping[str, Any]) -> str:
    lines = [
        f"{each.get('conversation_id')}  {each.get('topic') or '(no topic yet)'}"
        for each in structured.get("conversations") or ()
    ]
    return "\n".join(lines) or "There are no conversations yet."


_TELLERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "list_conversations": _tell_conversations,
    "new_conversation": lambda told: f"A new conversation has begun: {told.get('new_conversation_id', '')}",
    "activate_conversation": lambda told: "The conversation goes on.",
    "post_feedback": lambda told: "Thank you, that is kept.",
}


@contextmanager
def _terminal_as_it_was() -> Iterator[None]:
    """History and editing of lines, if Python has them; a terminal that is left in mid-line is put right."""
    if not sys.stdin.isatty():
        yield
        return
    try:
        import readline  # noqa: F401
        import termios
    except ImportError:
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

"""One life of the language model process: started, spoken to over a socket pair, and seen to its end.

A `Link` knows frames and calls by number. It does not know requests, retries or why a call is made; `process` stands
above, and opens another link when this one has ended. Only the writer task writes to the socket: a caller that is
cancelled in the middle of a frame would leave half of it there.
"""

from __future__ import annotations

import itertools
import logging
import math
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import trio

import greenroom
from greenroom.workflow.llm.framing import FRAME_LIMIT, FrameBroken, FrameTooLarge, Lines, encode

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", "greenroom.workflow.llm.child")
"""`-P`: the folder that the server was started in may well have a `json.py`."""

_CHUNK = 256 * 1024
_CANCEL_SECONDS = 0.5
_PONG_SECONDS = 5.0
_GOODBYE_SECONDS = 1.0
_LONGEST_LINE = 2000


@attrs.frozen
class Lost:
    """The process ended, or cannot be reached, while a call was on its way."""


@attrs.frozen
class Ending:
    """Why a process is no more. `unready` is what it said if it never got to work."""

    reason: str
    unready: str | None = None


class Call:
    """One call in flight: the reader task writes, one caller waits."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.result: Mapping[str, Any] | Lost | None = None
        """The last message of this call."""
        self._heard: list[str] = []
        self._heard_length = 0
        self._news = trio.Event()

    def hear(self, text: str) -> None:
        self._heard_length += len(text)
        # What was not fetched yet is kept, so it is bounded like everything that comes from the other side.
        if self._heard_length > FRAME_LIMIT:
            raise FrameTooLarge("a streamed answer without end")
        self._heard.append(text)
        self._news.set()

    def finish(self, result: Mapping[str, Any] | Lost) -> None:
        self.result = result
        self._news.set()

    async def wait(self, on_text: Callable[[str], None]) -> Mapping[str, Any] | Lost:
        """Pass on what is heard, joined if it comes faster than it is taken, until the result is there."""
        while True:
            await self._news.wait()
            self._news = trio.Event()
            if self._heard:
                text = "".join(self._heard)
                self._heard.clear()
                on_text(text)
            if self.result is not None:
                return self.result


class Link:
    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        *,
        start_timeout: float = 60.0,
        clean: Callable[[str], str] = lambda line: line,
    ) -> None:
        """`clean` takes out of the process's output what must not be logged."""
        self.open = False
        """Whether calls can be made: from when it is ready to when it ends."""
        self.answered = False
        """Whether any call got as far as a result."""
        self.version: str | None = None
        """Of litellm; None until the process is ready."""
        self._command = command
        self._start_timeout = start_timeout
        self._clean = clean
        self._calls: dict[int, Call] = {}
        self._numbers = itertools.count(1)
        self._outbox, self._to_write = trio.open_memory_channel[bytes](16)
        self._suspected, self._sign_of_life = trio.Event(), trio.Event()
        self._process: trio.Process

    @property
    def pid(self) -> int:
        return self._process.pid

    # --- for callers -------------------------------------------------------------------------------------------------

    @contextmanager
    def call(self) -> Iterator[Call]:
        """A number for a call, and a place for its result."""
        call = Call(next(self._numbers))
        self._calls[call.number] = call
        try:
            yield call
        finally:
            self._calls.pop(call.number, None)

    async def send(self, frame: bytes) -> bool:
        """Hand a frame to the writer. False if there is nobody to write to."""
        try:
            await self._outbox.send(frame)
        except trio.BrokenResourceError:
            return False
        return True

    async def cancel(self, call: Call) -> None:
        """Tell the process to drop a call. Works in a cancelled task too, which is where it is needed."""
        with trio.move_on_after(_CANCEL_SECONDS, shield=True):
            await self.send(encode({"cancel": call.number}))

    def suspect(self) -> None:
        """A call got no answer in its time. If the process is stuck rather than its provider slow, replace it."""
        self._suspected.set()

    # --- its life ----------------------------------------------------------------------------------------------------

    async def run(self, on_ready: Callable[[], None]) -> Ending:
        """From start to end. Every call that is still open then is lost."""
        try:
            stream = await self._spawn()
        except OSError as error:
            return Ending(f"it could not be started: {error.strerror or error}", unready=str(error))
        async with trio.open_nursery() as output:  # outlives the conversation, for the last words
            output.start_soon(self._relay_output)
            try:
                return await self._converse(stream, on_ready)
            finally:
                self._lose_all()
                await self._end(stream)
                output.cancel_scope.deadline = trio.current_time() + _GOODBYE_SECONDS

    async def _spawn(self) -> trio.SocketStream:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = await trio.lowlevel.open_process(
                    [*self._command, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    pass_fds=[theirs.fileno()],
                    env=environment(),
                    start_new_session=True,
                )
        except OSError:
            ours.close()
            raise
        return trio.SocketStream(trio.socket.from_stdlib_socket(ours))

    async def _converse(self, stream: trio.SocketStream, on_ready: Callable[[], None]) -> Ending:
        async with trio.open_nursery() as conversation:
            conversation.start_soon(self._write, stream)
            conversation.start_soon(self._watch)
            ending = await self._read(stream, on_ready)
            conversation.cancel_scope.cancel()
        return ending

    async def _read(self, stream: trio.SocketStream, on_ready: Callable[[], None]) -> Ending:
        lines = Lines()
        with trio.move_on_after(self._start_timeout) as patience:
            try:
                while chunk := await stream.receive_some(_CHUNK):
                    for message in lines.feed(chunk):
                        if (unready := message.get("unready")) is not None:
                            return Ending("it could not load litellm", unready=str(unready))
                        if (version := message.get("ready")) is not None:
                            self.version, self.open = str(version), True
                            patience.deadline = math.inf
                            on_ready()
                        self._deliver(message)
                    self._sign_of_life.set()
            except trio.BrokenResourceError:
                pass
            except (FrameTooLarge, FrameBroken) as error:
                return Ending(f"it sent {error}")
            return Ending("it stopped")
        return Ending("it was not ready in time", unready=f"nothing came within {self._start_timeout:g} seconds")

    def _deliver(self, message: Mapping[str, Any]) -> None:
        # A call that was cancelled may still be answered; nobody is there to hear it.
        if (call := self._calls.get(message.get("id", 0))) is None:
            return
        if (delta := message.get("delta")) is not None:
            call.hear(delta)
        else:
            self.answered = True
            call.finish(message)

    async def _write(self, stream: trio.SocketStream) -> None:
        with self._to_write:
            async for frame in self._to_write:
                try:
                    await stream.send_all(frame)
                except trio.BrokenResourceError:
                    return  # the reader sees it too, and ends this life

    async def _watch(self) -> None:
        while True:
            await self._suspected.wait()
            self._suspected, self._sign_of_life = trio.Event(), trio.Event()
            with trio.move_on_after(_PONG_SECONDS):
                await self.send(encode({"ping": 1}))
                await self._sign_of_life.wait()
                continue
            log.error("language model process does not answer, killing it", extra={"pid": self.pid})
            self._process.kill()

    async def _relay_output(self) -> None:
        """What the process prints, line by line, into the log."""
        rest = b""
        assert self._process.stdout is not None
        async with self._process.stdout as output:
            async for chunk in output:
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._log_line(line)
                if len(rest) > _LONGEST_LINE:
                    self._log_line(rest)
                    rest = b""
        self._log_line(rest)

    def _log_line(self, line: bytes) -> None:
        if text := line.decode(errors="replace").strip():
            log.warning("language model process: %s", self._clean(text)[:_LONGEST_LINE], extra={"pid": self.pid})

    async def _end(self, stream: trio.SocketStream) -> None:
        """Closing the socket is the request to leave; killing is for a process that does not hear it."""
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 2 * _GOODBYE_SECONDS):
            await trio.aclose_forcefully(stream)
            with trio.move_on_after(_GOODBYE_SECONDS):
                await self._process.wait()
            if self._process.returncode is None:
                self._process.kill()
                await self._process.wait()

    def _lose_all(self) -> None:
        self.open = False
        self._to_write.close()
        for call in self._calls.values():
            call.finish(Lost())


def environment() -> dict[str, str]:
    """Ours, and the folder that `greenroom` was found in, last: the child has no current folder to find it in."""
    home = str(Path(greenroom.__file__).parent.parent)
    paths = [path for path in (os.environ.get("PYTHONPATH"), home) if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}

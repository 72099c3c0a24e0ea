"""The log behind a stream of the older era: live delivery and resumption are the same walk along it.

A stream is written by whoever works on the request, or by news for the standing GET stream, and read by at
most a few connections, each with a cursor of its own. It is bounded: the oldest messages are forgotten first,
and a reader who comes back too late is told how many it missed. The last message, the answer, is never
forgotten while the stream is kept.
"""

from __future__ import annotations

import trio

from greenroom.transport import sse
from greenroom.transport.mcp import jsonrpc

MAX_MESSAGES = 512
MAX_BYTES = 1024 * 1024


class StreamLog:
    """Message n has the event id `<name>.<n>`, counted from 1; 0 is the priming event before the first."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.done = False
        self.released = 0
        """Grows each time the connections that read this stream are to let go, and come back later."""
        self._messages: list[bytes] = []
        self._forgotten = 0
        self._bytes = 0
        self._wake = trio.Event()

    @property
    def end(self) -> int:
        """The number of the newest message."""
        return self._forgotten + len(self._messages)

    def event_id(self, number: int) -> str:
        return f"{self.name}.{number}"

    def append(self, message: bytes, *, final: bool = False) -> None:
        if self.done:
            return
        self._messages.append(message)
        self._bytes += len(message)
        while len(self._messages) > MAX_MESSAGES or (self._bytes > MAX_BYTES and len(self._messages) > 1):
            self._bytes -= len(self._messages.pop(0))
            self._forgotten += 1
        self.done = final
        self._stir()

    def finish(self) -> None:
        """End the stream without a last message."""
        self.done = True
        self._stir()

    def release(self) -> None:
        self.released += 1
        self._stir()

    def only_message(self) -> bytes | None:
        """The answer, if it is all that this stream ever said."""
        return self._messages[0] if self.done and self.end == 1 and self._messages else None

    def after(self, cursor: int, *, with_ids: bool) -> tuple[list[bytes], int]:
        """The frames after the cursor, and the cursor behind them."""
        frames: list[bytes] = []
        missed = self._forgotten - cursor
        if missed > 0:
            frames.append(sse.event(_missed(missed)))
            cursor = self._forgotten
        for message in self._messages[cursor - self._forgotten :]:
            cursor += 1
            frames.append(sse.event(message, self.event_id(cursor) if with_ids else None))
        return frames, cursor

    async def wait_beyond(self, cursor: int, released: int) -> None:
        """Until there is something after the cursor, or the stream is done or let go."""
        while self.end <= cursor and not self.done and self.released == released:
            await self._wake.wait()

    def _stir(self) -> None:
        self._wake.set()
        self._wake = trio.Event()


def _missed(count: int) -> bytes:
    data = {"dropped_events": count, "message": f"{count} events were dropped because they were not read in time."}
    params = {"level": "warning", "logger": "greenroom", "data": data}
    return sse.compact(jsonrpc.notification("notifications/message", params))

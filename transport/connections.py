"""Hypercorn's TCP connection, with one habit cured that no setting reaches.

When a client closes its connection, Hypercorn's Trio worker waits for the connection's keep-alive timer to run
out before it lets go of the socket and its tasks. With the short default that goes unnoticed; with one that
suits a proxy, every client that ever came holds a descriptor for more than a minute.

`install` puts this class in place of Hypercorn's, for `greenroom serve` and for `hypercorn` alike.
"""

from __future__ import annotations

import hypercorn.trio.run
from hypercorn.events import Event, Updated
from hypercorn.trio.tcp_server import TCPServer


class PromptTCPServer(TCPServer):
    _hung_up = False

    async def _read_data(self) -> None:
        await super()._read_data()
        self._hung_up = True
        await self.idle_task.stop()

    async def protocol_send(self, event: Event) -> None:
        if self._hung_up and isinstance(event, Updated):
            return
        await super().protocol_send(event)


def install() -> None:
    hypercorn.trio.run.TCPServer = PromptTCPServer  # type: ignore[attr-defined]

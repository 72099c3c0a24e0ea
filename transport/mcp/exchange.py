"""One request and what is said while it is being answered.

To the SDK's kernel an exchange is a `DispatchContext`; to our handlers it is `ctx.request`. It does not know
whether its messages go straight to a socket (the newer era) or into a log that a client may come back to (the
older one): it is given `write`.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import attrs
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext

from greenroom.transport.mcp import jsonrpc

if TYPE_CHECKING:
    from greenroom.transport.mcp.begun import Begun
    from greenroom.transport.mcp.legacy import LegacyConnection

Write = Callable[[dict[str, Any]], Awaitable[None]]

SLIGHTLY = 0.001
"""By how much progress grows that does not: the protocol wants every value above the last."""

_ONE_WAY = TransportContext(kind="streamable-http", can_send_request=False)
_TWO_WAY = TransportContext(kind="streamable-http", can_send_request=True)


async def _nowhere(message: dict[str, Any]) -> None:
    """For exchanges whose only word is their answer."""


@attrs.define(eq=False)
class Exchange:
    request_id: jsonrpc.Id | None
    params: Mapping[str, Any] | None = None
    write: Write = _nowhere
    connection: LegacyConnection | None = None
    """The older era's connection; without one the client cannot be asked anything in mid-call."""
    release: Callable[[], None] | None = None
    """Let the client hang up and come back for the rest, where it can."""
    begun: Begun | None = None
    """The turn that this request has begun already, on the lean way."""
    retry_after: int | None = None
    """Seconds, if the answer turns out to be that there is too much going on."""
    streamed: bool = attrs.field(default=False, init=False)
    """Whether anything was said before the answer."""
    message_metadata: ServerMessageMetadata = attrs.field(init=False)
    _progress: float = attrs.field(default=-math.inf, init=False)
    _steps: int = attrs.field(default=0, init=False)
    """How much of the progress so far is not of the turn's own counting."""

    def __attrs_post_init__(self) -> None:
        self.message_metadata = ServerMessageMetadata(request_context=self)

    # --- for the kernel ------------------------------------------------------------------------------------

    @property
    def transport(self) -> TransportContext:
        return _TWO_WAY if self.can_send_request else _ONE_WAY

    @property
    def can_send_request(self) -> bool:
        return self.connection is not None and self.connection.registered

    @property
    def cancel_requested(self) -> anyio.Event:
        # Part of the kernel's protocol, but nothing waits on it: a cancelled exchange is a cancelled task here.
        return anyio.Event()

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        self.streamed = True
        await self.write(jsonrpc.notification(method, params))

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        if self.connection is None or not self.can_send_request:
            raise NoBackChannelError(method)
        return await self.connection.ask_client(method, params, self.write)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress if the client gave a token for it. The protocol wants every value above the last."""
        token = progress_token_from_params(self.params)
        if token is None or not math.isfinite(progress):
            return
        # A turn's own count goes on from the steps that were counted for it.
        progress += self._steps
        above = max(self._progress + SLIGHTLY, math.nextafter(self._progress, math.inf))
        self._progress = progress if progress > self._progress else above
        params: dict[str, Any] = {"progressToken": token, "progress": self._progress}
        if total is not None and math.isfinite(total):
            params["total"] = total + self._steps
        if message is not None:
            params["message"] = message
        await self.notify("notifications/progress", params)

    # --- for our handlers ----------------------------------------------------------------------------------

    async def step(self, message: str) -> None:
        """Progress of a turn that does not count its steps: one more."""
        before = max(self._progress, 0.0)
        await self.progress(math.floor(before) + 1 - self._steps, message=message)
        self._steps = math.ceil(max(self._progress, 0.0))

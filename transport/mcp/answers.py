"""What both eras need to answer with: the request at hand, and JSON responses with the right status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS

from greenroom.transport import sse
from greenroom.transport.http import Receive, Send, respond

OPEN_AFTER = 0.5
"""Seconds after which a stream is opened for an answer that is not there yet. Before that a plain JSON answer
with a proper status is still possible."""


@attrs.frozen(eq=False)
class Incoming:
    """A request to the endpoint that has passed the door. Its body, if it had one, has been read."""

    method: str
    headers: Mapping[str, str]
    raw_headers: Sequence[tuple[bytes, bytes]]
    receive: Receive
    send: Send
    extra_headers: Sequence[tuple[bytes, bytes]] = ()
    """For every response to this request: what a browser's cross-origin rules ask for."""

    async def respond(self, status: int, body: bytes = b"", headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        await respond(self.send, status, body, [*headers, *self.extra_headers])


def status_of(answer: Mapping[str, Any]) -> int:
    """The HTTP status of a JSON-RPC response; the SDK's table has the codes that have one."""
    error = answer.get("error")
    return ERROR_CODE_HTTP_STATUS.get(error["code"], 200) if error else 200


async def respond_json(
    incoming: Incoming,
    answer: Mapping[str, Any],
    status: int = 200,
    retry_after: int | None = None,
    headers: Sequence[tuple[bytes, bytes]] = (),
) -> None:
    retry = [(b"retry-after", str(retry_after).encode())] if retry_after is not None else []
    await incoming.respond(status, sse.compact(answer), [*retry, *headers])

"""Bodies before answers: Hypercorn's task is held by a body that nobody reads, and a refusal may come before it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from greenroom.transport import sse
from greenroom.transport.http import BodyRefused, ClientGone, Receive, Scope, Send, folded, read_body, respond


@attrs.frozen
class BodyFirst:
    """Hands a request on when its body is here. One that is too large is drained, so that the refusal is heard."""

    inner: Any
    limit: int
    is_ours: Callable[[str], bool]
    """Which paths this is for."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self.is_ours(scope["path"]):
            await self.inner(scope, receive, send)
            return
        try:
            body = await read_body(receive, folded(scope["headers"]), self.limit)
        except ClientGone:
            return
        if isinstance(body, BodyRefused):
            described = {"code": "body_refused", "message": body.message, "details": None}
            await respond(send, body.status, sse.compact({"error": described}), [(b"connection", b"close")])
            return
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Any:
            return messages.pop() if messages else await receive()

        await self.inner(scope, receive_again, send)

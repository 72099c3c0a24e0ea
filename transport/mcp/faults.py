"""The last net: from an exception in a handler to a JSON-RPC error.

An exception's text never reaches a client unless it was written for one; its stack trace always reaches the log.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Any

import mcp.types as t
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data

from greenroom.transport.mcp import jsonrpc

log = logging.getLogger(__name__)


async def answer_to(request: jsonrpc.Request, handling: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """The response to a request, whatever its handler does. Cancellation passes through."""
    try:
        return jsonrpc.result(request.id, await handling)
    except Exception as exc:
        known = handler_exception_to_error_data(exc)
        if known is not None:
            return jsonrpc.error(request.id, known.code, known.message, known.data)
        log.exception("handler failed", extra={"rpc_method": request.method})
        return jsonrpc.error(request.id, t.INTERNAL_ERROR, "Internal server error")

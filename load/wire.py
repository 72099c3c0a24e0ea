"""MCP requests as clients of both eras send them, and what is in the answers. No sockets, no locust."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

MODERN, LEGACY = "2026-07-28", "2025-11-25"
_ids = itertools.count(1)
ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def modern(tool: str, arguments: Mapping[str, Any], token: str | None = None) -> tuple[dict[str, str], str]:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    if token is not None:
        meta["progressToken"] = token
    headers = {**ACCEPT, "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": tool}
    if "session_id" in arguments:
        headers["Mcp-Param-Session"] = arguments["session_id"]
    return headers, _body("tools/call", {"name": tool, "arguments": arguments, "_meta": meta})


def legacy(
    session: Mapping[str, str], tool: str, arguments: Mapping[str, Any], token: str | None = None
) -> tuple[dict[str, str], str]:
    meta = {"_meta": {"progressToken": token}} if token is not None else {}
    return {**ACCEPT, **session}, _body("tools/call", {"name": tool, "arguments": arguments, **meta})


def initialize() -> tuple[dict[str, str], str]:
    client = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
    return dict(ACCEPT), _body("initialize", client)


def initialized() -> str:
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})


def _body(method: str, params: Mapping[str, Any]) -> str:
    # Never the same id twice: in the older era one that is in use is refused.
    return json.dumps({"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params})


def messages(content_type: str, text: str) -> Iterator[dict[str, Any]]:
    """The JSON-RPC messages of a response, streamed or not."""
    if not content_type.startswith("text/event-stream"):
        yield json.loads(text)
        return
    for line in text.split("\n"):
        if line.startswith("data: {"):
            yield json.loads(line[6:])


def said(result: Mapping[str, Any]) -> str:
    return str(result["content"][0]["text"])


def error(result: Mapping[str, Any]) -> dict[str, Any]:
    """The error in a result that says it is one; empty otherwise."""
    if not result.get("isError"):
        return {}
    found: dict[str, Any] = result["structuredContent"]["error"]
    return found

"""Who is measured: ours first, then the peers, each with its environment, its command and what it cannot do."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

OURS, STOCK = "greenroom", "greenroom-stock"
BARE = "greenroom-bare"
"""No server of its own: a session of the protocol at ours, without one of the product in it."""

_NO_NOTIFICATIONS = "JSON mode sends none"


@attrs.frozen
class Peer:
    name: str
    title: str
    environment: str | None
    """The pins beside this file, and the folder that they are installed in; None is our own environment."""
    command: tuple[str, ...]
    """Where `PORT` stands the port goes; the interpreter and the folder of the script go before it."""
    lacks: Mapping[str, str] = attrs.Factory(dict)
    """Scenarios that it cannot play, each with the reason."""
    legacy_stateless: bool = False
    """Whether it answers a call without a session in the older era only."""
    variables: Mapping[str, str] = attrs.Factory(dict)

    @property
    def is_ours(self) -> bool:
        return self.environment is None

    @property
    def is_node(self) -> bool:
        return self.command[0].endswith(".mjs")


_SERVE = ("-m", "greenroom", "serve", "--workflow", "demo", "--port", "PORT")
_QUIET = {"burst": _NO_NOTIFICATIONS, "paced": _NO_NOTIFICATIONS}

_NO_PROGRESS = "a route cannot report progress"
_ROUTES = {"burst": _NO_PROGRESS, "paced": _NO_PROGRESS, "stateless": "it wants a session for every call"}

PEERS: tuple[Peer, ...] = (
    Peer(OURS, "Greenroom", None, _SERVE),
    Peer(STOCK, "Greenroom, stock HTTP", None, _SERVE, variables={"GREENROOM_HTTP": "stock"}),
    Peer(
        "sdk-uvloop",
        "Python SDK, JSON, uvloop, no log",
        "python-sdk-uvloop",
        ("sdk_server.py", "PORT", "uvloop"),
        _QUIET,
    ),
    Peer("sdk-json", "Python SDK, JSON", "python-sdk", ("sdk_server.py", "PORT", "json"), _QUIET),
    Peer("sdk", "Python SDK, as shipped", "python-sdk", ("sdk_server.py", "PORT", "sse")),
    Peer("fastmcp-json", "FastMCP, JSON", "fastmcp", ("fastmcp_server.py", "PORT", "json"), _QUIET),
    Peer("fastmcp", "FastMCP, as shipped", "fastmcp", ("fastmcp_server.py", "PORT", "sse")),
    Peer("fastapi-mcp", "fastapi-mcp", "fastapi-mcp", ("fastapi_server.py", "PORT"), _ROUTES),
    Peer(
        "typescript-v1",
        "TypeScript SDK v1",
        "typescript-v1",
        ("typescript_v1.mjs", "PORT"),
        legacy_stateless=True,
    ),
    Peer("typescript-v2", "TypeScript SDK v2", "typescript-v2", ("typescript_v2.mjs", "PORT")),
)
BY_NAME: Mapping[str, Peer] = {peer.name: peer for peer in PEERS}

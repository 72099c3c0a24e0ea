"""Where each AI client keeps the servers that it knows, and how it writes one down. Pure.

The README shows the same entries to those who would rather write them by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import attrs


@attrs.frozen
class Machine:
    """What decides where programs keep their files."""

    system: str
    """As `sys.platform` has it."""
    home: PurePath
    environ: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def applications(self) -> PurePath:
        """The folder in which programs keep what belongs to one user."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return self._named("APPDATA") or self.home / "AppData" / "Roaming"
        return self._named("XDG_CONFIG_HOME") or self.home / ".config"

    def _named(self, variable: str) -> PurePath | None:
        named = self.environ.get(variable)
        return type(self.home)(named) if named and type(self.home)(named).is_absolute() else None

    @property
    def claude_code(self) -> PurePath:
        return (self._named("CLAUDE_CONFIG_DIR") or self.home) / ".claude.json"


@attrs.frozen
class Client:
    title: str
    file: Callable[[Machine], PurePath]
    key: str
    """The object in the file whose members are the servers."""
    entry: Callable[[str], dict[str, Any]]
    """How it writes down a server with that URL."""
    afterwards: str


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop",
        lambda machine: machine.applications / "Claude" / "claude_desktop_config.json",
        "mcpServers",
        # It speaks stdio to servers on this machine, so a proxy stands between. It needs Node.js.
        lambda url: {"command": "npx", "args": ["mcp-remote", url]},
        "Restart Claude Desktop. It needs Node.js for `npx`.",
    ),
    "claude-code": Client(
        "Claude Code",
        lambda machine: machine.claude_code,
        "mcpServers",
        lambda url: {"type": "http", "url": url},
        "Start a new session of Claude Code; /mcp shows the server.",
    ),
    "cursor": Client(
        "Cursor",
        lambda machine: machine.home / ".cursor" / "mcp.json",
        "mcpServers",
        lambda url: {"url": url},
        "Cursor shows it under Settings, MCP.",
    ),
    "vscode": Client(
        "VS Code",
        lambda machine: machine.applications / "Code" / "User" / "mcp.json",
        "servers",
        lambda url: {"type": "http", "url": url},
        "Run `MCP: List Servers` in VS Code to start it.",
    ),
}

"""The clients: their names, what each must negotiate, what it needs installed, and the command that runs it.

A table and nothing else; a new client is a new row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

from tests.clients import install

MODERN = "2026-07-28"
LEGACY = "2025-11-25"


@dataclass(frozen=True)
class RealClient:
    name: str
    protocol: str
    command: Callable[[str], list[str]]
    needs: Callable[[], None] | None = None


def _python(mode: str) -> Callable[[str], list[str]]:
    return lambda url: [sys.executable, "-m", "tests.clients.python_sdk", url, "--mode", mode]


def _typescript(generation: str) -> Callable[[str], list[str]]:
    return lambda url: [install.node(), str(install.BUILD / "typescript.mjs"), generation, url]


def _inspector(era: str) -> Callable[[str], list[str]]:
    def command(url: str) -> list[str]:
        where = ["--node", install.node(), "--home", str(install.BUILD)]
        return [sys.executable, "-m", "tests.clients.inspector", url, "--era", era, *where]

    return command


def _mcp_remote(url: str) -> list[str]:
    package = install.BUILD / "node_modules" / "mcp-remote"
    version = json.loads((package / "package.json").read_text())["version"]
    # --allow-http is for a --url that is not on this machine.
    proxy = [install.node(), str(package / "dist" / "proxy.js"), url, "--allow-http", "--transport", "http-only"]
    client = [sys.executable, "-m", "tests.clients.python_sdk", "--mode", "legacy", "--label", version]
    return [*client, "--through", *proxy]


def _fastmcp(url: str) -> list[str]:
    return [str(install.FASTMCP_PYTHON), "-m", "tests.clients.fastmcp_client", url]


CLIENTS = (
    RealClient("python-auto", MODERN, _python("auto")),
    RealClient("python-legacy", LEGACY, _python("legacy")),
    RealClient("typescript-v1", LEGACY, _typescript("v1"), install.node_clients),
    RealClient("typescript-v2", MODERN, _typescript("v2"), install.node_clients),
    RealClient("inspector-legacy", LEGACY, _inspector("legacy"), install.node_clients),
    RealClient("inspector-auto", MODERN, _inspector("auto"), install.node_clients),
    RealClient("inspector-modern", MODERN, _inspector("modern"), install.node_clients),
    RealClient("mcp-remote", LEGACY, _mcp_remote, install.node_clients),
    RealClient("fastmcp", MODERN, _fastmcp, install.fastmcp),
)

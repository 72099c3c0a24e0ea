"""What somebody asked for on the command line, one frozen class per command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs


@attrs.frozen
class Serve:
    overrides: Mapping[str, str] = attrs.field(factory=dict)
    """Keyed by variable; they win over the environment."""


@attrs.frozen
class Dev:
    overrides: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Check:
    overrides: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class New:
    folder: Path
    plain: bool = False


@attrs.frozen
class Call:
    url: str
    tool: str | None = None
    """None lists the tools."""
    pairs: tuple[tuple[str, str], ...] = ()
    """As they were written; the tool's schema says what they mean."""
    arguments: Mapping[str, Any] | None = None
    """All of them at once, as JSON."""
    raw: bool = False
    legacy: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    timeout: float | None = None


@attrs.frozen
class Chat:
    url: str | None = None
    """None is where the settings say that the server is."""
    user: str | None = None
    assistant: bool = False
    legacy: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@attrs.frozen
class Install:
    client: str
    name: str = "greenroom"
    url: str | None = None
    file: Path | None = None
    """None is where the client looks on this operating system."""
    dry_run: bool = False
    force: bool = False


@attrs.frozen
class Version:
    pass


@attrs.frozen
class Export:
    output: Path | None = None
    """None is the standard output."""


@attrs.frozen
class Import:
    file: Path


@attrs.frozen
class Purge:
    user_id: str


@attrs.frozen
class Forget:
    older_than: float
    """In days."""


@attrs.frozen
class Doctor:
    repair: bool = False


Administration = Export | Import | Purge | Forget | Doctor
"""What is done to the conversations that are kept, while no server has them open."""

Command = Serve | Dev | Check | New | Call | Chat | Install | Version | Administration

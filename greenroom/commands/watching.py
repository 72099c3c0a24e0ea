"""Which files a server is made of, and which changes to them matter.

Folders are watched and not files: an editor replaces a file, and whoever watched the old one sees nothing any more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import attrs

from greenroom.config.settings import Settings

SOURCES = frozenset({".py", ".json", ".txt"})
"""What a workflow is read from. A database or a log that it keeps beside its code is not."""

_NEVER = frozenset({"__pycache__", "node_modules", "site-packages"})


@attrs.frozen
class Watched:
    """A folder, and what is of interest in it."""

    folder: Path
    recursive: bool
    names: frozenset[str] | None = None
    """Only files of these names; None is every source."""
    without: frozenset[Path] = frozenset()
    """Folders in it that are somebody else's, such as the data folder."""

    def cares_about(self, path: str) -> bool:
        changed = Path(path)
        if self.names is not None:
            return changed.name in self.names and changed.parent == self.folder
        try:
            parts = changed.relative_to(self.folder).parts
        except ValueError:
            return False
        if any(part in _NEVER or part.startswith(".") for part in parts):
            return False
        return changed.suffix in SOURCES and self.without.isdisjoint(changed.parents)


def watched_by(settings: Settings) -> frozenset[Watched]:
    """The workflow's own files and the files that configure the server."""
    return frozenset({*_workflow(settings), *named(_configuration(settings))})


def named(files: Iterable[Path]) -> Iterable[Watched]:
    """Single files, whether they are there already or not."""
    for file in files:
        real = Path(os.path.realpath(file))
        if real.parent.is_dir():
            yield Watched(real.parent, recursive=False, names=frozenset({real.name}))


def _workflow(settings: Settings) -> Iterable[Watched]:
    place = Path(os.path.realpath(settings.workflow))
    data = frozenset(
        Path(os.path.realpath(each)) for each in (settings.speeddict_foldername, settings.user_conversations_foldername)
    )
    if place.is_dir():
        yield Watched(place, recursive=True, without=data)
    elif place.is_file():
        # With the modules beside it, but not with everything below: that may be a home folder.
        yield Watched(place.parent, recursive=False, without=data)


def _configuration(settings: Settings) -> Iterable[Path]:
    yield from (each for each in (settings.env_file, settings.passwords_file) if each is not None)
    yield Path("hypercorn.toml")

"""A session to play with, for every file here."""

from __future__ import annotations

import pytest
import trio

from greenroom.actors.session import SessionActor
from greenroom.persistence.journal import MemoryJournal
from tests.actors.stage import ANNA, OpenSession, Scene, Scripted, open_house


@pytest.fixture
def open_session(nursery: trio.Nursery) -> OpenSession:
    """Opens one session of a workflow with these scenes and limits, in a house of its own."""

    async def opened(*, journal: MemoryJournal | None = None, **given: Scene | float) -> SessionActor:
        limits = {name: value for name, value in given.items() if isinstance(value, int | float)}
        scenes = {name: value for name, value in given.items() if callable(value)}
        house = await open_house(nursery, Scripted(**scenes), journal, **limits)
        return house.open(ANNA)

    return opened

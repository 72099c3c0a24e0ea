"""What can be seen of sessions from outside, as frozen values, and the watchers who see it.

A watcher has a bounded buffer from which the oldest are dropped when it is slow, and it is told how many. Nobody
waits for it: showing something is an append, and where nobody watches it is one look at `Gallery.anyone`.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import attrs
import trio

from greenroom.config.errors import Draining, Overloaded
from greenroom.workflow.events import TurnEvent
from greenroom.workflow.values import Order

MAX_WATCHERS = 64
SIGHTS_KEPT = 256
"""How many a watcher may be behind before the oldest are dropped."""


# --- what there is to see: `session` is a handle, and so a secret ---------------------------------------------


@attrs.frozen
class SessionOpened:
    session: str
    user_id: str
    walk_on: bool


@attrs.frozen
class SessionClosed:
    session: str
    crashed: bool


@attrs.frozen
class PhaseChanged:
    session: str
    phase: str


@attrs.frozen
class TurnStarted:
    session: str
    turn_id: str
    order: Order


@attrs.frozen
class TurnReported:
    session: str
    turn_id: str
    event: TurnEvent


@attrs.frozen
class TurnEnded:
    session: str
    turn_id: str
    order: Order
    outcome: Any
    seconds: float


Sight = SessionOpened | SessionClosed | PhaseChanged | TurnStarted | TurnReported | TurnEnded


@attrs.frozen
class Missed:
    """The watcher was too slow; so many of the oldest are gone."""

    count: int


class Watcher:
    """Sees one session, or what is of interest in all of them. One reader only."""

    __slots__ = ("_buffer", "_dropped", "_wake", "over", "session")

    def __init__(self, session: str | None) -> None:
        self.session = session
        self.over = False
        """Nothing more will come."""
        self._buffer: deque[Sight] = deque()
        self._dropped = 0
        self._wake = trio.Event()

    def offer(self, sight: Sight) -> None:
        if len(self._buffer) >= SIGHTS_KEPT:
            self._buffer.popleft()
            self._dropped += 1
        self._buffer.append(sight)
        self._wake.set()

    def end(self) -> None:
        self.over = True
        self._wake.set()

    async def next(self) -> list[Sight | Missed]:
        """All that has come since, at least one; nothing when it is over."""
        while not self._buffer and not self.over:
            self._wake = trio.Event()
            await self._wake.wait()
        missed = [Missed(self._dropped)] if self._dropped else []
        seen = [*missed, *self._buffer]
        self._buffer.clear()
        self._dropped = 0
        return seen


class Gallery:
    """Everybody who watches. What a session reports goes to those who watch it, the rest to all the others too."""

    def __init__(self) -> None:
        self.anyone = False
        self.closed = False
        self._of_all: set[Watcher] = set()
        self._of_one: dict[str, set[Watcher]] = {}

    def __len__(self) -> int:
        return len(self._of_all) + sum(map(len, self._of_one.values()))

    def enter(self, session: str | None = None) -> Watcher:
        """Watch one session, or all. Whoever enters leaves in a `finally`."""
        self.check_room()
        watcher = Watcher(session)
        (self._of_all if session is None else self._of_one.setdefault(session, set())).add(watcher)
        self.anyone = True
        return watcher

    def check_room(self) -> None:
        if self.closed:
            raise Draining
        if len(self) >= MAX_WATCHERS:
            raise Overloaded(f"There are {MAX_WATCHERS} watchers already. Close a console, then try again.")

    def leave(self, watcher: Watcher) -> None:
        self._of_all.discard(watcher)
        if watcher.session is not None and (fellows := self._of_one.get(watcher.session)) is not None:
            fellows.discard(watcher)
            if not fellows:
                del self._of_one[watcher.session]
        self.anyone = bool(self._of_all or self._of_one)

    def show(self, sight: Sight) -> None:
        if not isinstance(sight, TurnReported):
            for watcher in self._of_all:
                watcher.offer(sight)
        for watcher in self._of_one.get(sight.session, ()):
            watcher.offer(sight)
            if isinstance(sight, SessionClosed):
                watcher.end()

    def close(self) -> None:
        """The server is going: whoever still watches has seen the end."""
        self.closed = True
        for watcher in (*self._of_all, *(each for fellows in self._of_one.values() for each in fellows)):
            watcher.end()

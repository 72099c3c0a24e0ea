"""The supervisor: one nursery, one-for-one.

It opens sessions, finds them again for their owner and nobody else, lets the idle ones go, and gives an actor
its task. An actor that crashes is logged and forgotten; its siblings never notice, and nothing escapes from
here into the server. It does not look into sessions, and it knows no protocol.
"""

from __future__ import annotations

import contextvars
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import trio

from greenroom.actors.later import Later
from greenroom.actors.lookout import Lookout
from greenroom.actors.residency import LastingJournal, Residency
from greenroom.actors.roster import Roster
from greenroom.actors.session import SessionActor, Surroundings
from greenroom.config.errors import Draining, Overloaded, SessionNotFound
from greenroom.persistence.journal import Journal, MemoryJournal, TurnRecord
from greenroom.workflow.events import Change, ToolsChanged
from greenroom.workflow.port import Caller, Workflow

log = logging.getLogger(__name__)


@attrs.frozen
class Limits:
    """How much, how many, how long. Times are in seconds."""

    session_ttl: float = 1800.0
    max_sessions: int = 10_000
    mailbox_size: int = 64
    worker_threads: int = 32
    turn_timeout: float = 60.0
    max_turn_timeout: float = 600.0
    input_timeout: float = 600.0
    linger: float = 0.5


class Supervisor:
    def __init__(
        self,
        workflow: Workflow,
        limits: Limits | None = None,
        journal: Journal | None = None,
        residency: Residency | None = None,
    ) -> None:
        self.workflow = workflow
        self.residency = residency
        self.limits = limits or Limits()
        self.draining = False
        self.lookout = Lookout()
        self._count_tools()
        self._journal = journal or (LastingJournal(residency) if residency is not None else MemoryJournal())
        self._sessions: Roster[SessionActor] = Roster(
            ttl=self.limits.session_ttl, maximum=self.limits.max_sessions, is_idle=lambda actor: actor.idle
        )
        self._by_user: dict[str, dict[str, None]] = {}
        """The handles of every user, the most recently needed last."""
        self._listeners: list[Callable[[Change], None]] = []
        self._nursery: trio.Nursery | None = None
        self._one_settled = trio.Event()
        self._around: Surroundings

    # --- its own life --------------------------------------------------------------------------------------

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Live until cancelled. Every session task is a child of this one."""
        later = Later(self.limits.linger)
        self._around = Surroundings(
            journal=self._journal,
            limiter=trio.CapacityLimiter(self.limits.worker_threads),
            announce=self.announce,
            start=self._start,
            settled=self._settled,
            mailbox_size=self.limits.mailbox_size,
            input_timeout=self.limits.input_timeout,
            linger=self.limits.linger,
            lookout=self.lookout,
            later=later,
        )
        async with trio.open_nursery() as self._nursery:
            self._nursery.start_soon(later.run)
            task_status.started()
            while True:
                now = trio.current_time()
                for actor in self._sessions.take_expired(now):
                    self._dismiss(actor)
                # The pause keeps a very short time-to-live from becoming a busy loop.
                await trio.sleep(max(self._sessions.next_expiry(now) - now, 0.01))

    async def drain(self, budget: float) -> None:
        """No new sessions or turns from now on; let turns finish for so long, then stop what is left.

        A turn that waits for a human is not waited for.
        """
        self.draining = True
        with trio.move_on_after(budget):
            while self._busy_after_closing_the_parked():
                self._one_settled = trio.Event()
                await self._one_settled.wait()
        for actor in self._sessions:
            actor.close()
            if actor.closed:
                self._tell_the_end(actor)

    def _busy_after_closing_the_parked(self) -> bool:
        for actor in self._sessions:
            if actor.parked:
                actor.close()
        return any(not actor.idle for actor in self._sessions)

    # --- sessions ------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, caller: Caller, *, walk_on: bool = False, conversation_id: str | None = None) -> SessionActor:
        """A new session. A walk-on plays one turn for a caller who has none, and is nobody's latest."""
        if self.draining:
            raise Draining
        handle = secrets.token_urlsafe(24)
        if walk_on or self.residency is None:
            session = self.workflow.open_session(caller)
        else:
            session = self.residency.open(handle, caller, conversation_id)
        return self._add(SessionActor(handle, caller.user_id, session, self._around, walk_on=walk_on))

    def _add(self, actor: SessionActor) -> SessionActor:
        if self._sessions.full:
            self._make_room()
        self._sessions.add(actor.handle, actor, actor.opened_at)
        if not actor.walk_on:
            self._by_user.setdefault(actor.user_id, {})[actor.handle] = None
        self.lookout.session_opened(actor.handle, actor.user_id, walk_on=actor.walk_on)
        return actor

    def find(self, handle: str, user_id: str | None = None) -> SessionActor:
        """The session behind a handle, for its owner if we know who is asking.

        A foreign handle and an unknown one look the same.
        """
        actor = self._sessions.find(handle) or self._bring_back(handle)
        if actor is None or user_id not in (None, actor.user_id):
            raise SessionNotFound
        return self._needed(actor)

    def _bring_back(self, handle: str) -> SessionActor | None:
        found = self.residency.recall(handle) if self.residency is not None and not self.draining else None
        if found is None:
            return None
        user_id, session = found
        return self._add(SessionActor(handle, user_id, session, self._around))

    def latest(self, user_id: str) -> SessionActor:
        """The session that this user needed most recently."""
        handles = self._by_user.get(user_id)
        actor = self._sessions.find(next(reversed(handles))) if handles else None
        if actor is None:
            raise SessionNotFound
        return self._needed(actor)

    def about(self, actor: SessionActor) -> Mapping[str, Any]:
        """What a client is told of its session, beside the handle."""
        return self.residency.about(actor.workflow_session) if self.residency is not None else {}

    def close(self, actor: SessionActor) -> None:
        if self._sessions.remove(actor.handle) is not None:
            self._dismiss(actor)

    # --- for those who look on -----------------------------------------------------------------------------

    def sessions(self) -> list[tuple[SessionActor, float]]:
        """Everybody, and when they were last needed, the least recently needed first. Looking does not count."""
        return self._sessions.entries()

    def peek(self, handle: str) -> SessionActor | None:
        """A session that is here, without needing it and without bringing it back."""
        return self._sessions.find(handle)

    def recent_turns(self, handle: str) -> list[TurnRecord]:
        """Those at hand, the oldest first."""
        return self._journal.recent(handle) if isinstance(self._journal, MemoryJournal) else []

    @property
    def threads(self) -> trio.CapacityLimiter:
        return self._around.limiter

    # --- news ----------------------------------------------------------------------------------------------

    def announce(self, change: Change) -> None:
        if isinstance(change, ToolsChanged):
            self._count_tools()
        for listener in list(self._listeners):
            listener(change)

    def on_change(self, listener: Callable[[Change], None]) -> None:
        self._listeners.append(listener)

    # --- inside --------------------------------------------------------------------------------------------

    def _count_tools(self) -> None:
        self.lookout.tally.tools = frozenset(tool.name for tool in self.workflow.tools())

    def _needed(self, actor: SessionActor) -> SessionActor:
        self._sessions.touch(actor.handle, trio.current_time())
        mine = self._by_user.get(actor.user_id)
        if mine is not None and actor.handle in mine:
            mine[actor.handle] = mine.pop(actor.handle)
        return actor

    def _make_room(self) -> None:
        evicted = self._sessions.take_one_idle()
        if evicted is None:
            raise Overloaded("All sessions are busy. Try again in a few seconds.", retry_after=5)
        self._dismiss(evicted)

    def _dismiss(self, actor: SessionActor) -> None:
        mine = self._by_user.get(actor.user_id)
        if mine is not None:
            mine.pop(actor.handle, None)
            if not mine:
                del self._by_user[actor.user_id]
        actor.close()
        if actor.closed:
            self._forget(actor)

    def _forget(self, actor: SessionActor) -> None:
        """Nobody can ask for its turns any more. Not before its task has ended, which may commit one yet."""
        self._tell_the_end(actor)
        try:
            self._journal.forget(actor.handle)
        except Exception:
            log.exception("a session could not be forgotten", extra={"session": actor.handle[:8]})

    def _tell_the_end(self, actor: SessionActor, *, crashed: bool = False) -> None:
        if not actor.over:
            actor.over = True
            self.lookout.session_closed(actor.handle, crashed=crashed)

    def _start(self, actor: SessionActor) -> None:
        # From a clean context: an actor that inherits the request's context variables keeps that request alive.
        assert self._nursery is not None
        contextvars.Context().run(self._nursery.start_soon, self._supervise, actor)

    async def _supervise(self, actor: SessionActor) -> None:
        try:
            await actor.run()
        except (Exception, BaseExceptionGroup) as error:
            if isinstance(error, BaseExceptionGroup) and error.split((trio.Cancelled, KeyboardInterrupt))[0]:
                raise
            log.exception("session crashed", extra={"session": actor.handle[:8]})
            self._tell_the_end(actor, crashed=True)
            self.close(actor)
        if actor.closed:
            self._forget(actor)
        self._one_settled.set()

    def _settled(self, actor: SessionActor) -> None:
        self._sessions.touch(actor.handle, trio.current_time())
        self._one_settled.set()

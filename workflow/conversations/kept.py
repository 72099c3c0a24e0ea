"""A workflow whose conversations are kept: the same tools and four more, and sessions that can be found again.

It is a `Workflow` to the stage, and what the supervisor asks to bring a session back. Conversations are resources
too, for their owner.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import trio

from greenroom.config.errors import ResourceNotFound
from greenroom.persistence.administration import before_days, forget_step
from greenroom.persistence.errors import StoreError
from greenroom.persistence.records import Conversation, SessionHandle, handle_digest
from greenroom.persistence.store import Store, UserStore
from greenroom.workflow.conversations import bill, turns
from greenroom.workflow.conversations.collector import collect_in_helpings
from greenroom.workflow.conversations.session import KeptSession, new_id
from greenroom.workflow.llm.port import LanguageModel
from greenroom.workflow.port import Caller, Part, Turn, Workflow, WorkflowSession
from greenroom.workflow.values import (
    CallTool,
    Completions,
    GetPrompt,
    Prompt,
    PromptRef,
    PromptResult,
    ReadResource,
    Resource,
    ResourceResult,
    ResourceTemplate,
    TemplateRef,
    TextContents,
    Tool,
    ToolResult,
)

log = logging.getLogger(__name__)

ALL = "greenroom://conversations"
MAX_READ = 1000
"""Turns of a conversation that are read as a resource, the newest."""

_MAX_JUST_KEPT = 10_000

_JSON, _MARKDOWN = "application/json", "text/markdown"


@attrs.frozen(eq=False)
class KeptWorkflow:
    inner: Workflow
    store: Store
    llm: LanguageModel | None = None
    sync_seconds: float = 0.2
    """How long what was written may wait before it is safe from a loss of power; 0 is before every answer."""
    handle_days: float = 30.0
    """How long a session that nobody uses can still be found again."""
    retention_days: float | None = None
    """How old a conversation may become before it is forgotten; None is for ever."""
    wall_clock: Callable[[], float] = time.time
    _door: trio.Lock = attrs.field(factory=trio.Lock, init=False, repr=False)
    """Users whose database has to be opened first come in one by one."""
    _disk: trio.Lock = attrs.field(factory=trio.Lock, init=False, repr=False)
    """Whoever makes the disk work. A database that is being opened holds up everybody for as long as the disk takes,
    so nobody makes that longer meanwhile."""
    _just_kept: set[str] = attrs.field(factory=set, init=False, repr=False)
    """Turns that are on disk, and that nobody has asked about yet."""

    # --- the workflow, and more ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def description(self) -> str:
        return self.inner.description

    @property
    def parts(self) -> Sequence[Part]:
        return (*self.inner.parts, self.keep_safe, self.forget_old, collect_in_helpings)

    def tools(self) -> Sequence[Tool]:
        return (*self.inner.tools(), *bill.TOOLS)

    def prompts(self) -> Sequence[Prompt]:
        return self.inner.prompts()

    def resources(self) -> Sequence[Resource]:
        listed = Resource(ALL, "conversations", "Your conversations, the newest first", _JSON)
        return (*self.inner.resources(), listed)

    def resource_templates(self) -> Sequence[ResourceTemplate]:
        return (
            *self.inner.resource_templates(),
            ResourceTemplate(f"{ALL}/{{id}}", "conversation", "One conversation with its turns", _JSON),
            ResourceTemplate(f"{ALL}/{{id}}.md", "conversation-markdown", "The same, to read", _MARKDOWN),
        )

    def complete(
        self, ref: PromptRef | TemplateRef, argument: str, value: str, context: Mapping[str, str]
    ) -> Completions:
        return self.inner.complete(ref, argument, value, context)

    def open_session(self, caller: Caller) -> WorkflowSession:
        """For one turn; nothing of it is kept."""
        return _Visitor(self, self.inner.open_session(caller), caller)

    def keeps(self, tool: str) -> bool:
        """Whether a call of this tool is a turn of the conversation. One that only looks is not."""
        return not any(each.name == tool and each.hints and each.hints.read_only for each in self.inner.tools())

    # --- sessions that can be found again ------------------------------------------------------------------

    def open(self, handle: str, caller: Caller, conversation_id: str | None) -> WorkflowSession:
        now = self.now()
        record = SessionHandle(
            digest=handle_digest(handle),
            user_id=caller.user_id,
            conversation_id=self._conversation_for(caller.user_id, conversation_id),
            workflow_name=self.name,
            created_at=now,
            last_used_at=now,
        )
        self.store.handles.put(record)
        self.written(caller.user_id)
        return KeptSession(self, self.inner.open_session(caller), record, came_back=False)

    def _conversation_for(self, user_id: str, wanted_id: str | None) -> str:
        """The one that is wanted, the last, or a new one. The first of a user gets its database with the first call."""
        with self.store.glance(user_id) as looked_at:
            active = looked_at.active_conversation()
            wanted = looked_at.get_conversation(wanted_id) if wanted_id is not None else None
        if active is None and wanted is None:
            last = self.store.handles.latest(user_id)
            known = last.conversation_id if last is not None and last.workflow_name == self.name else None
            return known or new_id()
        if wanted is not None and wanted != active:
            self.store.user(user_id).activate_conversation(wanted.id)
        conversation = wanted or active
        assert conversation is not None
        return conversation.id

    def recall(self, handle: str) -> tuple[str, WorkflowSession] | None:
        record = self.store.handles.find(handle)
        if record is None or record.workflow_name != self.name:
            return None
        if record.conversation_id is None:
            record = attrs.evolve(record, conversation_id=new_id())
        session = self.inner.open_session(Caller(record.user_id))
        return record.user_id, KeptSession(self, session, record, came_back=True)

    def about(self, session: WorkflowSession) -> Mapping[str, Any]:
        if not isinstance(session, KeptSession):
            return {}
        return {"conversation": turns.shown(session.conversation())}

    def recorded(self, handle: str, turn_id: str) -> ToolResult | None:
        record = self.store.handles.find(handle)
        if record is None:
            return None
        with self.store.glance(record.user_id) as user:
            turn = user.get_turn(turn_id)
        return turns.result_of(turn) if turn is not None else None

    def has_kept(self, turn_id: str) -> bool:
        known = turn_id in self._just_kept
        self._just_kept.discard(turn_id)
        return known

    def kept(self, user_id: str, turn_id: str) -> None:
        """This turn is in the store now."""
        if len(self._just_kept) >= _MAX_JUST_KEPT:
            # Of sessions that broke off before they could ask: it does no harm not to know.
            self._just_kept.clear()
        self._just_kept.add(turn_id)
        self.written(user_id)

    def create_conversation(self, user: UserStore, conversation_id: str | None = None) -> Conversation:
        return user.create_conversation(conversation_id or new_id(), at=self.now(), activate=True)

    # --- resources -----------------------------------------------------------------------------------------

    def uri(self, conversation_id: str) -> str:
        return f"{ALL}/{conversation_id}"

    def read_conversation(self, user: UserStore, uri: str) -> ResourceResult | None:
        """A conversation, or all of them, as its owner sees it. None if the address is not one of ours."""
        if uri == ALL:
            listed = [turns.shown(each) for each in user.list_conversations(100).conversations]
            return ResourceResult([TextContents(uri, json.dumps({"conversations": listed}), _JSON)])
        if not uri.startswith(f"{ALL}/"):
            return None
        name = uri.removeprefix(f"{ALL}/")
        as_text = name.endswith(".md")
        conversation = user.get_conversation(name.removesuffix(".md"))
        if conversation is None:
            raise ResourceNotFound(uri)
        kept = user.turns(conversation.id, limit=MAX_READ, newest_first=False)
        if as_text:
            return ResourceResult([TextContents(uri, turns.as_markdown(conversation, kept), _MARKDOWN)])
        whole = {**turns.shown(conversation), "turns": [attrs.asdict(turn) for turn in kept]}
        return ResourceResult([TextContents(uri, json.dumps(whole, default=str), _JSON)])

    # --- keeping what was written --------------------------------------------------------------------------

    def now(self) -> int:
        return round(self.wall_clock() * 1000)

    async def ready(self, user_id: str) -> None:
        """Return when what is kept of this user can be used at once.

        Opening a database holds up the whole process for some milliseconds, and a thread would not help: so it is one
        at a time, in steps, and everybody who has theirs open is served between two of them.
        """
        if self.store.at_hand(user_id):
            return
        async with self._door:
            steps = self.store.preparing(user_id)
            while True:
                async with self._disk:
                    step = next(steps, None)
                    if step is None:
                        return
                    await trio.to_thread.run_sync(step)

    def written(self, user_id: str) -> None:
        if self.sync_seconds == 0:
            self.store.sync(user_id)

    async def keep_safe(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Make what was written safe from a loss of power, in groups; let go of handles that nobody uses any more."""
        task_status.started()
        try:
            expire_at = trio.current_time()
            while True:
                if trio.current_time() >= expire_at:
                    expire_at = trio.current_time() + 3600
                    self._quietly(lambda: self.store.handles.expire(self.now() - round(self.handle_days * 86_400_000)))
                if self.store.dirty:
                    await self._sync()
                await trio.sleep(max(self.sync_seconds, 0.05))
        finally:
            self._quietly(self.store.sync)
            self.store.close()

    async def _sync(self) -> None:
        """In a thread: the disk may take its time, and nobody has to wait for it."""
        try:
            async with self._disk:
                await trio.to_thread.run_sync(self.store.syncing())
        except StoreError:
            log.exception("what was written could not be made safe")

    async def forget_old(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Every hour, let go of conversations that are older than they may be: a short step, then everybody else."""
        task_status.started()
        while self.retention_days is not None:
            try:
                for _ in forget_step(self.store, before_days(self.now(), self.retention_days)):
                    await trio.sleep(0.01)
            except (StoreError, OSError):
                log.exception("old conversations could not be looked for")
            await trio.sleep(3600)

    def _quietly(self, act: Callable[[], object]) -> None:
        """A disk that does not work is a matter for the log, not a reason to stop serving."""
        try:
            act()
        except StoreError:
            log.exception("what was written could not be made safe")


@attrs.frozen(eq=False)
class _Visitor:
    """A session for one turn: it may read what is kept of its user, and leaves nothing."""

    house: KeptWorkflow
    inner: WorkflowSession
    caller: Caller

    async def call_tool(self, order: CallTool, turn: Turn) -> ToolResult:
        return await self.inner.call_tool(order, turn)

    async def get_prompt(self, order: GetPrompt, turn: Turn) -> PromptResult:
        return await self.inner.get_prompt(order, turn)

    async def read_resource(self, order: ReadResource, turn: Turn) -> ResourceResult:
        if order.uri.startswith(ALL) and self.house.store.keeps(self.caller.user_id):
            await self.house.ready(self.caller.user_id)
        read = self.house.read_conversation(self.house.store.user(self.caller.user_id), order.uri)
        return read or await self.inner.read_resource(order, turn)

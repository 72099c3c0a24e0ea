"""A session whose conversation is kept.

It stands around the workflow's own session. A turn is in the store before its answer leaves; a call that was carried
out before is answered from there and not run again. A session that comes back, after an expiry or a restart, goes on
in its conversation; its workflow starts anew, and its first answer says what else could be brought back.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import attrs

from greenroom.config.errors import GreenroomError, InvalidArguments
from greenroom.persistence.records import Conversation, Feedback, SessionHandle, Turn, TurnStatus
from greenroom.workflow.conversations import bill, states, turns
from greenroom.workflow.conversations.naming import Exchange, name_conversation
from greenroom.workflow.events import ResourcesChanged, ResourceUpdated
from greenroom.workflow.llm.errors import LlmError
from greenroom.workflow.port import Turn as RunningTurn
from greenroom.workflow.port import WorkflowSession
from greenroom.workflow.values import (
    CallTool,
    GetPrompt,
    PromptResult,
    ReadResource,
    ResourceResult,
    Text,
    ToolResult,
)

if TYPE_CHECKING:
    from greenroom.workflow.conversations.kept import KeptWorkflow

HISTORY = 20
"""Turns of a conversation that the workflow is reminded of when it goes on."""


class NamingFailed(GreenroomError):
    code, name = 500, "naming_failed"

    def __init__(self) -> None:
        super().__init__(
            "The conversation could not be given a topic, so it goes on as it is. Try again, or just go on talking."
        )


@runtime_checkable
class Lasting(Protocol):
    """What a workflow's session may offer for a life beyond its first."""

    def recollect(self, exchanges: Sequence[Exchange]) -> None:
        """What was said before in the conversation that goes on now."""

    async def save(self, turn: RunningTurn) -> Mapping[str, Any] | None:
        """Whatever it takes to go on later, as JSON."""

    async def restore(self, saved: Mapping[str, Any], turn: RunningTurn) -> Mapping[str, Any]:
        """Go on from there, and say honestly what is back and what is not."""


class KeptSession:
    __slots__ = ("_fresh_history", "_house", "_inner", "_to_restore", "_user", "record")

    def __init__(self, house: KeptWorkflow, inner: WorkflowSession, record: SessionHandle, *, came_back: bool) -> None:
        self._house = house
        self._inner = inner
        self.record = record
        self._user = house.store.user(record.user_id)
        self._to_restore = came_back
        self._fresh_history = True

    @property
    def conversation_id(self) -> str:
        assert self.record.conversation_id is not None
        return self.record.conversation_id

    def conversation(self) -> Conversation:
        """As it is kept; or as it will be, if it is a user's first and nothing has been said yet."""
        with self._house.store.glance(self.record.user_id) as user:
            kept = user.get_conversation(self.conversation_id)
        born = self.record.created_at
        return kept or Conversation(id=self.conversation_id, created_at=born, updated_at=born)

    # --- what the stage calls ------------------------------------------------------------------------------

    async def call_tool(self, order: CallTool, turn: RunningTurn) -> ToolResult:
        await self._arrive()
        match order.name:
            case bill.NEW_CONVERSATION.name:
                return await self._new_conversation(turn)
            case bill.LIST_CONVERSATIONS.name:
                return self._list(order.arguments)
            case bill.ACTIVATE_CONVERSATION.name:
                return self._activate(order.arguments["conversation_id"])
            case bill.POST_FEEDBACK.name:
                return self._rate(order.arguments)
            case _:
                return await self._play(order, turn)

    async def get_prompt(self, order: GetPrompt, turn: RunningTurn) -> PromptResult:
        return await self._inner.get_prompt(order, turn)

    async def read_resource(self, order: ReadResource, turn: RunningTurn) -> ResourceResult:
        await self._arrive()
        return self._house.read_conversation(self._user, order.uri) or await self._inner.read_resource(order, turn)

    async def _arrive(self) -> None:
        """Before anything else: what is kept is at hand, and so is the conversation."""
        await self._house.ready(self.record.user_id)
        if self._user.get_conversation(self.conversation_id) is None:
            # Unless it is the user's first, it was old and has been forgotten; what is said now begins another.
            wanted = self.conversation_id if self._user.active_conversation() is None else None
            self._move_to(self._house.create_conversation(self._user, wanted))

    # --- a turn of the workflow ----------------------------------------------------------------------------

    async def _play(self, order: CallTool, turn: RunningTurn) -> ToolResult:
        known = self._user.get_turn(turn.id)
        if known is not None:
            return turns.result_of(known)
        if not self._house.keeps(order.name):
            return await self._inner.call_tool(order, turn)
        restored = await self._go_on(turn)
        started_at = self._house.now()
        try:
            result = await self._inner.call_tool(order, turn)
        except GreenroomError as error:
            await self._keep(order, turn, started_at, TurnStatus.FAILED, turns.outputs_of_error(error))
            raise
        result = _told(result, restored)
        await self._keep(order, turn, started_at, turns.status_of(result), turns.outputs_of(result), result)
        return result

    async def _keep(
        self,
        order: CallTool,
        turn: RunningTurn,
        started_at: int,
        status: TurnStatus,
        outputs: Mapping[str, Any],
        result: ToolResult | None = None,
    ) -> None:
        """On disk before anybody hears of it: first what it takes to go on after this turn, then the turn.

        They are in two databases, so a kill may come between: see `states` for why that does no harm.
        """
        state = await self._inner.save(turn) if isinstance(self._inner, Lasting) else None
        await self._house.ready(self.record.user_id)
        self._remember(states.after(turn.id, state, self.record.state))
        traces: Sequence[Any] = turns.traces_of(result.traces) if result is not None else ()
        self._user.append_turn(
            Turn(
                id=turn.id,
                conversation_id=self.conversation_id,
                tool=order.name,
                input=dict(order.arguments),
                outputs=outputs,
                traces=traces,
                status=status,
                started_at=started_at,
                duration_ms=max(self._house.now() - started_at, 0),
            )
        )
        self._house.kept(self.record.user_id, turn.id)
        turn.announce(ResourceUpdated(self._house.uri(self.conversation_id)))

    async def _go_on(self, turn: RunningTurn) -> Mapping[str, Any] | None:
        """Before the first turn of a new life: remind the workflow of what was said, and bring back what it left."""
        restored = None
        if self._fresh_history and isinstance(self._inner, Lasting):
            kept = self._user.turns(self.conversation_id, limit=HISTORY, newest_first=False)
            self._inner.recollect([turns.exchange_of(each) for each in kept])
        self._fresh_history = False
        if self._to_restore:
            restored = {"conversation": self.conversation_id, "startup": "run again"}
            state = states.valid(self.record.state, lambda turn_id: self._user.get_turn(turn_id) is not None)
            self.record = attrs.evolve(self.record, state=state)
            if isinstance(self._inner, Lasting) and state is not None:
                restored |= await self._inner.restore(state, turn)
            self._to_restore = False
        return restored

    def _remember(self, state: Mapping[str, Any] | None) -> None:
        self.record = attrs.evolve(self.record, last_used_at=self._house.now(), state=state)
        self._house.store.handles.put(self.record)

    # --- conversations -------------------------------------------------------------------------------------

    async def _new_conversation(self, turn: RunningTurn) -> ToolResult:
        kept = self._user.turns(self.conversation_id, limit=100, newest_first=False)
        if not kept:
            return _ok(new_conversation_id=self.conversation_id)
        try:
            name = await name_conversation([turns.exchange_of(each) for each in kept], self._house.llm)
        except LlmError as error:
            raise NamingFailed from error
        self._user.name_conversation(self.conversation_id, topic=name.topic, summary=name.summary)
        self._move_to(self._house.create_conversation(self._user))
        turn.announce(ResourcesChanged())
        return _ok(new_conversation_id=self.conversation_id)

    def _list(self, arguments: Mapping[str, Any]) -> ToolResult:
        page = self._user.list_conversations(arguments.get("limit", 10), arguments.get("cursor"))
        listed = [turns.shown(each) for each in page.conversations]
        lines = [f"{each['conversation_id']}: {each['topic'] or '(no topic yet)'}" for each in listed]
        structured: dict[str, Any] = {"conversations": listed}
        if page.cursor is not None:
            structured["next_cursor"] = page.cursor
        return ToolResult([Text("\n".join(lines) or "There are no conversations yet.")], structured)

    def _activate(self, conversation_id: str) -> ToolResult:
        self._move_to(self._user.activate_conversation(conversation_id))
        return _ok()

    def _move_to(self, conversation: Conversation) -> None:
        self.record = attrs.evolve(self.record, conversation_id=conversation.id, last_used_at=self._house.now())
        self._house.store.handles.put(self.record)
        self._fresh_history = True
        self._house.written(self.record.user_id)

    def _rate(self, arguments: Mapping[str, Any]) -> ToolResult:
        score, words = arguments.get("binary_or_numeric_score"), arguments.get("nl_feedback")
        if score is None and words is None:
            raise InvalidArguments("Give binary_or_numeric_score, nl_feedback, or both.")
        feedback = Feedback(binary_or_numeric_score=score, nl_feedback=words, given_at=self._house.now())
        rated = self._user.set_feedback(
            feedback, turn_id=arguments.get("turn_id"), conversation_id=self.conversation_id
        )
        self._house.written(self.record.user_id)
        return _ok(turn_id=rated.id)


def _ok(**more: str) -> ToolResult:
    return ToolResult([Text("Done.")], {"status": "ok", **more})


def _told(result: ToolResult, restored: Mapping[str, Any] | None) -> ToolResult:
    """The first answer of a session that came back says what came back with it."""
    if restored is None or result.structured is None:
        return result
    return attrs.evolve(result, structured={**result.structured, "session_restored": restored})


def new_id() -> str:
    return secrets.token_hex(8)

"""The work of a route: finding its session, taking a turn of it, and reading the answer.

It knows sessions and turns and no HTTP: it is given checked arguments and a place for what is reported meanwhile, and
gives back an `Answer` or raises an error that was written for the client.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import attrs

from greenroom.actors.asking import OnEvent, ask
from greenroom.actors.messages import (
    Asking,
    CancelRequested,
    Failed,
    Finished,
    Heard,
    InputRequired,
    TurnAwaited,
)
from greenroom.actors.reply import Reply
from greenroom.actors.session import SessionActor
from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import Draining, InternalFault, TurnCancelled, TurnInProgress, TurnTimedOut
from greenroom.transport.bill import Act, StageOptions
from greenroom.transport.house import open_session
from greenroom.transport.rest import archive
from greenroom.transport.rest.binding import Bound
from greenroom.transport.rest.faults import Answer, ToolFailed
from greenroom.transport.rest.table import Work
from greenroom.transport.turns import TurnPlan, plan_turn
from greenroom.workflow.conversations.kept import KeptWorkflow
from greenroom.workflow.conversations.turns import text_of, traces_of
from greenroom.workflow.talk.bill import GET_WORKFLOW_INFO
from greenroom.workflow.values import CallTool, Result, ToolResult

log = logging.getLogger(__name__)

A_MOMENT = 0.05
"""Even without waiting the actor needs a moment to say how things stand."""

CANCEL_SECONDS = 10.0


@attrs.frozen
class Wanted:
    """A request that has been read and checked."""

    bound: Bound
    arguments: Mapping[str, Any]
    session: str | None
    on_event: OnEvent | None = None
    """Where to report what happens meanwhile; if there is such a place, the answer has no traces."""


class Performer:
    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._formats: WeakKeyDictionary[SessionActor, str] = WeakKeyDictionary()
        self._works: Mapping[Work, Callable[[Wanted], Awaitable[Answer]]] = {
            Work.INITIALIZE: self._initialize,
            Work.TOOL: self._play,
            Work.GET_TURN: self._get_turn,
            Work.CANCEL_PENDING: self._cancel_pending,
            Work.CONVERSATIONS: self._conversations,
            Work.CONVERSATION: self._conversation,
        }

    async def perform(self, wanted: Wanted) -> Answer:
        return await self._works[wanted.bound.route.work](wanted)

    def stream_format(self, session: str) -> str:
        """What this session's streams come as, where the request leaves it open."""
        return self._formats.get(self._supervisor.find(session), "ndjson")

    def _find(self, wanted: Wanted, user_id: str | None) -> SessionActor:
        assert wanted.session is not None
        return self._supervisor.find(wanted.session, user_id)

    # --- turns ---------------------------------------------------------------------------------------------

    async def _initialize(self, wanted: Wanted) -> Answer:
        actor, told = open_session(self._supervisor, wanted.arguments)
        self._formats[actor] = wanted.arguments.get("stream_format", "ndjson")
        if wanted.on_event is not None and any(
            tool.name == GET_WORKFLOW_INFO.name for tool in self._supervisor.workflow.tools()
        ):
            await self._start_up(actor, wanted.on_event)
        return Answer(200, told)

    async def _start_up(self, actor: SessionActor, on_event: OnEvent) -> None:
        """A session's first turn begins with the startup; this one only looks. If it fails, the session goes."""
        begun = False
        try:
            plan = self._plan(actor, CallTool(GET_WORKFLOW_INFO.name), StageOptions())
            _finished(await self._follow(actor, plan, on_event))
            begun = True
        finally:
            if not begun:
                self._supervisor.close(actor)

    async def _play(self, wanted: Wanted) -> Answer:
        played = wanted.bound.played
        assert played is not None
        options, own = wanted.bound.split(wanted.arguments)
        actor = self._find(wanted, options.user_id)
        order = CallTool(played.tool.name, wanted.bound.route.arguments(own))
        plan = self._plan(actor, order, options)
        result = _finished(await self._follow(actor, plan, wanted.on_event))
        value = structured(result, played, with_traces=wanted.on_event is None)
        # What a command has put out says which turn that was, so that it can be rated later.
        return Answer(200, {**value, "turn_id": plan.turn_id} if "command_responses" in value else value)

    def _plan(self, actor: SessionActor, order: CallTool, options: StageOptions) -> TurnPlan:
        if self._supervisor.draining:
            raise Draining
        return plan_turn(actor, order, options, self._supervisor.limits)

    async def _follow(self, actor: SessionActor, plan: TurnPlan, on_event: OnEvent | None) -> Heard:
        patience = float("inf") if plan.patience is None else plan.patience
        heard = await ask(actor, plan.request, on_event=on_event, patience=patience, cancels=plan.owner)
        return heard or Failed(TurnTimedOut(plan.turn_id, patience, deferred=True))

    async def _get_turn(self, wanted: Wanted) -> Answer:
        options, own = wanted.bound.split(wanted.arguments)
        turn_id = own["turn_id"]
        patience = max(float(own.get("wait_seconds", 0)), A_MOMENT)

        def awaited(reply: Reply) -> Asking:
            return TurnAwaited(turn_id, reply)

        heard = await ask(self._find(wanted, options.user_id), awaited, patience=patience)
        match heard:
            case None:
                return Answer(202, {"turn_id": turn_id, "status": "running"})
            case InputRequired():
                return Answer(202, {"turn_id": turn_id, "status": "awaiting_input"})
            case _:
                output = structured(_finished(heard), None, with_traces=True)
                return Answer(200, {"turn_id": turn_id, "status": "finished", "output": output})

    async def _cancel_pending(self, wanted: Wanted) -> Answer:
        options, own = wanted.bound.split(wanted.arguments)
        actor = self._find(wanted, options.user_id)
        turn_id = own.get("turn_id") or (actor.turn.id if actor.turn is not None else None)
        if turn_id is None:
            return Answer(200, {"status": "idle", "turn_id": None})

        def cancelled(reply: Reply) -> Asking:
            return CancelRequested(turn_id, reply)

        match await ask(actor, cancelled, patience=CANCEL_SECONDS):
            case Finished():
                return Answer(200, {"status": "finished", "turn_id": turn_id})
            case Failed(error) if not isinstance(error, TurnCancelled):
                raise error
            case _:
                return Answer(200, {"status": "cancelled", "turn_id": turn_id})

    # --- conversations -------------------------------------------------------------------------------------

    async def _conversations(self, wanted: Wanted) -> Answer:
        options, own = wanted.bound.split(wanted.arguments)
        user = self._kept.store.user(self._find(wanted, options.user_id).user_id)
        limit, cursor, words = own.get("limit", 10), own.get("cursor"), own.get("q")
        return Answer(200, await archive.list_conversations(user, limit, cursor, words))

    async def _conversation(self, wanted: Wanted) -> Answer:
        options, own = wanted.bound.split(wanted.arguments)
        user = self._kept.store.user(self._find(wanted, options.user_id).user_id)
        limit, cursor, words = own.get("limit", 20), own.get("cursor"), own.get("q")
        return Answer(200, await archive.read_conversation(user, own["conversation_id"], limit, cursor, words))

    @property
    def _kept(self) -> KeptWorkflow:
        workflow = self._supervisor.workflow
        assert isinstance(workflow, KeptWorkflow)
        return workflow


def _finished(heard: Heard) -> Result:
    """The result of a turn that ended well. Raises what went wrong otherwise."""
    match heard:
        case Finished(result):
            return result
        case Failed(error):
            raise error
        case InputRequired(turn_id):
            # Another client's turn, joined by its key: its questions are not ours to answer.
            raise TurnInProgress(turn_id, awaiting_input=True)


def structured(result: Result, act: Act | None, *, with_traces: bool) -> dict[str, Any]:
    """The structured result of a tool, checked; with the traces, if they have not been seen."""
    assert isinstance(result, ToolResult)
    if result.is_error:
        raise _failure(result)
    if act is not None and (fault := act.fault_of(result.structured)) is not None:
        log.error("structured result does not fit its schema", extra={"tool": act.tool.name, "fault": fault})
        raise InternalFault
    value = dict(result.structured) if result.structured is not None else {"response_text": text_of(result)}
    attached = with_traces and result.traces and (act is None or act.takes_traces)
    return {"traces": traces_of(result.traces), **value} if attached else value


def _failure(result: ToolResult) -> Exception:
    """An error that was kept as a result, or one that the tool made itself."""
    match result.structured:
        case {"error": {"code": int(code), "name": str(name), "message": str(message)}}:
            return KeptError(code, name, message)
        case _:
            return ToolFailed(text_of(result) or "The tool has failed and does not say why.")


class KeptError(ToolFailed):
    """An error as it was told before, told again."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(message)
        self.code, self.name = code, name  # type: ignore[misc]

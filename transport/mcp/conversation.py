"""From an MCP request to a turn of a session, and back.

It finds the session that a call means, asks its actor, turns the turn's events into notifications, and puts
the turn's questions to the client: pushed in the older era, returned in the newer one with a sealed state that
brings the answers back to the turn that waits for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import mcp.types as t
import trio
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from greenroom.actors.asking import ask, follow
from greenroom.actors.messages import Asking, Failed, Finished, Heard, InputProvided, InputRequired
from greenroom.actors.reply import Reply
from greenroom.actors.session import SessionActor
from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import Draining, LateAnswer, SessionNotFound, TurnTimedOut, UnansweredQuestion
from greenroom.transport.bill import StageOptions
from greenroom.transport.house import DEFAULT_USER
from greenroom.transport.mcp import wire
from greenroom.transport.mcp.begun import Begun
from greenroom.transport.mcp.exchange import Exchange
from greenroom.transport.mcp.legacy import LegacyConnection
from greenroom.transport.mcp.reporting import Reporter
from greenroom.transport.turns import plan_turn
from greenroom.workflow.port import Caller
from greenroom.workflow.questions import Ability, Answer, Elicit, Elicited, Question
from greenroom.workflow.values import Order, SessionUse

Context = ServerRequestContext[Any, Any]


@attrs.frozen
class Parked:
    """Which turn a sealed state belongs to. The client carries it but can neither read nor change it."""

    handle: str
    turn_id: str
    walk_on: bool

    def dump(self) -> str:
        return json.dumps(attrs.astuple(self))

    @classmethod
    def load(cls, text: str) -> Parked:
        return cls(*json.loads(text))


@attrs.frozen
class Call:
    """A request that may take turns, with what the client sent along for its questions."""

    context: Context
    input_responses: Mapping[str, t.InputResponse] | None = None
    request_state: str | None = None

    @property
    def exchange(self) -> Exchange:
        exchange = self.context.request
        assert isinstance(exchange, Exchange)
        return exchange

    @property
    def legacy(self) -> bool:
        return self.exchange.connection is not None

    @property
    def abilities(self) -> frozenset[Ability]:
        connection = self.exchange.connection
        if connection is not None:
            return connection.abilities
        return wire.abilities(self.context.session.client_capabilities)

    @property
    def answers(self) -> dict[str, Answer]:
        return {key: wire.answer(value) for key, value in (self.input_responses or {}).items()}


class Conversation:
    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    # --- which session -------------------------------------------------------------------------------------

    def find_session(self, connection: LegacyConnection | None, options: StageOptions) -> SessionActor:
        """The session a call means: by its argument; else the one its connection stands for; else, if it
        belongs to no connection, the caller's most recent one."""
        if options.session_id is not None:
            return self._supervisor.find(options.session_id, options.user_id)
        if connection is not None and connection.registered:
            if connection.handle is None:
                raise SessionNotFound
            return self._supervisor.find(connection.handle, options.user_id)
        return self._supervisor.latest(options.user_id or DEFAULT_USER)

    def cast(
        self,
        connection: LegacyConnection | None,
        abilities: frozenset[Ability],
        options: StageOptions,
        use: SessionUse,
    ) -> tuple[SessionActor, bool]:
        """The session that plays an order, and whether it was opened for nothing else."""
        bound = options.session_id is not None or (connection is not None and connection.handle is not None)
        if use is SessionUse.REQUIRED or (use is SessionUse.OPTIONAL and bound):
            return self.find_session(connection, options), False
        caller = Caller(options.user_id or self._owner(connection), abilities)
        return self._supervisor.open(caller, walk_on=True), True

    def _owner(self, connection: LegacyConnection | None) -> str:
        """Who asks, if it is not said: whoever the connection's session belongs to."""
        if connection is None or connection.handle is None:
            return DEFAULT_USER
        try:
            return self._supervisor.find(connection.handle).user_id
        except SessionNotFound:
            return DEFAULT_USER

    # --- one order -----------------------------------------------------------------------------------------

    async def play(
        self, call: Call, order: Order, use: SessionUse, options: StageOptions | None = None
    ) -> Finished | Failed | t.InputRequiredResult:
        """Have an order carried out as a turn, from its beginning or from where it waits for an answer."""
        options = options or StageOptions()
        if call.request_state is not None:
            return await self.resume(call)
        if call.exchange.begun is not None:
            return await self._go_on(call, call.exchange.begun)
        if self._supervisor.draining:
            raise Draining
        abilities = call.abilities
        actor, walk_on = self.cast(call.exchange.connection, abilities, options, use)
        plan = plan_turn(actor, order, options, self._supervisor.limits, abilities, call.answers)
        scene = _Scene(self._supervisor, call, actor, plan.turn_id, walk_on=walk_on, owner=plan.owner)
        return await scene.follow(plan.request, patience=plan.patience)

    async def _go_on(self, call: Call, begun: Begun) -> Finished | Failed | t.InputRequiredResult:
        """Follow a turn that runs already, or has run."""
        begun.taken = True
        scene = _Scene(self._supervisor, call, begun.actor, begun.turn_id, walk_on=begun.walk_on)
        return await scene.follow(begun.reply)

    async def resume(self, call: Call) -> Finished | Failed | t.InputRequiredResult:
        assert call.request_state is not None
        parked = Parked.load(call.request_state)
        try:
            actor = self._supervisor.find(parked.handle)
        except SessionNotFound:
            return Failed(LateAnswer(parked.turn_id))
        answers = call.answers
        scene = _Scene(self._supervisor, call, actor, parked.turn_id, walk_on=parked.walk_on)
        return await scene.follow(lambda reply: InputProvided(parked.turn_id, answers, reply))

    async def attend(
        self, call: Call, actor: SessionActor, turn_id: str, make: Callable[[Reply], Asking], patience: float
    ) -> Finished | Failed | t.InputRequiredResult:
        """Join a turn that another call began, without owning it."""
        scene = _Scene(self._supervisor, call, actor, turn_id, walk_on=False, owner=False)
        return await scene.follow(make, patience=patience)


class _Scene:
    """One request following one turn, through all of its questions."""

    def __init__(
        self,
        supervisor: Supervisor,
        call: Call,
        actor: SessionActor,
        turn_id: str,
        *,
        walk_on: bool,
        owner: bool = True,
    ) -> None:
        self._supervisor = supervisor
        self._call = call
        self._actor = actor
        self._turn_id = turn_id
        self._walk_on = walk_on
        self._owner = owner
        self._reporter = Reporter(call.context, call.exchange)

    async def follow(
        self, asking: Callable[[Reply], Asking] | Reply, patience: float | None = None
    ) -> Finished | Failed | t.InputRequiredResult:
        """Ask, or go on listening to what was asked already."""
        goes_on = False
        try:
            heard = await (self._listen(asking) if isinstance(asking, Reply) else self._ask(asking, patience))
            while isinstance(heard, InputRequired):
                if not self._call.legacy:
                    goes_on = True
                    return self._returned(heard)
                heard = await self._pushed(heard)
            goes_on = is_deferred(heard)
            return heard
        finally:
            if self._walk_on and not goes_on:
                self._supervisor.close(self._actor)

    async def _listen(self, reply: Reply) -> Heard:
        report = self._reporter.report
        heard = await follow(self._actor, self._turn_id, reply, on_event=report, cancels=self._owner)
        assert heard is not None
        return heard

    async def _ask(self, make: Callable[[Reply], Asking], patience: float | None = None) -> Heard:
        heard = await ask(
            self._actor,
            make,
            on_event=self._reporter.report,
            patience=float("inf") if patience is None else patience,
            cancels=self._owner,
        )
        if heard is not None:
            return heard
        # A caller without a session is told the one that was opened for it: that is where the result will be.
        session_id = self._actor.handle if self._walk_on else None
        return Failed(TurnTimedOut(self._turn_id, patience or 0.0, deferred=True, session_id=session_id))

    def _returned(self, required: InputRequired) -> t.InputRequiredResult:
        """The newer era: the questions are the answer, and the call comes back with theirs."""
        requests: dict[str, Any] = {key: wire.question_request(q) for key, q in required.questions.items()}
        state = Parked(self._actor.handle, self._turn_id, self._walk_on).dump()
        return t.InputRequiredResult(input_requests=requests, request_state=state)

    async def _pushed(self, required: InputRequired) -> Heard:
        """The older era: put the questions to the client now, on this request's stream."""
        answers: dict[str, Answer] | None = None
        try:
            with trio.move_on_after(self._supervisor.limits.input_timeout):
                answers = {key: await self._push(question) for key, question in required.questions.items()}
        except MCPError:
            answers = None
        finally:
            if answers is None:
                self._actor.leave(self._turn_id, Reply(), cancels=True)
        if answers is None:
            return Failed(UnansweredQuestion(self._turn_id))
        return await self._ask(lambda reply: InputProvided(self._turn_id, answers, reply))

    async def _push(self, question: Question) -> Answer:
        request = wire.question_request(question).model_dump(by_alias=True, mode="json", exclude_none=True)
        try:
            raw = await self._call.exchange.send_raw_request(request["method"], request.get("params"))
            return wire.answer(wire.ANSWER_TYPES[type(question)].model_validate(raw, by_name=False))
        except (MCPError, ValueError):
            if isinstance(question, Elicit):
                return Elicited("cancel")
            raise MCPError(t.INTERNAL_ERROR, "The client did not answer") from None


def is_deferred(heard: Heard | t.InputRequiredResult) -> bool:
    """Whether the turn goes on although its caller has been answered."""
    return isinstance(heard, Failed) and isinstance(heard.error, TurnTimedOut) and bool(heard.error.data["deferred"])

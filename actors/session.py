"""The session actor: the Trio shell around the session core.

It owns a mailbox, a nursery for its turn, and the session's copy of the workflow; it carries out the effects
that the core asks for. It does not know HTTP or MCP, and nobody else touches its fields: a request posts a
message and waits for its reply.

A session that has nothing to do has no task and no mailbox. It gets both with its first message, and gives
them back when the mailbox has been empty for a while.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

import attrs
import trio

from greenroom.actors.core import CLOSED, IDLE, Phase, Session, step
from greenroom.actors.messages import (
    Asker,
    Asking,
    CallerGone,
    CancelTurn,
    CloseRequested,
    CommitTurn,
    Effect,
    Failed,
    Finished,
    Heard,
    Message,
    Outcome,
    Recall,
    ResumeTurn,
    StartTurn,
    Tell,
    ThreadReturned,
    TurnAwaited,
    TurnFinished,
    TurnRequested,
)
from greenroom.actors.reply import Reply
from greenroom.actors.threads import Crew
from greenroom.actors.turn import RunningTurn
from greenroom.config.errors import (
    GreenroomError,
    InternalFault,
    Overloaded,
    SessionCrashed,
    SessionNotFound,
    TurnNotFound,
    TurnTimedOut,
)
from greenroom.persistence.journal import Journal, TurnRecord
from greenroom.workflow.events import Change, TurnEvent
from greenroom.workflow.port import Turn, WorkflowSession
from greenroom.workflow.values import CallTool, GetPrompt, Order, Result

log = logging.getLogger(__name__)


@attrs.frozen(eq=False)
class Surroundings:
    """What all sessions of a server share."""

    journal: Journal
    limiter: trio.CapacityLimiter
    announce: Callable[[Change], None]
    start: Callable[[SessionActor], None]
    """Give this actor a task, supervised."""
    settled: Callable[[SessionActor], None]
    """This actor has nothing to do any more, or nothing before somebody answers."""
    mailbox_size: int
    input_timeout: float
    linger: float
    """How long an actor with nothing to do keeps its task."""


@attrs.define(eq=False)
class SessionActor:
    handle: str
    user_id: str
    _workflow: WorkflowSession
    _around: Surroundings
    _state: Session = IDLE
    _turn: RunningTurn | None = None
    _mailbox: trio.MemorySendChannel[Message] | None = None
    _incoming: trio.MemoryReceiveChannel[Message] | None = None
    _open_replies: set[Reply] | None = None
    _closing: bool = False

    @property
    def idle(self) -> bool:
        """Nothing is running and nobody is waiting: it may be put to rest or closed without loss."""
        return self._state.phase in (Phase.IDLE, Phase.CLOSED) and not self._open_replies

    @property
    def workflow_session(self) -> WorkflowSession:
        return self._workflow

    @property
    def closed(self) -> bool:
        return self._state is CLOSED

    @property
    def parked(self) -> bool:
        """Its turn waits for an answer, and nothing happens until somebody gives one."""
        return self._state.phase is Phase.AWAITING_INPUT

    # --- from the outside ----------------------------------------------------------------------------------

    def ask(self, message: Asking, reply: Reply) -> None:
        """Put a question into the mailbox, now or not at all; `reply` will hear something, whatever happens."""
        if self._open_replies is None:
            self._open_replies = set()
        elif len(self._open_replies) >= self._around.mailbox_size:
            raise Overloaded("This session has too many calls waiting. Try again in a moment.")
        self._post(message)
        self._open_replies.add(reply)

    def leave(self, turn_id: str, reply: Reply, *, cancels: bool) -> None:
        """Whoever asked stops listening before the answer came."""
        if self._mailbox is not None:
            self._mailbox.send_nowait(CallerGone(turn_id, reply, cancels))

    def close(self) -> None:
        """End the session: at once if it rests, after its turn has been stopped if there is one."""
        if self._mailbox is None:
            self._state = CLOSED
        elif not self._closing:
            self._closing = True
            self._mailbox.send_nowait(CloseRequested())

    def _post(self, message: Message) -> None:
        if self._closing or self._state is CLOSED:
            raise SessionNotFound
        if self._mailbox is None:
            self._wake_up()
        assert self._mailbox is not None
        self._mailbox.send_nowait(message)

    # --- the actor's task ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve the mailbox until there is nothing more to do. The supervisor calls this."""
        incoming = self._incoming
        assert incoming is not None
        try:
            async with trio.open_nursery() as turns:
                while await self._serve_one(incoming, turns):
                    pass
                # Before the nursery's exit, which yields: the next message must find a new mailbox, or none.
                self._lie_down(SessionNotFound())
                turns.cancel_scope.cancel()
        finally:
            if self._incoming is incoming:
                self._state = CLOSED
                self._lie_down(SessionCrashed())

    async def _serve_one(self, incoming: trio.MemoryReceiveChannel[Message], turns: trio.Nursery) -> bool:
        linger = self._around.linger if self._state.phase is Phase.IDLE else math.inf
        with trio.move_on_after(linger) as waiting:
            message = await incoming.receive()
        if waiting.cancelled_caught:
            # A message may have come in between the deadline and this line.
            return incoming.statistics().current_buffer_used > 0
        if isinstance(message, TurnRequested) and self._around.journal.find(self.handle, message.turn_id):
            # A caller that repeats itself hears again what it was told, or should have been.
            message = TurnAwaited(message.turn_id, message.asker)
        self._state, effects = step(self._state, message)
        for effect in effects:
            self._carry_out(effect, turns)
        if isinstance(message, CallerGone):
            self._forget_reply(message.asker)
        if self.idle or self.parked:
            self._around.settled(self)
        return self._state is not CLOSED

    def _carry_out(self, effect: Effect, turns: trio.Nursery) -> None:
        match effect:
            case StartTurn(request):
                self._turn = self._new_turn(request)
                turns.start_soon(self._perform, self._turn, request)
            case ResumeTurn(_, answers) if self._turn is not None:
                self._turn.resume(answers)
            case CancelTurn(_, reason) if self._turn is not None:
                self._turn.stop(reason)
            case CommitTurn(turn_id, outcome):
                self._turn = None
                self._around.journal.commit(TurnRecord(self.handle, turn_id, outcome))
            case Tell(asker, heard):
                self._tell(asker, heard)
            case Recall(asker, turn_id):
                record = self._around.journal.find(self.handle, turn_id)
                self._tell(asker, record.outcome if record else Failed(TurnNotFound(turn_id)))

    def _tell(self, asker: Asker, heard: Heard) -> None:
        assert isinstance(asker, Reply)
        asker.settle(heard)
        self._forget_reply(asker)

    def _forget_reply(self, asker: Asker) -> None:
        if self._open_replies is not None:
            self._open_replies.discard(asker)

    def _publish(self, event: TurnEvent) -> None:
        for asker in self._state.waiting:
            assert isinstance(asker, Reply)
            asker.offer(event)

    # --- one turn ------------------------------------------------------------------------------------------

    def _new_turn(self, request: TurnRequested) -> RunningTurn:
        assert self._mailbox is not None
        return RunningTurn(
            request,
            Crew(self._around.limiter),
            input_timeout=self._around.input_timeout,
            tell=self._mailbox.send_nowait,
            publish=self._publish,
            announce=self._around.announce,
        )

    async def _perform(self, turn: RunningTurn, request: TurnRequested) -> None:
        """A child task of the actor. Whatever the workflow does, this ends in `TurnFinished`."""
        mailbox = self._mailbox
        assert mailbox is not None
        try:
            with turn.scope:
                outcome: Outcome = Finished(await _play(self._workflow, request.order, turn))
        except (Exception, SystemExit, BaseExceptionGroup) as error:
            outcome = Failed(self._fault(error, turn))
        if turn.scope.cancelled_caught:
            outcome = Failed(turn.stop_reason or TurnTimedOut(turn.id, request.timeout))
        thread_busy = turn.crew.busy
        mailbox.send_nowait(TurnFinished(turn.id, outcome, thread_busy))
        if thread_busy:
            await turn.crew.wait_until_returned()
            mailbox.send_nowait(ThreadReturned(turn.id))

    def _fault(self, error: BaseException, turn: RunningTurn) -> GreenroomError:
        """What a client hears of an exception that the workflow let through."""
        if isinstance(error, BaseExceptionGroup):
            ours, _ = error.split((trio.Cancelled, KeyboardInterrupt))
            if ours is not None:
                raise error
            if len(error.exceptions) == 1:
                return self._fault(error.exceptions[0], turn)
        if isinstance(error, GreenroomError):
            return error
        log.error("turn failed", exc_info=error, extra={"session": self.handle[:8], "turn": turn.id})
        return InternalFault(turn.id)

    # --- task or no task -----------------------------------------------------------------------------------

    def _wake_up(self) -> None:
        # Never full by construction. The number of open replies is bounded, and each accounts for two messages
        # (the question, and the asker's leaving); those who are told of a turn's end may have their leaving in
        # here still when as many others come. The turn accounts for three more, and closing for one.
        capacity = 3 * self._around.mailbox_size + 4
        self._mailbox, self._incoming = trio.open_memory_channel[Message](capacity)
        self._around.start(self)

    def _lie_down(self, ending: GreenroomError) -> None:
        for reply in self._open_replies or ():
            reply.fail(ending)
        self._mailbox = self._incoming = self._open_replies = self._turn = None


async def _play(workflow: WorkflowSession, order: Order, turn: Turn) -> Result:
    match order:
        case CallTool():
            return await workflow.call_tool(order, turn)
        case GetPrompt():
            return await workflow.get_prompt(order, turn)
        case _:
            return await workflow.read_resource(order, turn)

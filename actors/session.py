"""The session actor: the Trio shell around the session core.

It owns a mailbox, its turn, and the session's copy of the workflow; it carries out the effects
that the core asks for. It does not know HTTP or MCP, and nobody else touches its fields: a request posts a
message and waits for its reply.

A session that has nothing to do has no task and no mailbox. It gets both with its first message, and gives
them back when the mailbox has been empty for a while.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import trio

from greenroom.actors.core import CLOSED, IDLE, Phase, Session, step
from greenroom.actors.later import Later
from greenroom.actors.lookout import Lookout, kind_of, name_of
from greenroom.actors.mailbox import Mailbox
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
    lookout: Lookout = attrs.field(factory=Lookout)
    later: Later | None = None
    """By whom an actor is looked in on after it has lingered; without, it lingers for ever."""


@attrs.define(eq=False)
class SessionActor:
    handle: str
    user_id: str
    _workflow: WorkflowSession
    _around: Surroundings
    opened_at: float = attrs.field(factory=trio.current_time)
    walk_on: bool = False
    over: bool = False
    """The supervisor's mark: its end has been told."""
    _state: Session = IDLE
    _turn: RunningTurn | None = None
    _to_play: RunningTurn | None = None
    """The same one, before it has begun."""
    _mailbox: Mailbox[Message] | None = None
    _resting_since: float = 0.0
    _rested: bool = False
    _watched: bool = False
    """Somebody is going to look whether it still rests."""
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
    def phase(self) -> Phase:
        return self._state.phase

    @property
    def turn(self) -> RunningTurn | None:
        """The one on stage, for those who look on."""
        return self._turn

    @property
    def queue_depth(self) -> int:
        """Messages that have come and are not looked at yet."""
        return len(self._mailbox) if self._mailbox is not None else 0

    @property
    def callers(self) -> int:
        """How many wait for an answer."""
        return len(self._open_replies or ())

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
        tracer = self._around.lookout.tracer
        if tracer is not None and isinstance(message, TurnRequested):
            message = attrs.evolve(message, parent=tracer.parent())
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
        mailbox = self._mailbox
        assert mailbox is not None
        try:
            async with trio.open_nursery() as helpers:
                await self._serve(mailbox, helpers)
                # Before the nursery's exit, which yields: the next message must find a new mailbox, or none.
                self._lie_down(SessionNotFound())
                if helpers.child_tasks:
                    helpers.cancel_scope.cancel()
        finally:
            if self._mailbox is mailbox:
                self._state = CLOSED
                self._lie_down(SessionCrashed())

    async def _serve(self, mailbox: Mailbox[Message], helpers: trio.Nursery) -> None:
        """Read, and play, until the session is closed or there has been nothing to do for a while."""
        self._rested = False
        while self._state is not CLOSED:
            if mailbox:
                self._read(mailbox.take())
                if self._to_play is not None and not mailbox:
                    turn, self._to_play = self._to_play, None
                    await self._play_here(turn, mailbox, helpers)
            elif self._rested:
                return
            else:
                if self._state.phase is Phase.IDLE:
                    self._begin_to_rest()
                await mailbox.wait()

    def _begin_to_rest(self) -> None:
        # Without a deadline of its own, which would cost as much as a turn's: whoever looks later sees how long it was.
        self._resting_since = trio.current_time()
        if not self._watched and self._around.later is not None:
            self._watched = True
            self._around.later.put(self._look_in)

    def _look_in(self) -> None:
        """Some time after it lay down to rest: is it still resting?"""
        self._watched = False
        if self._mailbox is None or self._state.phase is not Phase.IDLE:
            return
        if trio.current_time() - self._resting_since >= self._around.linger:
            self._rested = True
            self._mailbox.wake()
        elif self._around.later is not None:
            self._watched = True
            self._around.later.put(self._look_in)

    def _read(self, message: Message) -> None:
        if isinstance(message, TurnRequested) and self._is_known(message):
            # A caller that repeats itself hears again what it was told, or should have been.
            message = TurnAwaited(message.turn_id, message.asker)
        before = self._state.phase
        self._state, effects = step(self._state, message)
        for effect in effects:
            self._carry_out(effect)
        if self._around.lookout.gallery.anyone and self._state.phase is not before:
            self._around.lookout.phase_changed(self.handle, self._state.phase.value)
        if isinstance(message, CallerGone):
            self._forget_reply(message.asker)
        if self.idle or self.parked:
            self._around.settled(self)

    def _is_known(self, message: TurnRequested) -> bool:
        return not message.fresh and self._around.journal.find(self.handle, message.turn_id) is not None

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case StartTurn(request):
                self._turn = self._to_play = self._new_turn(request)
                self._around.lookout.turn_started(self.handle, self._turn)
            case ResumeTurn(_, answers) if self._turn is not None:
                self._turn.resume(answers)
            case CancelTurn(_, reason) if self._turn is not None:
                self._turn.stop(reason)
            case CommitTurn(_, outcome):
                self._commit(outcome)
            case Tell(asker, heard):
                self._tell(asker, heard)
            case Recall(asker, turn_id):
                record = self._around.journal.find(self.handle, turn_id)
                self._tell(asker, record.outcome if record else Failed(TurnNotFound(turn_id)))

    def _commit(self, outcome: Outcome) -> None:
        turn = self._turn
        assert turn is not None
        order, seconds = turn.order, trio.current_time() - turn.began
        self._around.journal.commit(
            TurnRecord(self.handle, turn.id, outcome, kind_of(order), name_of(order), turn.began, seconds)
        )
        self._turn = None
        self._around.lookout.turn_ended(self.handle, turn, outcome, seconds)

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
        if self._around.lookout.gallery.anyone:
            self._around.lookout.turn_reported(self.handle, self._state.turn_id, event)

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

    async def _play_here(self, turn: RunningTurn, mailbox: Mailbox[Message], helpers: trio.Nursery) -> None:
        """Play a turn in the actor's own task; should a message come meanwhile, another reads it.

        Most turns are over before anybody else says a word, and never need the other one.
        """
        untouched = contextvars.copy_context()
        stand_in = _StandIn(self._read, mailbox, helpers)
        mailbox.when_unread = stand_in.come
        try:
            outcome = await self._perform(turn)
        finally:
            mailbox.when_unread = None
            stand_in.go()
        thread_busy = turn.crew.busy
        mailbox.send_nowait(TurnFinished(turn.id, outcome, thread_busy))
        if thread_busy:
            _start_clean(helpers, _await_thread, turn, mailbox)
        if contextvars.copy_context() != untouched:
            # What the workflow left in context variables is not for its next turn. It takes effect with the next step.
            trio.lowlevel.current_task().context = untouched
            await trio.lowlevel.cancel_shielded_checkpoint()

    async def _perform(self, turn: RunningTurn) -> Outcome:
        """Whatever the workflow does, this ends in an outcome."""
        if turn.span is not None:
            turn.span.enter()
        try:
            with turn.scope:
                outcome: Outcome = Finished(await _play(self._workflow, turn.order, turn))
        except (Exception, SystemExit, BaseExceptionGroup) as error:
            outcome = Failed(self._fault(error, turn))
        if turn.scope.cancelled_caught:
            outcome = Failed(turn.stop_reason or TurnTimedOut(turn.id, turn.timeout))
        return outcome

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
        self._mailbox = Mailbox(capacity)
        self._around.start(self)

    def _lie_down(self, ending: GreenroomError) -> None:
        for reply in self._open_replies or ():
            reply.fail(ending)
        if self._turn is not None and self._turn.span is not None:
            self._turn.span.end(ending.name)
        self._mailbox = self._open_replies = self._turn = self._to_play = None


class _StandIn:
    """Reads the mailbox of an actor that is on stage itself. Has a task only from the first message on."""

    __slots__ = ("_helpers", "_mailbox", "_read", "_scope")

    def __init__(self, read: Callable[[Message], None], mailbox: Mailbox[Message], helpers: trio.Nursery) -> None:
        self._read = read
        self._mailbox = mailbox
        self._helpers = helpers
        self._scope: trio.CancelScope | None = None

    def come(self) -> None:
        self._scope = trio.CancelScope()
        _start_clean(self._helpers, self._run, self._scope)

    def go(self) -> None:
        """From here on somebody else reads."""
        if self._scope is not None:
            self._scope.cancel()

    async def _run(self, scope: trio.CancelScope) -> None:
        with scope:
            while not scope.cancel_called:
                if self._mailbox:
                    self._read(self._mailbox.take())
                else:
                    await self._mailbox.wait()


def _start_clean(helpers: trio.Nursery, function: Callable[..., Awaitable[None]], *args: Any) -> None:
    """A task of the actor's, with nothing of the context of whoever made it necessary."""
    contextvars.Context().run(helpers.start_soon, function, *args)


async def _await_thread(turn: RunningTurn, mailbox: Mailbox[Message]) -> None:
    await turn.crew.wait_until_returned()
    mailbox.send_nowait(ThreadReturned(turn.id))


async def _play(workflow: WorkflowSession, order: Order, turn: Turn) -> Result:
    match order:
        case CallTool():
            return await workflow.call_tool(order, turn)
        case GetPrompt():
            return await workflow.get_prompt(order, turn)
        case _:
            return await workflow.read_resource(order, turn)

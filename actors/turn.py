"""A turn while it runs: what the workflow is handed, and the scope that ends it.

It implements the workflow port's `Turn`. It belongs to one session actor, lives in a child task of it, and
speaks to it through two functions: `tell` puts a message into the mailbox, `publish` shows an event to whoever
watches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import trio

from greenroom.actors.messages import InputRequested, InputWithdrawn, Message, TurnRequested
from greenroom.actors.threads import Crew
from greenroom.config.errors import GreenroomError, MissingClientCapability, UnansweredQuestion
from greenroom.workflow.events import Change, TurnEvent
from greenroom.workflow.port import Caller
from greenroom.workflow.questions import Answer, Answers, Questions, accepts, check
from greenroom.workflow.spans import TurnSpan

T = TypeVar("T")


class RunningTurn:
    def __init__(
        self,
        request: TurnRequested,
        crew: Crew,
        *,
        input_timeout: float,
        tell: Callable[[Message], None],
        publish: Callable[[TurnEvent], None],
        announce: Callable[[Change], None],
    ) -> None:
        self.id = request.turn_id
        self.order = request.order
        self.parent = request.parent
        self.span: TurnSpan | None = None
        self.caller: Caller = request.caller
        self.timeout = request.timeout
        self.began = trio.current_time()
        self.scope = trio.CancelScope(deadline=self.began + request.timeout)
        self.stop_reason: GreenroomError | None = None
        self.crew = crew
        self._at_hand: dict[str, Answer] = dict(request.answers)
        self._given: Mapping[str, Answer] = {}
        self._asking: trio.Lock | None = None
        self._answered: trio.Event | None = None
        self._input_timeout = input_timeout
        self._tell = tell
        self._publish = publish
        self._announce = announce

    # --- for the workflow ----------------------------------------------------------------------------------

    def report(self, event: TurnEvent) -> None:
        self._publish(event)

    def announce(self, change: Change) -> None:
        self._announce(change)

    async def run_blocking(self, function: Callable[..., T], *args: Any) -> T:
        return await self.crew.run(function, *args)

    async def ask(self, questions: Questions) -> Answers:
        unable = sorted({q.needs.value for q in questions.values() if q.needs not in self.caller.abilities})
        if unable:
            raise MissingClientCapability(*unable)
        for question in questions.values():
            check(question)
        # One set of questions at a time: there is one client, and one place in the session where a turn waits.
        self._asking = self._asking or trio.Lock()
        async with self._asking:
            # An answer that came along is for the first question of its name, not for every one.
            fitting = {
                key: self._at_hand.pop(key) for key, q in questions.items() if accepts(q, self._at_hand.get(key))
            }
            unanswered = {key: q for key, q in questions.items() if key not in fitting}
            return {**fitting, **(await self._ask_the_client(unanswered) if unanswered else {})}

    # --- for the actor -------------------------------------------------------------------------------------

    def resume(self, answers: Mapping[str, Answer]) -> None:
        self._given = answers
        if self._answered is not None:
            self._answered.set()

    def stop(self, reason: GreenroomError) -> None:
        if self.stop_reason is None:
            self.stop_reason = reason
        self.scope.cancel()

    # --- inside --------------------------------------------------------------------------------------------

    async def _ask_the_client(self, questions: Questions) -> Answers:
        left = self.scope.deadline - trio.current_time()
        self._answered = trio.Event()
        # The turn's own clock stands still while a human thinks; theirs runs instead.
        self.scope.deadline = trio.current_time() + self._input_timeout
        try:
            self._tell(InputRequested(self.id, questions))
            await self._answered.wait()
        finally:
            if not self._answered.is_set():
                self._give_up()
            self._answered = None
            if not self.scope.cancel_called:
                self.scope.deadline = trio.current_time() + left
        return {key: self._given[key] for key in questions}

    def _give_up(self) -> None:
        """Nobody answered in time, or the workflow did not want to wait so long."""
        if not self.scope.cancel_called:
            self._tell(InputWithdrawn(self.id))
        elif self.stop_reason is None:
            self.stop_reason = UnansweredQuestion(self.id)

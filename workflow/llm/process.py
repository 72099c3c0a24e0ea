"""The language model port on top of the child process: the only way from this server to a provider.

`LlmProcess.run` is a part of the server that lives until it is cancelled and owns the child, which is started by the
first call and not before: litellm costs seconds and a hundred megabytes, and is never imported here. `complete` may be
called from any task at any time, and does what takes more than one message to the child: waiting for a place, trying
again, asking the model to mend its answer, giving up in time. One life of the child is a `link`.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import trio

from greenroom.config.settings import Settings
from greenroom.workflow.llm.errors import LlmError, LlmRefused, LlmTimedOut, LlmUnavailable
from greenroom.workflow.llm.framing import FrameTooLarge, encode
from greenroom.workflow.llm.link import COMMAND, Ending, Link, Lost
from greenroom.workflow.llm.port import Completion, Delta, Purpose, Request
from greenroom.workflow.llm.retries import Failure, pause_before, verdict
from greenroom.workflow.llm.routes import Route, Routes
from greenroom.workflow.llm.tally import CallTally
from greenroom.workflow.llm.wire import arguments, completion, mended, scrubbed
from greenroom.workflow.spans import CURRENT

log = logging.getLogger(__name__)

_LONGEST_REST = 60.0


@attrs.frozen
class Limits:
    """How many, how long. Times are in seconds."""

    max_calls: int = 64
    call_timeout: float = 120.0
    """For one `complete`, whatever it takes: the start of the process, every try, every pause."""
    start_timeout: float = 60.0
    tries: int = 3


@attrs.define
class _Errand:
    """One `complete` on its way."""

    request: Request
    route: Route
    on_delta: Callable[[Delta], None] | None
    calls: int = 0

    def pass_on(self, text: str) -> None:
        if self.on_delta is not None:
            self.on_delta(Delta(text, self.calls))


class LlmProcess:
    def __init__(
        self,
        routes: Routes,
        limits: Limits | None = None,
        *,
        command: Sequence[str] = COMMAND,
        jitter: Callable[[], float] = random.random,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.limits = limits or Limits()
        self.tally = CallTally()
        self._routes = routes
        self._command = command
        self._jitter = jitter
        self._wall_clock = wall_clock
        self._keys = tuple(secret.reveal() for secret in routes.secrets)
        self._places = trio.CapacityLimiter(self.limits.max_calls)
        self._running = False
        self._link: Link | None = None
        self._wanted, self._changed = trio.Event(), trio.Event()
        self._falls = 0
        """How many processes in a row have ended without an answer."""
        self._rests_until = -math.inf
        self._last_ending = Ending("it was never started")

    @classmethod
    def from_settings(cls, settings: Settings, *, proxy_base: str | None, limits: Limits | None = None) -> LlmProcess:
        return cls(Routes.from_settings(settings, proxy_base=proxy_base), limits)

    @property
    def pid(self) -> int | None:
        """Of the child, while there is one that can be called."""
        return self._link.pid if self._link is not None and self._link.open else None

    # --- the child's life --------------------------------------------------------------------------------------------

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Live until cancelled. A child that dies is replaced when the next call wants one."""
        self._running = True
        task_status.started()
        try:
            while True:
                await self._wanted.wait()
                self._wanted = trio.Event()
                await self._one_life()
        finally:
            self._running = False
            self._tell()

    async def _one_life(self) -> None:
        started = trio.current_time()
        link = Link(self._command, start_timeout=self.limits.start_timeout, clean=self._without_keys)

        def ready() -> None:
            took = round((trio.current_time() - started) * 1000)
            log.info(
                "language model process ready", extra={"pid": link.pid, "litellm": link.version, "duration_ms": took}
            )
            self._tell()

        self._link = link
        ending = await link.run(ready)
        self._link = None
        self._falls = 1 if link.answered else self._falls + 1
        rest = 0.0 if self._falls == 1 and link.version is not None else min(2.0 ** (self._falls - 1), _LONGEST_REST)
        self._rests_until = trio.current_time() + rest
        self._last_ending = ending
        detail = self._without_keys(ending.unready) if ending.unready is not None else None
        log.error("language model process ended", extra={"reason": ending.reason, "detail": detail, "rest": rest})
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    def _without_keys(self, text: str) -> str:
        return scrubbed(text, self._keys)

    # --- calls -------------------------------------------------------------------------------------------------------

    def configured(self, purpose: Purpose) -> bool:
        return self._routes.missing(purpose) is None

    async def complete(self, request: Request, *, on_delta: Callable[[Delta], None] | None = None) -> Completion:
        errand = _Errand(request, self._routes.route(request.purpose), on_delta)
        recorder = CURRENT.get()
        if recorder is None:
            return await self._complete(errand)
        role, model = request.purpose.name.lower(), errand.route.model
        facts = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, "greenroom.llm.role": role}
        with recorder.step(f"chat {model}", facts) as step:
            answer = await self._complete(errand)
            usage = answer.usage
            step.note(
                {
                    "gen_ai.usage.input_tokens": usage.prompt_tokens,
                    "gen_ai.usage.output_tokens": usage.completion_tokens,
                }
            )
            return answer

    async def _complete(self, errand: _Errand) -> Completion:
        request = errand.request
        started = trio.current_time()
        try:
            with trio.move_on_after(self.limits.call_timeout):
                async with self._places:
                    answer = await self._usable(errand)
                self.tally.note(request.purpose, "completed", trio.current_time() - started)
                self._log_success(errand, answer, started)
                return answer
            if self._link is not None and self._link.open:
                self._link.suspect()
            raise LlmTimedOut(request.purpose, self.limits.call_timeout)
        except trio.Cancelled:
            self.tally.note(request.purpose, "cancelled", trio.current_time() - started)
            raise
        except LlmError as error:
            self.tally.note(request.purpose, error.name, trio.current_time() - started)
            log.warning("language model call failed", extra={"error": error.name, **self._facts(errand, started)})
            raise

    async def _usable(self, errand: _Errand) -> Completion:
        """An answer that is what was asked for; the model may correct itself once."""
        request = errand.request
        for _ in range(2):
            answer = completion(await self._answer(errand, request), request)
            if isinstance(answer, Completion):
                return answer
            log.info("language model answer is unusable", extra={"purpose": request.purpose.name.lower()})
            request = mended(request, answer)
        raise LlmRefused(request.purpose, "it did not keep to the form that was asked for. Trying again may help.")

    async def _answer(self, errand: _Errand, request: Request) -> dict[str, Any]:
        """An answer, after as many tries as it takes and the time allows."""
        tries = 0
        while True:
            outcome = await self._once(errand, request)
            if not isinstance(outcome, Failure):
                return outcome
            tries += 1
            self._log_failure(errand, outcome, tries)
            pause = pause_before(tries, outcome, self._jitter(), self._wall_clock())
            in_time = trio.current_time() + pause < trio.current_effective_deadline()
            if not (outcome.passing and in_time and tries < self.limits.tries):
                raise verdict(outcome, request.purpose, errand.route, self.limits.call_timeout, self._wall_clock())
            await trio.sleep(pause)

    async def _once(self, errand: _Errand, request: Request) -> dict[str, Any] | Failure:
        link = await self._ready_link(request.purpose)
        errand.calls += 1
        with link.call() as call:
            wanted = arguments(request, errand.route, self.limits.call_timeout)
            try:
                frame = encode({"call": call.number, "arguments": wanted})
            except FrameTooLarge:
                raise LlmRefused(request.purpose, "the conversation is too large to be sent.") from None
            try:
                message = await call.wait(errand.pass_on) if await link.send(frame) else Lost()
            finally:
                if call.result is None:
                    await link.cancel(call)
        if isinstance(message, Lost):
            raise LlmUnavailable(request.purpose, "the process that talks to it stopped in the middle. Try again.")
        return Failure.from_wire(message["error"]) if "error" in message else message["answer"]

    async def _ready_link(self, purpose: Purpose) -> Link:
        while self._link is None or not self._link.open:
            if not self._running:
                raise LlmUnavailable(purpose, "the server is starting or stopping. Try again in a moment.")
            rest = self._rests_until - trio.current_time()
            if rest > 0:
                raise LlmUnavailable(purpose, self._why_resting(), retry_after=math.ceil(rest))
            self._wanted.set()
            await self._changed.wait()
        return self._link

    def _why_resting(self) -> str:
        if self._last_ending.unready is not None:
            return (
                f"the process that talks to it does not start ({self._last_ending.reason}). The operator should run "
                "`pip install litellm` in the server's environment, or look into the server's log."
            )
        return "the process that talks to it keeps stopping. Try again in a moment; the server's log says more."

    # --- the log: who, what, how long and how much, never a prompt or a key ------------------------------------------

    def _facts(self, errand: _Errand, started: float) -> dict[str, Any]:
        return {
            "purpose": errand.request.purpose.name.lower(),
            "model": errand.route.model,
            "duration_ms": round((trio.current_time() - started) * 1000),
            "calls": errand.calls,
        }

    def _log_success(self, errand: _Errand, answer: Completion, started: float) -> None:
        more = {**attrs.asdict(answer.usage), "finish_reason": answer.finish_reason}
        log.info("language model call", extra={**self._facts(errand, started), **more})

    def _log_failure(self, errand: _Errand, failure: Failure, tries: int) -> None:
        text = scrubbed(failure.text, self._keys, errand.request)
        more = {"kind": failure.kind, "status": failure.status, "provider_said": text, "tries": tries}
        log.warning("language model provider failed", extra={"purpose": errand.request.purpose.name.lower(), **more})

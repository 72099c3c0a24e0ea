"""What to do about a call that failed: try again, when, or give up, with which sentence. Pure.

litellm makes a status of whatever happened: a connection that broke is a 500 to it, a client's timeout a 408.
"""

from __future__ import annotations

import email.utils
import math
from collections.abc import Mapping
from typing import Any

import attrs

from greenroom.workflow.llm.errors import LlmError, LlmRefused, LlmTimedOut, LlmUnavailable
from greenroom.workflow.llm.port import Purpose
from greenroom.workflow.llm.routes import Route

RATE_LIMITED = 429
TIMED_OUT = 408
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0


@attrs.frozen
class Failure:
    """A call that the provider, or the way to it, did not answer. `text` is the provider's and may quote the prompt."""

    kind: str
    status: int | None = None
    retry_after: str | None = None
    text: str = attrs.field(default="", repr=False)

    @classmethod
    def from_wire(cls, error: Mapping[str, Any]) -> Failure:
        return cls(error["kind"], error.get("status"), error.get("retry_after"), error.get("text", ""))

    @property
    def passing(self) -> bool:
        """Whether the same call may well succeed later."""
        return self.status is not None and (self.status == RATE_LIMITED or self.status >= 500)


def pause_before(tries: int, failure: Failure, jitter: float, wall_clock: float) -> float:
    """Seconds to wait after this many tries. What the provider asks for is never cut short.

    `jitter`, between 0 and 1, spreads the calls that failed together; `wall_clock` is for a date in Retry-After.
    """
    pause = min(_FIRST_PAUSE * 2.0 ** (tries - 1), _LONGEST_PAUSE)
    return max(asked_for(failure.retry_after, wall_clock), pause * (0.5 + jitter / 2))


def asked_for(retry_after: str | None, wall_clock: float) -> float:
    """A Retry-After header in seconds: it is a number or a date, and 0 if it is neither."""
    if retry_after is None:
        return 0.0
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(retry_after).timestamp() - wall_clock
        except ValueError:
            return 0.0
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0


def verdict(failure: Failure, purpose: Purpose, route: Route, timeout: float, wall_clock: float) -> LlmError:
    """What the caller is told when there is nothing left to try."""
    if failure.status == TIMED_OUT:
        return LlmTimedOut(purpose, timeout)
    if failure.passing:
        why = (
            "the provider is getting too many requests. Try again in a moment."
            if failure.status == RATE_LIMITED
            else "the provider failed or cannot be reached. Try again in a moment."
        )
        later = math.ceil(asked_for(failure.retry_after, wall_clock))
        return LlmUnavailable(purpose, why, retry_after=max(later, 1))
    return LlmRefused(purpose, _reason(failure, purpose, route))


def _reason(failure: Failure, purpose: Purpose, route: Route) -> str:
    match failure.kind, failure.status:
        case "ContextWindowExceededError", _:
            return "the conversation is too long for it. Start a new conversation, or ask with less text."
        case "ContentPolicyViolationError", _:
            return "its provider's content policy forbids the request. Ask in another way."
        case _, 401 | 403:
            return f"its provider did not accept the key. The operator should check {route.key_variable}."
        case _, 404:
            return f"its provider does not know the model. The operator should check {purpose.model_variable}."
        case "FrameTooLarge", _:
            return "the answer is too large to be passed on."
        case _:
            return "its provider rejected the request. The details are in the server's log."

"""What can go wrong between a workflow and a language model, in sentences for the reader on the other side.

No key, no prompt and no word of the provider's is in any of them: what a provider said goes to the log.
"""

from __future__ import annotations

from greenroom.config.errors import GreenroomError
from greenroom.workflow.llm.port import Purpose


class LlmError(GreenroomError):
    """Any of the errors below."""

    code, name = 500, "llm_error"

    def __init__(self, purpose: Purpose, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message, purpose=purpose.name.lower(), retry_after=retry_after)
        self.purpose = purpose


class LlmNotConfigured(LlmError):
    """There is nobody to ask, and there will not be until the operator changes that."""

    code, name = 503, "llm_not_configured"

    def __init__(self, purpose: Purpose, missing: str) -> None:
        super().__init__(
            purpose, f"The language model for {purpose.value} is not configured: set {missing} and restart the server."
        )


class LlmUnavailable(LlmError):
    """Not now. `retry_after` is in seconds."""

    code, name = 503, "llm_unavailable"

    def __init__(self, purpose: Purpose, why: str, *, retry_after: int = 1) -> None:
        super().__init__(
            purpose, f"The language model for {purpose.value} is not available: {why}", retry_after=retry_after
        )
        self.retry_after = retry_after


class LlmRefused(LlmError):
    """Asking again will not help before something else has changed."""

    code, name = 500, "llm_refused"

    def __init__(self, purpose: Purpose, why: str) -> None:
        super().__init__(purpose, f"The language model for {purpose.value} gave no usable answer: {why}")


class LlmTimedOut(LlmError):
    code, name = 504, "llm_timed_out"

    def __init__(self, purpose: Purpose, seconds: float) -> None:
        super().__init__(
            purpose,
            f"The language model for {purpose.value} did not answer within {seconds:g} seconds. "
            "Try again, or ask for less at once.",
        )

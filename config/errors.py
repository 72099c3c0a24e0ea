"""The one tree of errors that a client may be told about.

Each class carries its wire code, a stable name and a sentence that says what to do next. The border
(`transport`) maps them once: to an MCP tool result with `isError`, or to a JSON-RPC error for the few that
are faults of protocol. Anything that is not in this tree is a bug: it is logged with its stack trace and the
client is told `InternalFault` and nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class GreenroomError(Exception):
    """An error whose text was written for the reader on the other side."""

    code: ClassVar[int] = 500
    name: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data: Mapping[str, Any] = {key: value for key, value in data.items() if value is not None}


class SessionNotFound(GreenroomError):
    """No such session for this caller: unknown, expired and foreign handles look the same on purpose."""

    code, name = 404, "session_not_found"

    def __init__(self) -> None:
        super().__init__(
            "There is no such session. Call the tool `initialize` and pass the session_id that it returns."
        )


class TurnNotFound(GreenroomError):
    code, name = 404, "turn_not_found"

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"This session has no turn {turn_id!r}: it is unknown, or too old to be kept.", turn_id=turn_id
        )


class TurnInProgress(GreenroomError):
    """One turn at a time: the session is on stage already."""

    code, name = 409, "turn_in_progress"

    def __init__(self, turn_id: str, *, awaiting_input: bool = False) -> None:
        doing = "is waiting for an answer" if awaiting_input else "is still running"
        super().__init__(
            f"Turn {turn_id} {doing} in this session. Wait for it, or stop it with `cancel_turn`, then try again.",
            turn_id=turn_id,
        )


class TurnStopping(GreenroomError):
    """The turn is over, but its thread has not come back yet and must not be joined by a second one."""

    code, name = 409, "turn_stopping"

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"Turn {turn_id} was stopped, but its command has not returned yet. Try again in a moment.",
            turn_id=turn_id,
        )


class TurnCancelled(GreenroomError):
    code, name = 409, "turn_cancelled"

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"Turn {turn_id} was cancelled before it finished.", turn_id=turn_id)


class LateAnswer(GreenroomError):
    """An answer to a question that nobody is asking any more."""

    code, name = 409, "late_answer"

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"Turn {turn_id} is not waiting for this answer any more. Make the original call again.",
            turn_id=turn_id,
        )


class InvalidArguments(GreenroomError):
    code, name = 422, "invalid_arguments"


class InternalFault(GreenroomError):
    """What a client hears of an exception that was not written for it; the log has the rest."""

    def __init__(self, turn_id: str | None = None) -> None:
        super().__init__(
            "The server failed while doing this. The details are in the server's log; trying again may help.",
            turn_id=turn_id,
        )


class SessionCrashed(GreenroomError):
    code, name = 500, "session_crashed"

    def __init__(self) -> None:
        super().__init__("This session ended unexpectedly. Call the tool `initialize` to start another.")


class Overloaded(GreenroomError):
    """Refused rather than queued out of sight. `retry_after` is in seconds."""

    code, name = 503, "overloaded"

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message, retry_after=retry_after)
        self.retry_after = retry_after


class Draining(Overloaded):
    name = "draining"

    def __init__(self) -> None:
        super().__init__("The server is shutting down. Try again in a few seconds.", retry_after=5)


class TurnTimedOut(GreenroomError):
    code, name = 504, "turn_timed_out"

    def __init__(self, turn_id: str, seconds: float, *, deferred: bool = False, session_id: str | None = None) -> None:
        then = (
            "It goes on running: ask for its result with `get_turn`, or stop it with `cancel_turn`."
            if deferred
            else "It was stopped and nothing of it was kept. Try again with a larger timeout_seconds, or with "
            'on_timeout "defer".'
        )
        super().__init__(
            f"Turn {turn_id} did not finish within {seconds:g} seconds. {then}",
            turn_id=turn_id,
            deferred=deferred,
            session_id=session_id,
        )


class UnansweredQuestion(GreenroomError):
    code, name = 504, "unanswered_question"

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"Turn {turn_id} asked a question that got no usable answer, and was stopped.", turn_id=turn_id
        )


class ProtocolFault(GreenroomError):
    """A fault of the request itself, which no model can mend: a JSON-RPC error rather than a result."""


class UnknownName(ProtocolFault):
    """A tool or prompt that is not on the bill."""

    code, name = 404, "unknown_name"

    def __init__(self, kind: str, wanted: str) -> None:
        super().__init__(f"Unknown {kind}: {wanted}")


class ResourceNotFound(ProtocolFault):
    code, name = 404, "resource_not_found"

    def __init__(self, uri: str) -> None:
        super().__init__("Resource not found", uri=uri)
        self.uri = uri


class InvalidPromptArguments(ProtocolFault):
    code, name = 422, "invalid_prompt_arguments"


class MissingClientCapability(ProtocolFault):
    """The turn needs something of the client that the client did not say it can do."""

    code, name = 400, "missing_client_capability"

    def __init__(self, *capabilities: str) -> None:
        listed = ", ".join(capabilities)
        super().__init__(f"This needs a client that declares: {listed}")
        self.capabilities = capabilities

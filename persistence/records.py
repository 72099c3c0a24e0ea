"""What is kept, as frozen values.

A record says what was, in terms of JSON, and knows nothing of how it is kept: keys and files are the business of the
stores, versions that of `codec`. What a workflow was given and what it answered is opaque here. Times are whole
milliseconds since 1970.
"""

from __future__ import annotations

import enum
import hashlib
import math
from collections.abc import Iterable
from typing import Any

import attrs

from greenroom.persistence.errors import UnstorableValue

LATEST_TIME = 2**63 - 1


def _identifier(record: Any, field: attrs.Attribute[Any], value: object) -> None:
    # Two lone surrogates in a row come back from JSON as one character: an id must come back as it was.
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise UnstorableValue(f"{_called(record, field)} must be a text without lone surrogates.")


def _text(record: Any, field: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise UnstorableValue(f"{_called(record, field)} must be a text.")


def _whole(record: Any, field: attrs.Attribute[Any], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LATEST_TIME:
        raise UnstorableValue(f"{_called(record, field)} must be a whole number from 0 to {LATEST_TIME}.")


def _called(record: Any, field: attrs.Attribute[Any]) -> str:
    return f"{type(record).__name__}.{field.name}"


def _as_tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(values)


class TurnStatus(enum.StrEnum):
    COMPLETED = "completed"
    AWAITING_USER = "awaiting_user"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number too large to be a float
        return False


@attrs.frozen(kw_only=True)
class Conversation:
    id: str = attrs.field(validator=_identifier)
    topic: str = attrs.field(default="", validator=_text)
    """Unique among its user's, see `topics`; empty while the conversation has no name."""
    summary: str = attrs.field(default="", validator=_text)
    created_at: int = attrs.field(validator=_whole)
    updated_at: int = attrs.field(validator=_whole)
    """When its newest turn ended, or when it was made. A name or feedback that comes later does not count."""
    turn_count: int = attrs.field(default=0, validator=_whole)
    """How many turns it was given, and so the number of the newest."""


@attrs.frozen(kw_only=True)
class Feedback:
    """What a user thought of a turn: a score, words, or both."""

    binary_or_numeric_score: bool | float | None = attrs.field(default=None)
    nl_feedback: str | None = attrs.field(default=None)
    given_at: int = attrs.field(validator=_whole)

    @binary_or_numeric_score.validator
    def _a_score(self, _: Any, value: object) -> None:
        if not (value is None or (isinstance(value, int | float) and _is_finite(value))):
            raise UnstorableValue("binary_or_numeric_score must be true, false or a finite number.")

    @nl_feedback.validator
    def _words(self, _: Any, value: object) -> None:
        if not (value is None or isinstance(value, str)):
            raise UnstorableValue("nl_feedback must be a text.")
        if value is None and self.binary_or_numeric_score is None:
            raise UnstorableValue("Give binary_or_numeric_score, nl_feedback, or both.")


@attrs.frozen(kw_only=True)
class Turn:
    id: str = attrs.field(validator=_identifier)
    """Unique among all turns of its user."""
    conversation_id: str = attrs.field(validator=_identifier)
    number: int = attrs.field(default=0, validator=_whole)
    """Its place in the conversation, from 1. The store gives it."""
    tool: str = attrs.field(validator=_text)
    input: Any = None
    outputs: Any = None
    traces: tuple[Any, ...] = attrs.field(default=(), converter=_as_tuple)
    status: TurnStatus = attrs.field(default=TurnStatus.COMPLETED, converter=TurnStatus)
    started_at: int = attrs.field(validator=_whole)
    duration_ms: int = attrs.field(default=0, validator=_whole)
    feedback: Feedback | None = None

    @property
    def ended_at(self) -> int:
        return min(self.started_at + self.duration_ms, LATEST_TIME)


@attrs.frozen(kw_only=True)
class SessionHandle:
    """What it takes to bring a session back. The handle itself is a secret, and is not in here."""

    digest: str = attrs.field(validator=attrs.validators.matches_re(r"[0-9a-f]{64}"))
    user_id: str = attrs.field(validator=_identifier)
    conversation_id: str | None = None
    workflow_name: str = attrs.field(validator=_text)
    created_at: int = attrs.field(validator=_whole)
    last_used_at: int = attrs.field(validator=_whole)
    state: Any = None
    """Whatever the workflow needs to go on, as JSON."""


def handle_digest(handle: str) -> str:
    """The only form in which a handle is written down. Any text has one, so that a stranger's is merely unknown."""
    return hashlib.sha256(handle.encode("utf-8", "surrogatepass")).hexdigest()

"""What can go wrong with what is kept, in the words of the reader on the other side.

A client reads `message`, which names no file. Whoever runs the server reads `detail`, which does, and which says the
way out: it is logged where the error is made, and is a note of the exception wherever that is shown with its stack.
"""

from __future__ import annotations

import logging
from typing import Any, TypeVar

from greenroom.config.errors import GreenroomError

log = logging.getLogger(__name__)


class StoreError(GreenroomError):
    """The store could not do what was asked. What was kept before is still kept."""

    code, name = 500, "store_error"

    def __init__(self, message: str, *, detail: str = "", **data: Any) -> None:
        super().__init__(message, **data)
        self.detail = detail
        if detail:
            self.add_note(detail)


E = TypeVar("E", bound=StoreError)


def logged(error: E) -> E:
    """For whoever is about to raise it."""
    log.error("%s: %s", error.name, error.detail)
    return error


class StoreUnavailable(StoreError):
    """Not now. Trying again makes sense once the cause is gone."""

    code, name = 503, "store_unavailable"
    sentence = "Conversations cannot be kept or read right now. Nothing that was kept is lost; try again later."
    way_out = "See whether the disk works and whether the process may open more files, then try again."

    def __init__(self, detail: str = "") -> None:
        super().__init__(self.sentence, detail=f"{detail} {self.way_out}" if detail else "")


class StoreFull(StoreUnavailable):
    name = "store_full"
    sentence = (
        "The server's disk is full, so this was not kept. What was kept before can still be read; "
        "try again when the operator has made room."
    )
    way_out = "Make room on that disk; the server goes on by itself."


class StoreReadOnly(StoreUnavailable):
    name = "store_read_only"
    sentence = "The server may not write where conversations are kept. The operator has to allow it; then try again."
    way_out = "Give the server's user the right to write there, or mount the disk for writing."


class StoreLocked(StoreUnavailable):
    name = "store_locked"
    sentence = "These conversations are in use by another process of this server. Try again when it has stopped."
    way_out = "Stop the other process that has it open, or give each its own folder."


class StoreDamaged(StoreError):
    name = "store_damaged"
    way_out = "Stop the server and let the doctor repair it: `greenroom doctor --repair`."

    def __init__(self, detail: str = "") -> None:
        super().__init__(
            "What was kept here is damaged and cannot be read. The operator can repair it; nothing was overwritten.",
            detail=f"{detail} {self.way_out}" if detail else "",
        )


class StoreTooNew(StoreError):
    """Written by a later release. Refused rather than half understood."""

    name = "store_too_new"

    def __init__(self, detail: str = "") -> None:
        super().__init__(
            "What was kept here was written by a newer release of the server, and this one does not understand it.",
            detail=f"{detail} Run that release or a later one." if detail else "",
        )


class ConversationNotFound(StoreError):
    code, name = 404, "conversation_not_found"

    def __init__(self, conversation_id: str) -> None:
        super().__init__(
            f"There is no conversation {conversation_id!r}. `list_conversations` names those that there are.",
            conversation_id=conversation_id,
        )


class ConversationExists(StoreError):
    code, name = 409, "conversation_exists"

    def __init__(self, conversation_id: str) -> None:
        super().__init__(f"There is a conversation {conversation_id!r} already.", conversation_id=conversation_id)


class TurnIdTaken(StoreError):
    """The id belongs to a turn of another conversation, so this is not the same call made again."""

    code, name = 409, "turn_id_taken"

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"There is a turn {turn_id!r} in another conversation already.", turn_id=turn_id)


class NothingToRate(StoreError):
    code, name = 404, "nothing_to_rate"

    def __init__(self) -> None:
        super().__init__("There is no turn to give feedback on yet.")


class UnstorableValue(StoreError):
    """A value that no store can keep: not JSON, not Unicode, out of range."""

    code, name = 422, "unstorable_value"


class InvalidCursor(StoreError):
    code, name = 422, "invalid_cursor"

    def __init__(self) -> None:
        super().__init__("This cursor is not one that `list_conversations` gave. Start again without a cursor.")

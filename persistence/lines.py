"""The lines of an export: JSON objects that say what kind of record they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from greenroom.persistence import codec
from greenroom.persistence.errors import UnstorableValue
from greenroom.persistence.records import Conversation, Turn

_TYPE = "type"


@attrs.frozen
class Active:
    conversation_id: str


def conversation_line(conversation: Conversation) -> dict[str, Any]:
    return {_TYPE: "conversation", **codec.CONVERSATION.fields(conversation)}


def turn_line(turn: Turn) -> dict[str, Any]:
    return {_TYPE: "turn", **codec.TURN.fields(turn)}


def active_line(conversation_id: str) -> dict[str, Any]:
    return {_TYPE: "active", "conversation_id": conversation_id}


def read_line(line: Mapping[str, Any], place: int) -> Conversation | Turn | Active:
    """`place` is for the complaint alone."""
    fields = dict(line)
    try:
        match fields.pop(_TYPE, None):
            case "conversation":
                return codec.CONVERSATION.record(fields)
            case "turn":
                return codec.TURN.record(fields)
            case "active" if isinstance(fields.get("conversation_id"), str):
                return Active(fields["conversation_id"])
    except (codec.BadRecord, codec.NewerSchema) as error:
        raise UnstorableValue(f"Line {place} cannot be imported: {error}.") from error
    raise UnstorableValue(f"Line {place} cannot be imported: it is no conversation, turn or active conversation.")

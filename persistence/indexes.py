"""Which index entries a record has. What the store writes with a record, and what the doctor expects to find."""

from __future__ import annotations

from collections.abc import Mapping

from greenroom.persistence import keys
from greenroom.persistence.database import Changes
from greenroom.persistence.records import Conversation, SessionHandle, Turn
from greenroom.persistence.topics import fold

Entries = Mapping[bytes, bytes]


def of_conversation(conversation: Conversation) -> Entries:
    entries = {keys.by_time(conversation): b""}
    folded = fold(conversation.topic)
    if folded:
        entries[keys.by_topic(folded)] = keys.short(conversation.id)
    return entries


def of_turn(turn: Turn) -> Entries:
    return {keys.turn_by_id(turn.id): keys.turn(turn.conversation_id, turn.number)}


def of_handle(handle: SessionHandle) -> Entries:
    return {keys.by_last_use(handle): b"", keys.by_owner(handle): b""}


def move(changes: Changes, old: Entries, new: Entries) -> None:
    """From one set of entries to another, touching only what differs."""
    changes.deletes += [key for key in old if key not in new]
    changes.puts |= {key: value for key, value in new.items() if old.get(key) != value}

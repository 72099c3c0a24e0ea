"""What a database holds, held against what it should hold. Takes keys and values, returns values, reads no file.

Records are believed, indexes are not: from the records follow the index entries that there must be, and whatever else
is found is amiss. `contents` is the same database as it should be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

import attrs

from greenroom.persistence import codec, indexes, keys
from greenroom.persistence.codec import BadRecord, Kind, NewerSchema
from greenroom.persistence.records import Conversation, SessionHandle, Turn
from greenroom.persistence.topics import fold, free_topic

R = TypeVar("R")


class Census(Protocol):
    problems: Counter[str]
    """Sentences, and how often each is true."""
    too_new: bool
    """Some record is of a later release: nothing may be rewritten."""

    def add(self, pairs: Iterable[tuple[bytes, bytes]]) -> None: ...

    def close(self) -> None:
        """All pairs have been added: compare."""

    def contents(self) -> Mapping[bytes, bytes]: ...


class _Base:
    def __init__(self) -> None:
        self.problems: Counter[str] = Counter()
        self.too_new = False
        self._entries: dict[bytes, bytes] = {}

    def _read(self, kind: Kind[R], data: bytes) -> R | None:
        try:
            return kind.load(data)
        except NewerSchema as error:
            self.too_new = True
            self.problems[f"{error}"] += 1
        except BadRecord:
            self.problems[f"a {kind.name} cannot be understood"] += 1
        return None

    def _compare(self, expected: Mapping[bytes, bytes]) -> None:
        missing = sum(self._entries.get(key) != value for key, value in expected.items())
        stray = sum(key not in expected for key in self._entries)
        self.problems += Counter(
            {"an index entry is missing or wrong": missing, "an index entry points at nothing": stray}
        )


@attrs.define
class _Found:
    turns: int = 0
    highest: int = 0
    first_started: int = 0
    last_ended: int = 0


class UserCensus(_Base):
    def __init__(self) -> None:
        super().__init__()
        self.conversations: dict[str, Conversation] = {}
        self.turns: dict[str, Turn] = {}
        self._active: str | None = None
        self._found: dict[str, _Found] = {}

    @property
    def lost_turns(self) -> int:
        """Numbers that were given and have no turn."""
        return sum(
            max(conversation.turn_count, self._of(conversation.id).highest) - self._of(conversation.id).turns
            for conversation in self.conversations.values()
        )

    def add(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        for key, value in pairs:
            match key[:1]:
                case keys.CONVERSATION:
                    self._add_conversation(key, self._read(codec.CONVERSATION, value))
                case keys.TURN:
                    self._add_turn(key, self._read(codec.TURN, value))
                case keys.ACTIVE:
                    self._active = value.decode("utf-8", "replace")
                case letter if letter in keys.INDEXES:
                    self._entries[key] = value
                case keys.FORMAT:
                    pass
                case _:
                    self.problems["a key is of no known kind"] += 1

    def close(self) -> None:
        self._mend_conversations()
        if self._active is not None and self._active not in self.conversations:
            self.problems["the active conversation is none that there is"] += 1
            self._active = None
        self._compare(self._index())

    def contents(self) -> Mapping[bytes, bytes]:
        kept = {keys.conversation(each.id): codec.CONVERSATION.dump(each) for each in self.conversations.values()}
        kept |= {keys.turn(each.conversation_id, each.number): codec.TURN.dump(each) for each in self.turns.values()}
        if self._active is not None:
            kept[keys.ACTIVE] = self._active.encode()
        return {**kept, **self._index()}

    def _of(self, conversation_id: str) -> _Found:
        return self._found.setdefault(conversation_id, _Found())

    def _add_conversation(self, key: bytes, conversation: Conversation | None) -> None:
        if conversation is None:
            return
        if key != keys.conversation(conversation.id):
            self.problems["a conversation stands under a wrong key"] += 1
        self.conversations[conversation.id] = conversation

    def _add_turn(self, key: bytes, turn: Turn | None) -> None:
        if turn is None:
            return
        if key != keys.turn(turn.conversation_id, turn.number) or turn.id in self.turns:
            self.problems["a turn stands under a wrong key or twice"] += 1
            return
        self.turns[turn.id] = turn
        found = self._of(turn.conversation_id)
        found.first_started = min(found.first_started, turn.started_at) if found.turns else turn.started_at
        found.last_ended = max(found.last_ended, turn.ended_at)
        found.highest = max(found.highest, turn.number)
        found.turns += 1

    def _mend_conversations(self) -> None:
        for conversation_id, found in self._found.items():
            known = self.conversations.get(conversation_id)
            if known is None:
                self.problems["turns without their conversation"] += 1
                known = Conversation(id=conversation_id, created_at=found.first_started, updated_at=found.last_ended)
            elif known.turn_count < found.highest or known.updated_at < found.last_ended:
                self.problems["a conversation is behind its turns"] += 1
            self.conversations[conversation_id] = attrs.evolve(
                known,
                turn_count=max(known.turn_count, found.highest),
                updated_at=max(known.updated_at, found.last_ended),
            )
        taken: set[str] = set()
        for each in list(self.conversations.values()):
            topic = free_topic(each.topic, taken.__contains__)
            taken.add(fold(topic))
            if topic != each.topic:
                self.problems["a topic is there twice"] += 1
                self.conversations[each.id] = attrs.evolve(each, topic=topic)

    def _index(self) -> dict[bytes, bytes]:
        expected: dict[bytes, bytes] = {}
        for conversation in self.conversations.values():
            expected |= indexes.of_conversation(conversation)
        for turn in self.turns.values():
            expected |= indexes.of_turn(turn)
        return expected


class HandleCensus(_Base):
    def __init__(self) -> None:
        super().__init__()
        self.handles: dict[str, SessionHandle] = {}

    def add(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        for key, value in pairs:
            match key[:1]:
                case keys.HANDLE:
                    handle = self._read(codec.HANDLE, value)
                    if handle is not None:
                        self.handles[handle.digest] = handle
                case letter if letter in keys.HANDLE_INDEXES:
                    self._entries[key] = value
                case keys.FORMAT:
                    pass
                case _:
                    self.problems["a key is of no known kind"] += 1

    def close(self) -> None:
        self._compare(self._index())

    def contents(self) -> Mapping[bytes, bytes]:
        kept = {keys.handle(each.digest): codec.HANDLE.dump(each) for each in self.handles.values()}
        return {**kept, **self._index()}

    def _index(self) -> dict[bytes, bytes]:
        expected: dict[bytes, bytes] = {}
        for handle in self.handles.values():
            expected |= indexes.of_handle(handle)
        return expected

"""One user's conversations in a database: records, their indexes, and one atomic batch for each change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import attrs

from greenroom.config.errors import TurnNotFound
from greenroom.persistence import codec, indexes, keys
from greenroom.persistence.codec import BadRecord, Kind, NewerSchema
from greenroom.persistence.database import Changes, Database
from greenroom.persistence.errors import (
    ConversationExists,
    ConversationNotFound,
    NothingToRate,
    StoreDamaged,
    StoreTooNew,
    TurnIdTaken,
    logged,
)
from greenroom.persistence.lines import Active, active_line, conversation_line, read_line, turn_line
from greenroom.persistence.records import LATEST_TIME, Conversation, Feedback, Turn
from greenroom.persistence.store import Page
from greenroom.persistence.topics import free_topic

R = TypeVar("R")

_AT_ONCE = 100
"""How many records an export holds in memory."""


def load(kind: Kind[R], data: bytes, database: Database) -> R:
    """A record, or an error that says which file it stands in."""
    try:
        return kind.load(data)
    except NewerSchema as error:
        raise logged(StoreTooNew(f"{database.path}: {error}.")) from error
    except BadRecord as error:
        raise logged(StoreDamaged(f"{database.path}: {error}.")) from error


class Databases(Protocol):
    def database(self, user_id: str, *, create: bool = False) -> Database | None: ...


class SpeedictUserStore:
    """A name and a pool, no more: the database behind it may be closed and opened again between two calls."""

    __slots__ = ("_pool", "_user_id")

    def __init__(self, pool: Databases, user_id: str) -> None:
        self._pool = pool
        self._user_id = user_id

    # --- conversations -------------------------------------------------------------------------------------

    def create_conversation(
        self, conversation_id: str, *, at: int, topic: str = "", summary: str = "", activate: bool = False
    ) -> Conversation:
        if self.get_conversation(conversation_id) is not None:
            raise ConversationExists(conversation_id)
        made = Conversation(id=conversation_id, topic=topic, summary=summary, created_at=at, updated_at=at)
        return self._add(made, activate=activate)

    def get_conversation(self, conversation_id: str) -> Conversation | None:
        database = self._pool.database(self._user_id)
        data = database.get(keys.conversation(conversation_id)) if database else None
        return load(codec.CONVERSATION, data, database) if database and data is not None else None

    def list_conversations(self, limit: int = 10, cursor: str | None = None) -> Page:
        start = keys.place_of(cursor) if cursor is not None else None
        database = self._pool.database(self._user_id)
        if database is None or limit < 1:
            return Page(())
        # One more than a page tells whether there is another; the cursor's own place, if it still is one, is skipped.
        wanted = limit + 1 if start is None else limit + 2
        places = [key for key, _ in database.scan(keys.BY_TIME, start=start, limit=wanted) if key != start]
        page = tuple(self._listed(database, places[:limit]))
        return Page(page, keys.cursor_after(page[-1]) if page and len(places) > limit else None)

    def name_conversation(self, conversation_id: str, *, topic: str, summary: str) -> Conversation:
        database, old = self._existing(conversation_id)
        free = self._free_topic(database, topic, conversation_id)
        new = attrs.evolve(old, topic=free, summary=summary)
        changes = Changes()
        data = _put_conversation(changes, new, old)
        database.write(changes)
        return codec.CONVERSATION.load(data)

    def delete_conversation(self, conversation_id: str) -> bool:
        database = self._pool.database(self._user_id)
        conversation = self.get_conversation(conversation_id)
        if database is None or conversation is None:
            return False
        changes = Changes(deletes=[keys.conversation(conversation_id), *indexes.of_conversation(conversation)])
        for key, data in database.scan(keys.turns(conversation_id)):
            changes.deletes += [key, *indexes.of_turn(load(codec.TURN, data, database))]
        if database.get(keys.ACTIVE) == conversation_id.encode():
            changes.deletes.append(keys.ACTIVE)
        database.write(changes)
        return True

    def active_conversation(self) -> Conversation | None:
        database = self._pool.database(self._user_id)
        active = database.get(keys.ACTIVE) if database else None
        return self.get_conversation(active.decode("utf-8", "replace")) if active is not None else None

    def activate_conversation(self, conversation_id: str) -> Conversation:
        database, conversation = self._existing(conversation_id)
        database.write(Changes({keys.ACTIVE: conversation_id.encode()}))
        return conversation

    # --- turns ---------------------------------------------------------------------------------------------

    def append_turn(self, turn: Turn) -> Turn:
        database, conversation = self._existing(turn.conversation_id)
        known = self.get_turn(turn.id)
        if known is not None:
            if known.conversation_id != turn.conversation_id:
                raise TurnIdTaken(turn.id)
            return known
        return self._put(database, attrs.evolve(turn, number=conversation.turn_count + 1), conversation)

    def replace_turn(self, turn: Turn) -> Turn:
        known = self.get_turn(turn.id)
        if known is None:
            raise TurnNotFound(turn.id)
        database, conversation = self._existing(known.conversation_id)
        feedback = turn.feedback or known.feedback
        new = attrs.evolve(turn, conversation_id=conversation.id, number=known.number, feedback=feedback)
        return self._put(database, new, conversation)

    def get_turn(self, turn_id: str) -> Turn | None:
        database = self._pool.database(self._user_id)
        place = database.get(keys.turn_by_id(turn_id)) if database else None
        data = database.get(place) if database and place is not None else None
        return load(codec.TURN, data, database) if database and data is not None else None

    def latest_turn(self, conversation_id: str) -> Turn | None:
        return next(iter(self.turns(conversation_id, limit=1)), None)

    def turns(
        self, conversation_id: str, *, limit: int = 50, before: int | None = None, newest_first: bool = True
    ) -> tuple[Turn, ...]:
        database = self._pool.database(self._user_id)
        if database is None or limit < 1 or (before is not None and before < 1):
            return ()
        start = None if before is None else keys.turn(conversation_id, min(before - 1, LATEST_TIME))
        found = database.scan(keys.turns(conversation_id), start=start, limit=limit, reverse=True)
        turns = tuple(load(codec.TURN, data, database) for _, data in found)
        return turns if newest_first else turns[::-1]

    def set_feedback(
        self, feedback: Feedback, *, turn_id: str | None = None, conversation_id: str | None = None
    ) -> Turn:
        if turn_id is not None:
            turn = self.get_turn(turn_id)
            if turn is None:
                raise TurnNotFound(turn_id)
        else:
            wanted = self._existing(conversation_id)[1] if conversation_id is not None else self.active_conversation()
            turn = self.latest_turn(wanted.id) if wanted is not None else None
            if turn is None:
                raise NothingToRate
        database, _ = self._existing(turn.conversation_id)
        data = codec.TURN.dump(attrs.evolve(turn, feedback=feedback))
        database.write(Changes({keys.turn(turn.conversation_id, turn.number): data}))
        return codec.TURN.load(data)

    # --- in and out ----------------------------------------------------------------------------------------

    def export(self) -> Iterator[dict[str, Any]]:
        for conversation in self._in_parts(codec.CONVERSATION, keys.CONVERSATION):
            yield conversation_line(conversation)
            for turn in self._in_parts(codec.TURN, keys.turns(conversation.id)):
                yield turn_line(turn)
        active = self.active_conversation()
        if active is not None:
            yield active_line(active.id)

    def import_(self, lines: Iterable[Mapping[str, Any]]) -> int:
        added = 0
        for place, line in enumerate(lines, start=1):
            match read_line(line, place):
                case Conversation() as conversation if self.get_conversation(conversation.id) is None:
                    self._add(attrs.evolve(conversation, turn_count=0))
                case Turn() as turn:
                    added += self.get_turn(turn.id) is None
                    self.append_turn(turn)
                case Active(conversation_id) if self.active_conversation() is None:
                    self.activate_conversation(conversation_id)
        return added

    # --- inside --------------------------------------------------------------------------------------------

    def _existing(self, conversation_id: str) -> tuple[Database, Conversation]:
        database = self._pool.database(self._user_id)
        found = self.get_conversation(conversation_id)
        if database is None or found is None:
            raise ConversationNotFound(conversation_id)
        return database, found

    def _add(self, conversation: Conversation, *, activate: bool = False) -> Conversation:
        database = self._pool.database(self._user_id, create=True)
        assert database is not None
        topic = self._free_topic(database, conversation.topic, conversation.id)
        changes = Changes()
        data = _put_conversation(changes, attrs.evolve(conversation, topic=topic), None)
        if activate:
            changes.puts[keys.ACTIVE] = conversation.id.encode()
        database.write(changes)
        return codec.CONVERSATION.load(data)

    def _put(self, database: Database, turn: Turn, conversation: Conversation) -> Turn:
        count = max(conversation.turn_count, turn.number)
        updated_at = max(conversation.updated_at, turn.ended_at)
        data = codec.TURN.dump(turn)
        changes = Changes({keys.turn(turn.conversation_id, turn.number): data})
        changes.puts |= indexes.of_turn(turn)
        _put_conversation(changes, attrs.evolve(conversation, turn_count=count, updated_at=updated_at), conversation)
        database.write(changes)
        return codec.TURN.load(data)

    def _free_topic(self, database: Database, wanted: str, conversation_id: str) -> str:
        own = keys.short(conversation_id)
        return free_topic(wanted, lambda folded: database.get(keys.by_topic(folded)) not in (None, own))

    def _listed(self, database: Database, places: Iterable[bytes]) -> Iterator[Conversation]:
        for place in places:
            data = database.get(keys.conversation_at(place))
            # An index that points nowhere is for the doctor, and no reason to show nothing.
            if data is not None:
                yield load(codec.CONVERSATION, data, database)

    def _in_parts(self, kind: Kind[R], prefix: bytes) -> Iterator[R]:
        """Each part by itself: between two of them the database may be closed, and must not be held open."""
        start: bytes | None = None
        while (database := self._pool.database(self._user_id)) is not None:
            found = [pair for pair in database.scan(prefix, start=start, limit=_AT_ONCE + 1) if pair[0] != start]
            yield from [load(kind, data, database) for _, data in found]
            if len(found) < _AT_ONCE:
                return
            start = found[-1][0]


def _put_conversation(changes: Changes, new: Conversation, old: Conversation | None) -> bytes:
    changes.puts[keys.conversation(new.id)] = data = codec.CONVERSATION.dump(new)
    indexes.move(changes, indexes.of_conversation(old) if old else {}, indexes.of_conversation(new))
    return data

"""The store in plain dictionaries: the model that the one on disk is held to, and a stand-in for tests.

It forgets everything when the process ends. Records are kept as the bytes they would be on disk, so that what comes
back is never what a caller still holds and may change, and is what JSON makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

from greenroom.config.errors import TurnNotFound
from greenroom.persistence import codec, keys
from greenroom.persistence.errors import (
    ConversationExists,
    ConversationNotFound,
    NothingToRate,
    TurnIdTaken,
)
from greenroom.persistence.lines import Active, active_line, conversation_line, read_line, turn_line
from greenroom.persistence.names import checked_user_id
from greenroom.persistence.records import Conversation, Feedback, SessionHandle, Turn, handle_digest
from greenroom.persistence.store import Page
from greenroom.persistence.topics import fold, free_topic


class MemoryUserStore:
    def __init__(self) -> None:
        self._conversations: dict[str, bytes] = {}
        self._turns: dict[str, bytes] = {}
        """All of them by id, in the order in which they came."""
        self._active: str | None = None

    def clear(self) -> None:
        self._conversations.clear()
        self._turns.clear()
        self._active = None

    # --- conversations -------------------------------------------------------------------------------------

    def create_conversation(
        self, conversation_id: str, *, at: int, topic: str = "", summary: str = "", activate: bool = False
    ) -> Conversation:
        if conversation_id in self._conversations:
            raise ConversationExists(conversation_id)
        made = Conversation(id=conversation_id, topic=topic, summary=summary, created_at=at, updated_at=at)
        kept = self._keep(attrs.evolve(made, topic=self._free_topic(topic, conversation_id)))
        if activate:
            self._active = conversation_id
        return kept

    def get_conversation(self, conversation_id: str) -> Conversation | None:
        data = self._conversations.get(conversation_id)
        return None if data is None else codec.CONVERSATION.load(data)

    def list_conversations(self, limit: int = 10, cursor: str | None = None) -> Page:
        start = keys.place_of(cursor) if cursor is not None else b""
        ordered = sorted(self._all(), key=keys.by_time)
        rest = [each for each in ordered if keys.by_time(each) > start]
        page = tuple(rest[: max(limit, 0)])
        return Page(page, keys.cursor_after(page[-1]) if page and len(rest) > len(page) else None)

    def name_conversation(self, conversation_id: str, *, topic: str, summary: str) -> Conversation:
        found = self._existing(conversation_id)
        free = self._free_topic(topic, conversation_id)
        return self._keep(attrs.evolve(found, topic=free, summary=summary))

    def delete_conversation(self, conversation_id: str) -> bool:
        if self._conversations.pop(conversation_id, None) is None:
            return False
        for turn in self._kept():
            if turn.conversation_id == conversation_id:
                del self._turns[turn.id]
        if self._active == conversation_id:
            self._active = None
        return True

    def active_conversation(self) -> Conversation | None:
        return None if self._active is None else self.get_conversation(self._active)

    def activate_conversation(self, conversation_id: str) -> Conversation:
        found = self._existing(conversation_id)
        self._active = conversation_id
        return found

    # --- turns ---------------------------------------------------------------------------------------------

    def append_turn(self, turn: Turn) -> Turn:
        conversation = self._existing(turn.conversation_id)
        known = self.get_turn(turn.id)
        if known is not None:
            if known.conversation_id != turn.conversation_id:
                raise TurnIdTaken(turn.id)
            return known
        kept = self._keep_turn(attrs.evolve(turn, number=conversation.turn_count + 1))
        updated = max(conversation.updated_at, turn.ended_at)
        self._keep(attrs.evolve(conversation, turn_count=kept.number, updated_at=updated))
        return kept

    def replace_turn(self, turn: Turn) -> Turn:
        known = self.get_turn(turn.id)
        if known is None:
            raise TurnNotFound(turn.id)
        conversation = self._existing(known.conversation_id)
        feedback = turn.feedback or known.feedback
        kept = self._keep_turn(
            attrs.evolve(turn, conversation_id=conversation.id, number=known.number, feedback=feedback)
        )
        self._keep(attrs.evolve(conversation, updated_at=max(conversation.updated_at, turn.ended_at)))
        return kept

    def get_turn(self, turn_id: str) -> Turn | None:
        data = self._turns.get(turn_id)
        return None if data is None else codec.TURN.load(data)

    def latest_turn(self, conversation_id: str) -> Turn | None:
        return next(iter(self.turns(conversation_id, limit=1)), None)

    def turns(
        self, conversation_id: str, *, limit: int = 50, before: int | None = None, newest_first: bool = True
    ) -> tuple[Turn, ...]:
        mine = [turn for turn in self._kept() if turn.conversation_id == conversation_id]
        found = [turn for turn in reversed(mine) if before is None or turn.number < before][: max(limit, 0)]
        return tuple(found if newest_first else reversed(found))

    def set_feedback(
        self, feedback: Feedback, *, turn_id: str | None = None, conversation_id: str | None = None
    ) -> Turn:
        if turn_id is not None:
            turn = self.get_turn(turn_id)
            if turn is None:
                raise TurnNotFound(turn_id)
        else:
            wanted = self._existing(conversation_id) if conversation_id is not None else self.active_conversation()
            turn = self.latest_turn(wanted.id) if wanted is not None else None
            if turn is None:
                raise NothingToRate
        return self._keep_turn(attrs.evolve(turn, feedback=feedback))

    # --- in and out ----------------------------------------------------------------------------------------

    def export(self) -> Iterator[dict[str, Any]]:
        for conversation in sorted(self._all(), key=lambda each: keys.short(each.id)):
            yield conversation_line(conversation)
            for turn in self.turns(conversation.id, limit=conversation.turn_count, newest_first=False):
                yield turn_line(turn)
        if self._active is not None:
            yield active_line(self._active)

    def import_(self, lines: Iterable[Mapping[str, Any]]) -> int:
        before = len(self._turns)
        for place, line in enumerate(lines, start=1):
            match read_line(line, place):
                case Conversation() as conversation if conversation.id not in self._conversations:
                    topic = self._free_topic(conversation.topic, conversation.id)
                    self._keep(attrs.evolve(conversation, topic=topic, turn_count=0))
                case Turn() as turn:
                    self.append_turn(turn)
                case Active(conversation_id) if self._active is None:
                    self.activate_conversation(conversation_id)
        return len(self._turns) - before

    # --- inside --------------------------------------------------------------------------------------------

    def _all(self) -> list[Conversation]:
        return [codec.CONVERSATION.load(data) for data in self._conversations.values()]

    def _kept(self) -> list[Turn]:
        return [codec.TURN.load(data) for data in self._turns.values()]

    def _existing(self, conversation_id: str) -> Conversation:
        found = self.get_conversation(conversation_id)
        if found is None:
            raise ConversationNotFound(conversation_id)
        return found

    def _free_topic(self, wanted: str, conversation_id: str) -> str:
        taken = {fold(each.topic) for each in self._all() if each.id != conversation_id}
        return free_topic(wanted, taken.__contains__)

    def _keep(self, conversation: Conversation) -> Conversation:
        self._conversations[conversation.id] = data = codec.CONVERSATION.dump(conversation)
        return codec.CONVERSATION.load(data)

    def _keep_turn(self, turn: Turn) -> Turn:
        self._turns[turn.id] = data = codec.TURN.dump(turn)
        return codec.TURN.load(data)


class MemoryHandles:
    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def put(self, handle: SessionHandle) -> None:
        self._kept[handle.digest] = codec.HANDLE.dump(handle)

    def find(self, handle: str) -> SessionHandle | None:
        data = self._kept.get(handle_digest(handle))
        return None if data is None else codec.HANDLE.load(data)

    def latest(self, user_id: str) -> SessionHandle | None:
        mine = [handle for handle in self._all() if handle.user_id == user_id]
        return min(mine, key=keys.by_owner, default=None)

    def forget(self, handle: str) -> bool:
        return self._kept.pop(handle_digest(handle), None) is not None

    def expire(self, before: int) -> int:
        old = [handle.digest for handle in self._all() if handle.last_used_at < before]
        for digest in old:
            del self._kept[digest]
        return len(old)

    def forget_all_of(self, user_id: str) -> None:
        for handle in self._all():
            if handle.user_id == user_id:
                del self._kept[handle.digest]

    def __len__(self) -> int:
        return len(self._kept)

    def _all(self) -> list[SessionHandle]:
        return [codec.HANDLE.load(data) for data in self._kept.values()]


class MemoryStore:
    def __init__(self) -> None:
        self.handles = MemoryHandles()
        self._users: dict[str, MemoryUserStore] = {}

    def user(self, user_id: str) -> MemoryUserStore:
        return self._users.setdefault(checked_user_id(user_id), MemoryUserStore())

    def keeps(self, user_id: str) -> bool:
        return next(self.user(user_id).export(), None) is not None

    @contextmanager
    def glance(self, user_id: str) -> Iterator[MemoryUserStore]:
        yield self.user(user_id)

    def at_hand(self, user_id: str) -> bool:
        return True

    def preparing(self, user_id: str) -> Iterator[Callable[[], None]]:
        return iter(())

    def users(self) -> Iterator[str]:
        # Of those that there are now: whoever iterates may well ask for users that are new meanwhile.
        return (user_id for user_id, user in list(self._users.items()) if next(user.export(), None))

    def purge(self, user_id: str) -> None:
        self.user(user_id).clear()
        self.handles.forget_all_of(user_id)

    @property
    def dirty(self) -> bool:
        return False

    def sync(self, user_id: str | None = None) -> None:
        """There is nothing that could outlive the process."""

    def syncing(self) -> Callable[[], None]:
        return self.sync

    def close(self) -> None:
        """There is nothing to close."""

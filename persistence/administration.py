"""Looking after all that is kept, for whoever runs the server: out, in, and away.

These are functions over a `Store`, whichever it is. They know neither files nor the network; the command line and the
routes under `/admin` do. What may take long is a generator of short steps, so that a server can serve in between;
beside it stands the same as a whole.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from greenroom.persistence.errors import StoreDamaged, StoreError, StoreTooNew, UnstorableValue
from greenroom.persistence.lines import read_line
from greenroom.persistence.records import Conversation
from greenroom.persistence.store import Store, UserStore

log = logging.getLogger(__name__)

DAY_MS = 86_400_000

_OWNER = "user_id"
_PAGE = 100


@attrs.frozen
class Counts:
    """How much came or went, in a step or altogether."""

    users: int = 0
    conversations: int = 0
    turns: int = 0
    failed: int = 0
    """Users whose conversations could not be reached. The log says why."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.users + other.users,
            self.conversations + other.conversations,
            self.turns + other.turns,
            self.failed + other.failed,
        )


def total(steps: Iterable[Counts]) -> Counts:
    return sum(steps, Counts())


# --- out ---------------------------------------------------------------------------------------------------


def export_all(store: Store) -> Iterator[dict[str, Any]]:
    """What `UserStore.export` gives, user by user, each line with its user. Handles are secrets, and stay."""
    for user_id in store.users():
        for line in store.user(user_id).export():
            yield {_OWNER: user_id, **line}


# --- in ----------------------------------------------------------------------------------------------------


def import_all(store: Store, lines: Iterable[Mapping[str, Any]]) -> Counts:
    """Add what `export_all` gave, and count what was new. What is here already stays as it is.

    Raises `UnstorableValue` at the first line that is not understood; those before it are kept, and importing the same
    lines again is harmless.
    """
    return total(import_step(store, lines))


def import_step(store: Store, lines: Iterable[Mapping[str, Any]]) -> Iterator[Counts]:
    """The same, a line at a time."""
    seen: set[str] = set()
    for place, line in enumerate(lines, start=1):
        user_id, step = _import_one(store, line, place)
        if step != Counts() and user_id not in seen:
            seen.add(user_id)
            step = attrs.evolve(step, users=1)
        yield step


def _import_one(store: Store, line: Mapping[str, Any], place: int) -> tuple[str, Counts]:
    fields = dict(line)
    user_id = fields.pop(_OWNER, None)
    if not isinstance(user_id, str):
        raise UnstorableValue(f"Line {place} cannot be imported: its {_OWNER} is missing or not a text.")
    record = read_line(fields, place)
    try:
        user = store.user(user_id)
        new = isinstance(record, Conversation) and user.get_conversation(record.id) is None
        return user_id, Counts(conversations=int(new), turns=user.import_([fields]))
    except StoreError as error:
        if error.code >= 500:
            raise
        raise UnstorableValue(f"Line {place} cannot be imported: {error.message}") from error


def read_lines(texts: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """JSON objects, one per line. Raises `UnstorableValue` where there is none."""
    for place, text in enumerate(texts, start=1):
        try:
            line = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict):
            raise UnstorableValue(f"Line {place} cannot be imported: it is not a JSON object.")
        yield line


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# --- away --------------------------------------------------------------------------------------------------


def purge_user(store: Store, user_id: str) -> bool:
    """Leave nothing of this user, handles included. False if nothing was kept."""
    known = _is_known(store, user_id)
    store.purge(user_id)
    return known


def _is_known(store: Store, user_id: str) -> bool:
    if store.handles.latest(user_id) is not None:
        return True
    try:
        return next(store.user(user_id).export(), None) is not None
    except (StoreDamaged, StoreTooNew):
        # It cannot be read, but it is there, and can be removed.
        return True


def before_days(now: int, days: float) -> int:
    """The time so many days ago, in milliseconds; however many they are, it is a time."""
    return round(max(now - days * DAY_MS, 0))


def forget_older_than(store: Store, before_ms: int) -> Counts:
    """Delete the conversations whose newest turn ended before that time, of all users, and count what went.

    The active conversation of a user is spared as long as another of theirs is younger than that: who is still here
    does not lose what is on stage, and who has not been here since is forgotten altogether. A user who cannot be
    reached is counted as failed, and does not keep the others from their turn.
    """
    return total(forget_step(store, before_ms))


def forget_step(store: Store, before: int) -> Iterator[Counts]:
    """The same, at most a conversation or a page of the list at a time, and a step at the end of each user."""
    for user_id in store.users():
        counted = False
        try:
            for step in _forget_of(store.user(user_id), before):
                yield attrs.evolve(step, users=int(step.conversations and not counted))
                counted = counted or step.conversations > 0
        except StoreError as error:
            log.warning("a user's old conversations could not be forgotten: %s", error.detail or error.message)
            yield Counts(failed=1)
        else:
            yield Counts()


def _forget_of(user: UserStore, before: int) -> Iterator[Counts]:
    old: list[str] = []
    cursor: str | None = None
    while True:
        page = user.list_conversations(_PAGE, cursor)
        old += [each.id for each in page.conversations if each.updated_at < before]
        cursor = page.cursor
        if cursor is None:
            break
        yield Counts()
    for conversation_id in old:
        yield _forget_one(user, conversation_id, before)


def _forget_one(user: UserStore, conversation_id: str, before: int) -> Counts:
    # Looked at anew: since the list was read it may have gone on, or have come on stage.
    conversation = user.get_conversation(conversation_id)
    if conversation is None or conversation.updated_at >= before or _is_spared(user, conversation_id, before):
        return Counts()
    user.delete_conversation(conversation_id)
    return Counts(conversations=1, turns=conversation.turn_count)


def _is_spared(user: UserStore, conversation_id: str, before: int) -> bool:
    active = user.active_conversation()
    if active is None or active.id != conversation_id:
        return False
    return any(each.updated_at >= before for each in user.list_conversations(1).conversations)

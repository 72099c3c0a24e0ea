"""Where a record stands in a sorted database.

A key is a letter and fields of fixed width, so that no text, whatever is in it, can run into its neighbour: ids and
topics stand as the first 16 bytes of their SHA-256. Numbers are big-endian, hence in order; a time that is wanted
newest first is counted down from the end of time.

    of a user                                    of all sessions
    f                     format                 f                           format
    a                     active conversation    h digest                    handle
    c conversation        conversation           x last_used digest          by last use, for expiry
    t conversation number turn                   o user -last_used digest    a user's, newest first
    i turn                its conversation and number
    u -updated_at conversation                   by time, newest first
    n topic               the conversation that has it

Records stand under f, a, c, t and h. The rest are indexes, which can be made again from the records.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from greenroom.persistence.errors import InvalidCursor
from greenroom.persistence.records import Conversation, SessionHandle

FORMAT, ACTIVE, CONVERSATION, TURN, HANDLE = b"f", b"a", b"c", b"t", b"h"
TURN_BY_ID, BY_TIME, BY_TOPIC = b"i", b"u", b"n"
BY_LAST_USE, BY_OWNER = b"x", b"o"

INDEXES = (TURN_BY_ID, BY_TIME, BY_TOPIC)
HANDLE_INDEXES = (BY_LAST_USE, BY_OWNER)

_ID, _NUMBER = 16, 8
_END_OF_TIME = 2**64 - 1


def short(text: str) -> bytes:
    """Stands for an id or a topic in a key. Any text has one, so that a nonsensical id is merely unknown."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_ID]


def number(value: int) -> bytes:
    return value.to_bytes(_NUMBER, "big")


def newest_first(time: int) -> bytes:
    return number(_END_OF_TIME - time)


def conversation(conversation_id: str) -> bytes:
    return CONVERSATION + short(conversation_id)


def turns(conversation_id: str) -> bytes:
    """What all turns of a conversation begin with."""
    return TURN + short(conversation_id)


def turn(conversation_id: str, place: int) -> bytes:
    return turns(conversation_id) + number(place)


def turn_by_id(turn_id: str) -> bytes:
    return TURN_BY_ID + short(turn_id)


def by_time(of: Conversation) -> bytes:
    return BY_TIME + newest_first(of.updated_at) + short(of.id)


def by_topic(folded: str) -> bytes:
    """Of a topic as `topics.fold` makes it."""
    return BY_TOPIC + short(folded)


def handle(digest: str) -> bytes:
    return HANDLE + bytes.fromhex(digest)


def by_last_use(of: SessionHandle) -> bytes:
    return BY_LAST_USE + number(of.last_used_at) + bytes.fromhex(of.digest)


def of_owner(user_id: str) -> bytes:
    return BY_OWNER + short(user_id)


def by_owner(of: SessionHandle) -> bytes:
    return of_owner(of.user_id) + newest_first(of.last_used_at) + bytes.fromhex(of.digest)


def conversation_at(place: bytes) -> bytes:
    """The conversation that an entry of the index by time is of."""
    return CONVERSATION + place[-_ID:]


def digest_at(place: bytes) -> str:
    """The handle that an entry of either index of handles is of."""
    return place[-32:].hex()


def time_of_last_use(key: bytes) -> int:
    return int.from_bytes(key[1 : 1 + _NUMBER], "big")


# --- cursors -----------------------------------------------------------------------------------------------


def cursor_after(of: Conversation) -> str:
    """Stands for the place behind a conversation in the list. Its text means nothing to anybody else."""
    return base64.urlsafe_b64encode(by_time(of)[1:]).decode("ascii")


def place_of(cursor: str) -> bytes:
    """The index key that a cursor was made of."""
    try:
        place = base64.b64decode(cursor.encode("ascii"), b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise InvalidCursor from error
    if len(place) != _NUMBER + _ID:
        raise InvalidCursor
    return BY_TIME + place

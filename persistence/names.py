"""From a user id, which is any text, to the name of a folder.

The name is a few harmless characters of the id, for the reader, and the id's SHA-256, which makes it the only one. It
holds no separator and no capital letter, so it stays inside its parent and stays apart on a file system that ignores
case. The id itself cannot be had back from it; it stands in a file inside.
"""

from __future__ import annotations

import base64
import hashlib
import re

from greenroom.persistence.errors import UnstorableValue

SESSIONS = "_sessions"
"""No user's folder is called so: theirs all end in a digest."""

_READABLE = 24
_HARMLESS = re.compile(r"[^a-z0-9]+")
_NAME = re.compile(r"(?:[a-z0-9-]{1,24}\.)?[a-z2-7]{52}")


def checked_user_id(user_id: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in user_id):
        raise UnstorableValue("A user id must be a text without lone surrogates.")
    return user_id


def folder_name(user_id: str) -> str:
    digest = hashlib.sha256(checked_user_id(user_id).encode()).digest()
    unique = base64.b32encode(digest).decode("ascii").rstrip("=").lower()
    readable = _HARMLESS.sub("-", user_id[: 4 * _READABLE].lower())[:_READABLE].strip("-")
    return f"{readable}.{unique}" if readable else unique


def is_folder_name(name: str) -> bool:
    """Whether it could be a user's: anything else in the folder is not ours."""
    return _NAME.fullmatch(name) is not None

"""Real stores with something in them, and the command that looks after them in a process of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from greenroom.persistence.administration import DAY_MS
from greenroom.persistence.names import folder_name
from greenroom.persistence.records import Feedback
from greenroom.persistence.store import Store
from tests.config.test_cli import run
from tests.persistence.builders import a_handle, a_turn, opened

NOW = 1_790_000_000_000
"""A time that tests without a clock take for the present."""


def converse(
    store: Store, user_id: str, conversation_id: str, at: int, *, turns: int = 2, active: bool = False
) -> None:
    """A conversation whose last turn ended at that time."""
    user = store.user(user_id)
    user.create_conversation(conversation_id, at=at - turns, topic=f"About {conversation_id}", activate=active)
    for number in range(turns):
        turn_id = f"{conversation_id}-{number}"
        words = f"what {user_id} said in {turn_id}"
        user.append_turn(a_turn(turn_id, conversation_id, started_at=at - turns + 1 + number, outputs={"text": words}))


def furnish(folder: Path) -> None:
    """Two users, three conversations, a rating and a handle."""
    with opened(folder) as store:
        converse(store, "alice", "dunes", NOW - 100 * DAY_MS)
        converse(store, "alice", "lions", NOW, active=True)
        converse(store, "../bob\u2028", "boats", NOW - 10 * DAY_MS, turns=3, active=True)
        store.user("alice").set_feedback(Feedback(nl_feedback="fine", given_at=NOW), turn_id="dunes-0")
        store.handles.put(a_handle("secret", "alice"))


def greenroom(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run(*arguments, USER_CONVERSATIONS_SPEEDDICT_FOLDERNAME=str(folder), **variables)


def database_of(folder: Path, user_id: str) -> Path:
    return folder / folder_name(user_id) / "db"


def files_with(folder: Path, words: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()]

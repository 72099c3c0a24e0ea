"""Short ways to say what a test is not about."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from greenroom.config.errors import GreenroomError
from greenroom.persistence.database import Database
from greenroom.persistence.errors import StoreError
from greenroom.persistence.records import SessionHandle, Turn, handle_digest
from greenroom.persistence.speedict_store import SpeedictStore
from greenroom.persistence.speedict_user import SpeedictUserStore


def a_turn(turn_id: str, conversation_id: str = "c", **fields: Any) -> Turn:
    return Turn(**{"id": turn_id, "conversation_id": conversation_id, "tool": "go", "started_at": 1, **fields})


def a_handle(handle: str, user_id: str = "ann", **fields: Any) -> SessionHandle:
    given = {"user_id": user_id, "workflow_name": "w", "created_at": 1, "last_used_at": 1, **fields}
    return SessionHandle(digest=handle_digest(handle), **given)


def answer(work: Callable[[], Any]) -> Any:
    """What a call returns, or what it raises, as something that can be compared."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


@contextmanager
def opened(folder: Path, **options: Any) -> Iterator[SpeedictStore]:
    store = SpeedictStore(folder, **options)
    try:
        yield store
    finally:
        store.close()


def the_database(store: SpeedictStore, user_id: str) -> Database:
    database = store.pool.database(user_id)
    assert database is not None
    return database


def crashed(folder: Path, to: Path) -> Path:
    """What a store that is open would leave if its process were killed now."""
    shutil.copytree(folder, to)
    return to


def fill(user: SpeedictUserStore, turns: int, conversation_id: str = "c", *, size: int = 100) -> None:
    if user.get_conversation(conversation_id) is None:
        user.create_conversation(conversation_id, at=1, topic=f"About {conversation_id}", activate=True)
    for number in range(turns):
        # Not compressible: files are to have the size that the turns have.
        noise = f"{number:08}" + "".join(chr(33 + (number * 7919 + place * place * 31) % 90) for place in range(size))
        user.append_turn(a_turn(f"{conversation_id}-{number}", conversation_id, outputs=noise, started_at=number + 2))


def assert_fit_for_a_client(error: StoreError, folder: Path) -> None:
    """It says what to do, and the path is in what the operator reads alone."""
    assert isinstance(error, GreenroomError)
    assert str(folder) not in error.message + str(dict(error.data))
    assert str(folder) in error.detail
    assert error.detail in error.__notes__

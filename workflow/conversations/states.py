"""What a session's workflow was saved as, and after which turn. Pure.

A turn is kept in its user's database and the state in that of all sessions, and no batch spans the two. So the state
goes first and says after which turn it is true, with the state before that turn beside it. The turn is what decides:
if it is kept, the state after it is the one to go on from; if a kill came between the two, the turn was not answered,
will be asked for again, and runs on the state before it. Neither is ever ahead of or behind the conversation.

After a loss of power, and only then, the state may be older than the newest turns, if the disk had one and not the
other: by no more than what was written within the time that syncing may take (`GREENROOM_SYNC_MS`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

State = Mapping[str, Any]

_AFTER, _NOW, _BEFORE = "after_turn", "state", "state_before"


def after(turn_id: str, state: State | None, before: State | None) -> State:
    """To be kept. `before` is what was kept last, or was found valid."""
    return {_AFTER: turn_id, _NOW: state, _BEFORE: _newest(before)}


def valid(kept: State | None, is_kept: Callable[[str], bool]) -> State | None:
    """The one to go on from, given whether a turn is kept."""
    if kept is None or _AFTER not in kept:
        return kept
    found: State | None = kept[_NOW] if is_kept(kept[_AFTER]) else kept[_BEFORE]
    return found


def _newest(kept: State | None) -> State | None:
    found: State | None = kept[_NOW] if kept is not None and _AFTER in kept else kept
    return found

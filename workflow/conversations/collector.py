"""Python's garbage in small helpings, so that many sessions do not make long pauses.

A collection of the oldest generation looks at every object there is: a tenth of a second with a few thousand sessions,
and everybody waits. So Python is not left to do that. Twice a second, what is new is looked through, and once so much
of it is alive that looking takes some milliseconds, it is frozen, which is to say that no collection looks at it again.
Nearly everything goes when its last reference goes, frozen or not; what does not is a cycle that was broken off later,
and for these there is a collection of everything once there is nothing else to do, or once so much has been frozen that
they might matter. A server whose sessions come and go freezes nothing, and so leaves nothing behind.

All of this begins once start-up has been frozen, as `greenroom serve` does: a process that does not is not ours.
"""

from __future__ import annotations

import gc

import trio

PAUSE = 0.5
QUIET = 200
"""Objects that come to be within a pause when nobody does anything, at most."""
BETWEEN_FULL = 600.0
ENOUGH = 5_000
"""Objects that are not frozen, new or not: to look through so many takes some milliseconds."""
MANY = 10_000_000
"""Objects frozen since the last collection of everything: a gigabyte or so. Then it cannot wait any longer."""

_MIDDLE, _OLDEST = 1, 2
_NEVER = 1_000_000


async def collect_in_helpings(*, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    task_status.started()
    while not gc.get_freeze_count():  # noqa: ASYNC110
        await trio.sleep(PAUSE)
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)
    try:
        full_at, frozen = trio.current_time() + BETWEEN_FULL, 0
        while True:
            await trio.sleep(PAUSE)
            fresh, left = helping()
            frozen += left
            is_quiet = fresh < QUIET and trio.current_time() >= full_at
            if frozen > MANY or (is_quiet and frozen > QUIET):
                everything()
                full_at, frozen = trio.current_time() + BETWEEN_FULL, 0
    finally:
        gc.set_threshold(young, middle, old)


def helping() -> tuple[int, int]:
    """Look through what is new, and freeze what is alive if that is much. About how much was new, how much froze."""
    fresh = _about_how_much_is_new()
    if fresh + len(gc.get_objects(generation=_OLDEST)) < ENOUGH:
        gc.collect(_MIDDLE)
        return fresh, 0
    gc.collect()
    left = len(gc.get_objects())
    if left < ENOUGH // 2:
        return fresh, 0
    gc.freeze()
    return fresh, left


def _about_how_much_is_new() -> int:
    in_youngest, young_collections, middle_collections = gc.get_count()
    young, middle, _ = gc.get_threshold()
    return in_youngest + young * (young_collections + middle * middle_collections)


def everything() -> None:
    gc.unfreeze()
    gc.collect()
    gc.freeze()

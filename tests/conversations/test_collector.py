"""Garbage in helpings: what is new all the time, and what is old when there is time."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
import trio
from trio.testing import MockClock

from greenroom.workflow.conversations import collector


class Knot:
    """Refers to itself, so that only a collection ends it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    """Nothing collects by itself here, and nothing stays frozen."""
    gc.collect()
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


def test_what_is_new_and_dead_goes_with_the_next_helping() -> None:
    gc.freeze()
    dead = weakref.ref(Knot())
    assert dead() is not None
    assert collector.helping()[1] == 0
    assert dead() is None


def test_what_is_alive_is_frozen_once_it_is_much_and_never_looked_at_again_until_everything_is() -> None:
    gc.freeze()
    crowd = [Knot() for _ in range(collector.ENOUGH)]
    _, frozen = collector.helping()
    assert frozen >= len(crowd)
    outlived = weakref.ref(crowd[0])
    del crowd
    collector.helping()
    assert outlived() is not None
    collector.everything()
    assert outlived() is None


def test_sessions_that_come_and_go_leave_nothing_frozen() -> None:
    gc.freeze()
    for _ in range(5):
        crowd = [Knot() for _ in range(collector.ENOUGH // 3)]
        assert collector.helping()[1] == 0
        outlived = weakref.ref(crowd[0])
        del crowd
    _ = [Knot() for _ in range(collector.ENOUGH)]
    del _
    assert collector.helping()[1] == 0
    assert outlived() is None


def test_a_helping_says_about_how_much_was_new() -> None:
    gc.freeze()
    collector.helping()
    kept = [Knot() for _ in range(5000)]
    assert collector.helping()[0] >= len(kept)
    assert collector.helping()[0] < collector.QUIET


async def test_nothing_happens_in_a_process_that_froze_nothing(autojump_clock: MockClock) -> None:
    before, dead = gc.get_threshold(), weakref.ref(Knot())
    async with trio.open_nursery() as nursery:
        await nursery.start(collector.collect_in_helpings)
        await trio.sleep(3600)
        assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
        assert dead() is not None
        nursery.cancel_scope.cancel()


async def test_a_server_collects_what_is_new_all_the_time_and_everything_once_it_is_quiet(
    autojump_clock: MockClock,
) -> None:
    before, old = gc.get_threshold(), Knot()
    gc.freeze()
    async with trio.open_nursery() as nursery:
        await nursery.start(collector.collect_in_helpings)
        await trio.sleep(1.5)
        assert gc.get_threshold()[2] > 1000 * before[2]
        dead, outlived = weakref.ref(Knot()), weakref.ref(old)
        crowd = [Knot() for _ in range(collector.ENOUGH)]
        del old
        await trio.sleep(2)
        assert dead() is None
        assert outlived() is not None
        await trio.sleep(collector.BETWEEN_FULL + 2)
        assert outlived() is None
        assert len(crowd) == collector.ENOUGH
        nursery.cancel_scope.cancel()
    assert gc.get_threshold() == before

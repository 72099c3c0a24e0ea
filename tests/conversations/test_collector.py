"""Garbage in helpings: what is new every second, and what is old when there is time."""

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


def test_a_helping_takes_what_is_new_and_dead_and_never_looks_at_the_rest_again() -> None:
    alive, dead = Knot(), weakref.ref(Knot())
    assert dead() is not None
    collector.helping()
    assert dead() is None
    outlived = weakref.ref(alive)
    del alive
    collector.helping()
    assert outlived() is not None
    collector.everything()
    assert outlived() is None


def test_a_helping_says_about_how_much_was_new() -> None:
    collector.helping()
    kept = [Knot() for _ in range(5000)]
    assert collector.helping() >= len(kept)
    assert collector.helping() < collector.QUIET


async def test_nothing_happens_in_a_process_that_froze_nothing(autojump_clock: MockClock) -> None:
    before, dead = gc.get_threshold(), weakref.ref(Knot())
    async with trio.open_nursery() as nursery:
        await nursery.start(collector.collect_in_helpings)
        await trio.sleep(3600)
        assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
        assert dead() is not None
        nursery.cancel_scope.cancel()


async def test_a_server_collects_what_is_new_every_second_and_everything_once_it_is_quiet(
    autojump_clock: MockClock,
) -> None:
    before, old = gc.get_threshold(), Knot()
    gc.freeze()
    async with trio.open_nursery() as nursery:
        await nursery.start(collector.collect_in_helpings)
        await trio.sleep(1.5)
        assert gc.get_threshold()[2] > 1000 * before[2]
        dead, outlived, crowd = weakref.ref(Knot()), weakref.ref(old), [Knot() for _ in range(1000)]
        del old
        await trio.sleep(2)
        assert dead() is None
        assert outlived() is not None
        await trio.sleep(collector.BETWEEN_FULL + 2)
        assert outlived() is None
        assert len(crowd) == 1000
        nursery.cancel_scope.cancel()
    assert gc.get_threshold() == before

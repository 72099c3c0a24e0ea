"""The garbage collector of a server: set once, after everything that start-up made is there.

What start-up made stays for good, so the collector need not look at it again: it is frozen. What requests make is freed
by its reference counts, all but a few cycles, and what sessions keep is not garbage at all: so the collector may come
rarely. As Python sets it, it comes after 700 objects, which under load is every few requests, and each time it looks at
everything that is waiting, lingering or under way.
"""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 10, 20)
"""Objects made and not freed before the young are looked through, which takes 2 to 3 ms for so many; and how often that
is done before the next older ones are. All of them are looked through only when a quarter of them are new."""


def settle() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)

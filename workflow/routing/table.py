"""The table of word vectors that ships with the product, and what a sentence is in it. Imports numpy.

27,558 English word pieces with 256 four-bit numbers each, two to a byte; they stay packed, and only the rows of a
sentence are ever unpacked. A sentence is the normalised sum of its pieces, which is all there is to it: no model
runs. `bench/routing/distil.py` says where the numbers come from and makes them again. They are derived from
all-MiniLM-L6-v2 by sentence-transformers, under the Apache License 2.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray

from greenroom.workflow.routing.wordpiece import pieces_of

TABLE = Path(__file__).with_name("table.npz")
_ZERO = 8
"""The four-bit number that stands for 0."""

Vector = NDArray[np.float32]


@attrs.frozen(eq=False)
class Table:
    vocabulary: dict[str, int]
    packed: NDArray[np.uint8]
    scale: Vector
    """Of the axes in the low halves of the bytes, then of those in the high halves."""

    def embed(self, words: Sequence[str]) -> Vector:
        """A vector of length one, or of length zero if no word is known."""
        rows = self.packed[[piece for word in words for piece in _pieces(word)]]
        total = np.concatenate(((rows & 15).sum(0, dtype=np.int32), (rows >> 4).sum(0, dtype=np.int32)))
        vector: Vector = (total - _ZERO * len(rows)) * self.scale
        length = float(np.sqrt(vector @ vector))
        return vector / np.float32(length) if length else vector


@cache
def load_table() -> Table:
    with np.load(TABLE) as stored:
        words = stored["vocabulary"].tobytes().decode("ascii").split("\n")
        scale: Vector = stored["scale"]
        packed: NDArray[np.uint8] = stored["packed"]
    return Table(
        {word: number for number, word in enumerate(words)}, packed, np.concatenate((scale[0::2], scale[1::2]))
    )


@lru_cache(maxsize=8192)
def _pieces(word: str) -> tuple[int, ...]:
    # People use few words, and cutting one is a third of a query's time.
    return pieces_of(word, load_table().vocabulary)

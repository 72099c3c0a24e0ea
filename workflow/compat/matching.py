"""Finding the nearest of a few known words, as FastWorkflow's `db_lookup` helpers do it.

Pure functions. The numbers are FastWorkflow's own: a workflow's answers depend on them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from greenroom.workflow.compat.environment import NOT_FOUND

_IGNORED = re.compile(r"[@\s_]")
_SAME_DISTANCE = 1e-12


def normalise(text: object) -> str:
    return _IGNORED.sub("", str(text).lower())


def distance(one: str, other: str) -> float:
    """Levenshtein's edit distance over the longer length: 0 for equal texts, 1 for nothing in common."""
    longest = max(len(one), len(other))
    return _edits(one, other) / longest if longest else 0.0


def _distance_up_to(limit: float, one: str, other: str) -> float:
    """The same, but texts of lengths too different to be near are not compared: one of them may be very long."""
    longest = max(len(one), len(other))
    return 1.0 if abs(len(one) - len(other)) > limit * longest else distance(one, other)


def _edits(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for index, left in enumerate(one, start=1):
        diagonal, row[0] = row[0], index
        for column, right in enumerate(other, start=1):
            diagonal, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, diagonal + (left != right)),
            )
    return row[-1]


def find_best_matches(
    input_text: str, text_list: Iterable[str], threshold: float = 0.4
) -> tuple[list[str], float | None]:
    """All that tie for the smallest distance, each cut to the length of the input, if it is small enough."""
    texts = list(text_list)
    wanted = normalise(input_text)
    distances = [_distance_up_to(threshold, wanted, normalise(text)[: len(wanted)]) for text in texts]
    if not distances or (best := min(distances)) > threshold:
        return [], None
    return [text for text, found in zip(texts, distances, strict=True) if found - best <= _SAME_DISTANCE], best


class DatabaseValidator:
    @staticmethod
    def fuzzy_match(
        value: str, key_values: Sequence[str], threshold: float = 0.2
    ) -> tuple[bool, str | None, list[str]]:
        """Whether it is one of them, which one then, and else which ones may be meant."""
        if not value or value == NOT_FOUND or not key_values:
            return False, None, []
        for key in key_values:
            if key.lower() == value.lower():
                return True, key, []
        best, _ = find_best_matches(value, key_values, threshold=0.7)
        if len(best) == 1:
            return True, best[0], []
        if best:
            return False, None, best
        near = difflib.get_close_matches(value.lower(), [key.lower() for key in key_values], n=3, cutoff=threshold)
        return False, None, [key for word in near for key in key_values if key.lower() == word]

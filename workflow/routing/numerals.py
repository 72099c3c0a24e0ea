"""Numbers as people write them: digits, digits with thousands separators, and English words up to a hundred. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

UNITS = {word: value for value, word in enumerate(_ONES.split())}
TENS = {word: 20 + 10 * place for place, word in enumerate(_TENS.split())}

# [0-9], not \d: a digit of another script is more often part of a text than a number.
_DIGITS = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)?")
_MOST_DIGITS = 30
"""Longer than any number a person types; Python refuses to parse absurdly long ones."""


def number_in_digits(text: str) -> int | float | None:
    """`1,200` is 1200 and `-3.5` is -3.5; a currency sign before or a percent sign after is dropped."""
    bare = text.lstrip("$€£#").rstrip("%")
    found = _DIGITS.fullmatch(bare)
    if found is None or len(bare) > _MOST_DIGITS:
        return None
    plain = bare.replace(",", "")
    return float(plain) if found[1] else int(plain)


def number_in_words(words: Sequence[str]) -> tuple[int, int] | None:
    """The number that these lower-case words start with, and how many of them it takes."""
    if not words:
        return None
    first, *others = words
    following = others[0] if others else ""
    if first in ("a", "one") and following == "hundred":
        return 100, 2
    if first == "hundred":
        return 100, 1
    if first in TENS:
        if 0 < UNITS.get(following, 0) < 10:
            return TENS[first] + UNITS[following], 2
        return TENS[first], 1
    if "-" in first:
        tens, _, unit = first.partition("-")
        if tens in TENS and 0 < UNITS.get(unit, 0) < 10:
            return TENS[tens] + UNITS[unit], 1
    if first in UNITS:
        return UNITS[first], 1
    return None

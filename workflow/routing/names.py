"""A command recognised by its name, typed exactly or nearly so. Pure.

1. The first token, up to a space or `(`, is a simple or qualified name in any case: that command.
2. Else the sentence, or its leading words, is at most 0.3 of a name's length away from that name, in
   Levenshtein's distance with spaces and underscores removed.

A name that fits two commands equally well is no answer: all of them are returned. What a sentence means is not asked
here. Plain words that resemble a name are weak evidence, so a `Match` says when it rests on such words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

import attrs

MAX_DISTANCE = 0.3
TIE = 0.05
"""Two spellings that differ by less than this in distance are equally good."""
LONGEST_NAME = 80
"""A longer sentence is compared by its leading words alone."""
_AROUND = " \t\r\n.,:;!?"

_FIRST_TOKEN = re.compile(r"\s*([^\s(]+)")
_WORD = re.compile(r"[^\s(]+")
_SEPARATORS = re.compile(r"[\s_]+")
_WORDS_OF_A_NAME = re.compile(r"[^\s_/]+")


@attrs.frozen
class Match:
    """These names fit. More than one: they fit equally well. `rest` is the sentence after the name."""

    names: tuple[str, ...]
    distance: float
    rest: str = ""
    typed: bool = True
    """It was written as a name: in one word, with an underscore or a slash, or before a parenthesis."""


@attrs.frozen
class _Spelling:
    folded: str
    letters: int
    names: tuple[str, ...]


@attrs.frozen
class NameIndex:
    """Names made ready for matching; build it once with `index_names`."""

    exact: dict[str, tuple[str, ...]]
    spellings: dict[int, tuple[_Spelling, ...]]
    """By length: a sentence is compared with names of about its own length alone."""
    most_words: int


def index_names(names: Iterable[str]) -> NameIndex:
    full: dict[str, list[str]] = {}
    simple: dict[str, list[str]] = {}
    folded: dict[str, list[str]] = {}
    most_words = 0
    for name in dict.fromkeys(names):
        full.setdefault(name.lower(), []).append(name)
        simple.setdefault(name.rpartition("/")[2].lower(), []).append(name)
        for form in {fold(name.rpartition("/")[2]), fold(name)} - {""}:
            folded.setdefault(form, []).append(name)
        most_words = max(most_words, len(_WORDS_OF_A_NAME.findall(name)))
    # A full name wins over another command's simple one.
    exact = {key: tuple(found) for key, found in (simple | full).items()}
    lengths: dict[int, list[_Spelling]] = {}
    for form, found in folded.items():
        lengths.setdefault(len(form), []).append(_Spelling(form, _letters(form), tuple(found)))
    return NameIndex(exact, {length: tuple(found) for length, found in lengths.items()}, most_words)


def match_name(sentence: str, index: NameIndex) -> Match | None:
    first = _FIRST_TOKEN.match(sentence)
    if first is None:
        return None
    found = index.exact.get(first[1].lower())
    if found is not None:
        return Match(found, 0.0, sentence[first.end() :].strip())
    return _nearly(sentence, index)


def fold(text: str) -> str:
    return _SEPARATORS.sub("", text).lower()


def distance(one: str, other: str) -> int:
    """Levenshtein's distance, a column of the matrix at a time in the bits of two integers (Myers, Hyyrö)."""
    if not one or not other:
        return len(one) + len(other)
    where: dict[str, int] = {}
    for at, letter in enumerate(one):
        where[letter] = where.get(letter, 0) | 1 << at
    mask, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    rises, falls, total = mask, 0, len(one)
    for letter in other:
        same = where.get(letter, 0)
        diagonal = (((same & rises) + rises) ^ rises) | same | falls
        right, left = falls | ~(diagonal | rises), rises & diagonal
        total += bool(right & last) - bool(left & last)
        right, left = right << 1 | 1, left << 1
        rises, falls = (left | ~(diagonal | right)) & mask, right & diagonal & mask
    return total


def _nearly(sentence: str, index: NameIndex) -> Match | None:
    """The nearest spellings to the whole sentence or to its leading words; the longest beginning wins a tie."""
    hits: list[tuple[float, int, bool, tuple[str, ...]]] = []
    for text, end in _beginnings(sentence, index.most_words):
        typed = "_" in text or "/" in text or sentence[end : end + 1] == "(" or len(text.split()) == 1
        for far, names in _near(fold(text), index, typed):
            hits.append((far, -end, typed, names))
    if not hits:
        return None
    hits.sort()
    best, end, typed, _ = hits[0]
    limit = best + TIE if best else 0.0
    fitting = dict.fromkeys(name for far, _, _, found in hits if far <= limit for name in found)
    return Match(tuple(fitting), best, sentence[-end:].strip(), typed)


def _near(folded: str, index: NameIndex, typed: bool) -> Iterable[tuple[float, tuple[str, ...]]]:
    """Of plain words the first letter has to be right: hardly anyone misspells it, and most names are out at once."""
    letters = _letters(folded)
    shortest, longest = (1 - MAX_DISTANCE) * len(folded), len(folded) / (1 - MAX_DISTANCE)
    for length, spellings in index.spellings.items():
        if not shortest <= length <= longest:
            continue
        longer = max(length, len(folded))
        allowed = int(MAX_DISTANCE * longer)
        for spelling in spellings:
            if not typed and spelling.folded[0] != folded[:1]:
                continue
            theirs = spelling.letters
            # Letters that only one side has are a lower bound of the distance, and cheap.
            if (letters & ~theirs).bit_count() > allowed or (theirs & ~letters).bit_count() > allowed:
                continue
            edits = distance(folded, spelling.folded)
            if edits <= allowed:
                yield edits / longer, spelling.names


def _beginnings(sentence: str, most_words: int) -> Iterable[tuple[str, int]]:
    """The whole sentence and then its leading words, the longest first, each with where it ends."""
    if len(sentence) <= LONGEST_NAME:
        yield sentence.strip(_AROUND), len(sentence)
    words = list(islice(_WORD.finditer(sentence), most_words + 2))
    for word in reversed(words[: most_words + 1] if len(words) > most_words + 1 else words[:-1]):
        if word.end() <= LONGEST_NAME:
            yield sentence[: word.end()].strip(_AROUND), word.end()


def _letters(folded: str) -> int:
    """Which letters occur, as bits."""
    bits = 0
    for letter in folded:
        bits |= 1 << (ord(letter) & 63)
    return bits

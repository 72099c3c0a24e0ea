"""Words of a sentence, and the pieces of a word that a vocabulary knows. Pure.

Words are lower case, without accents and punctuation; scripts that put no spaces between words give one word per
character. A word is cut greedily into the longest known pieces; a piece that continues a word is written `##ing`.
A word that cannot be cut completely has no pieces, but is still a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

MOST_WORDS = 200
"""What a sentence says is said by then, and time stays bounded."""
LONGEST_WORD = 100

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


def words_in(sentence: str) -> list[str]:
    text = sentence[: MOST_WORDS * LONGEST_WORD].lower()
    if not text.isascii():
        text = "".join(letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn")
    return _WORD.findall(text)[:MOST_WORDS]


def pieces_of(word: str, vocabulary: Mapping[str, int]) -> tuple[int, ...]:
    """The numbers of the word's pieces, or none at all."""
    if len(word) > LONGEST_WORD:
        return ()
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            number = vocabulary.get(mark + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return ()
    return tuple(found)

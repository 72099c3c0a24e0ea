"""The words that announce a parameter: its name, the parts of its name, and what people say instead. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from greenroom.workflow.routing.reading import words_of

Phrase = tuple[str, ...]

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    word: phrases
    for words, phrases in (
        ("to target destination dest recipient receiver", ("to", "into")),
        ("from source origin sender", ("from",)),
        ("name title label", ("named", "called", "titled")),
        ("id identifier number", ("id", "number", "#")),
        ("subject topic query", ("about", "regarding")),
        ("message text body content", ("saying", "says")),
        ("city location place country", ("in", "near")),
        ("date day when", ("on",)),
        ("time when", ("at",)),
        ("reason", ("because",)),
        ("email mail", ("email", "e-mail", "mail")),
    )
    for word in words.split()
}

IDENTIFIERS = frozenset({"id", "identifier", "number", "code", "key"})
"""Last words of a name that people leave out: `order_id` is introduced by "order" too, if an identifier follows."""


def introductions(names: Sequence[str]) -> dict[str, tuple[Phrase, ...]]:
    """For each parameter the phrases that introduce it, the longest first. A phrase that two share is neither's."""
    phrases = {name: _phrases(name) for name in names}
    owners = Counter(phrase for found in phrases.values() for phrase in found)
    return {
        name: tuple(
            sorted((phrase for phrase in found if owners[phrase] == 1), key=lambda phrase: (-len(phrase), phrase))
        )
        for name, found in phrases.items()
    }


def bare_introduction(name: str) -> Phrase:
    """What introduces an identifier when its last word is left out, or nothing."""
    words = words_of(name)
    return tuple(words[:-1]) if words and words[-1] in IDENTIFIERS else ()


def _phrases(name: str) -> set[Phrase]:
    words = words_of(name)
    if not words:
        return set()
    found: set[Phrase] = {tuple(words), (name.lower(),), ("".join(words),), (words[-1],)}
    for word in words:
        found.update((synonym,) for synonym in SYNONYMS.get(word, ()))
    if words[-1] in IDENTIFIERS and len(words) > 1:
        found.update((*words[:-1], other) for other in ("id", "number", "#"))
    return found

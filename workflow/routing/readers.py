"""What stands at one place of a sentence, read as one type of parameter. Pure.

Each reader looks at free tokens from a place onwards and returns a value with the number of tokens it takes, or
nothing. Who may have the value is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from greenroom.workflow.routing.introductions import Phrase, bare_introduction
from greenroom.workflow.routing.numerals import number_in_digits, number_in_words
from greenroom.workflow.routing.parameters import Parameter
from greenroom.workflow.routing.reading import Reading, Value, is_slip, words_of
from greenroom.workflow.routing.small_words import ENDS, FALSE, FILLERS, TRUE

Found = tuple[Value, int]
"""A value and how many tokens it takes."""

_BETWEEN_ITEMS = re.compile(r"\s*(?:[,;]|\band\b)\s*", re.IGNORECASE)
_LONGEST = 256
"""A pattern is not tried on anything longer: it is its author's, and may be slow."""


def value_at(reading: Reading, parameter: Parameter, at: int, borders: Set[Phrase]) -> Found | None:
    """`borders` are the phrases that introduce any parameter: a value ends before one."""
    match parameter.type:
        case "int" | "float":
            return number_at(reading, at, whole=parameter.type == "int")
        case "bool":
            word = reading.tokens[at].word
            return (word in TRUE, 1) if word in TRUE | FALSE else None
        case "enum":
            return member_at(reading, parameter.choices, at)
        case "list":
            return _items_at(reading, at, borders)
        case _ if parameter.pattern is not None:
            # Many a pattern matches any word, and "to" or "the" is never the value.
            small = not reading.tokens[at].quoted and reading.tokens[at].word in ENDS | FILLERS
            return None if small else matching_at(reading, parameter.pattern, at)
        case _:
            return _phrase_at(reading, parameter, at, borders)


def number_at(reading: Reading, at: int, whole: bool) -> Found | None:
    found = number_in_words(reading.words(at, 2))
    if found is not None and reading.is_free(at, found[1]):
        return (found[0] if whole else float(found[0])), found[1]
    value = number_in_digits(reading.tokens[at].text)
    if value is None or (whole and isinstance(value, float)):
        return None
    return (value if whole else float(value)), 1


def matching_at(reading: Reading, pattern: str, at: int) -> Found | None:
    """The longest of one to three tokens that the whole pattern matches."""
    for count in (3, 2, 1):
        if reading.is_free(at, count) and matches(pattern, reading.text(at, count)):
            return reading.text(at, count), count
    return None


def matches(pattern: str, text: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is not None and len(text) <= _LONGEST and compiled.fullmatch(text) is not None


def member_at(reading: Reading, choices: tuple[str, ...], at: int) -> tuple[str, int] | None:
    """The member of an enumeration that is mentioned here, exactly or with a slip of the finger."""
    members = _members(choices)
    for count in range(max(map(len, members), default=0), 0, -1):
        if reading.is_free(at, count):
            found = members.get(tuple(words_of(reading.text(at, count))))
            if found is not None:
                return found, count
    word = reading.tokens[at].word
    near = {member for words, member in members.items() if len(words) == 1 and is_slip(word, words[0])}
    return (near.pop(), 1) if len(near) == 1 else None


def items(reading: Reading, at: int, count: int) -> tuple[str, ...]:
    tokens = reading.tokens[at : at + count]
    if any(token.quoted for token in tokens):
        return tuple(token.text for token in tokens if token.quoted)
    return tuple(item for item in _BETWEEN_ITEMS.split(reading.text(at, count)) if item)


def _items_at(reading: Reading, at: int, borders: Set[Phrase]) -> Found | None:
    """Everything up to the next introduction, divided at commas and "and"."""
    count = 0
    while reading.is_free(at + count) and not _ends_at(reading, at + count, borders, ENDS - {"and"}):
        count += 1
    found = items(reading, at, count) if count else ()
    return (found, count) if found else None


def _phrase_at(reading: Reading, parameter: Parameter, at: int, borders: Set[Phrase]) -> Found | None:
    if reading.tokens[at].quoted:
        return reading.tokens[at].text, 1
    longest = _most_words(parameter) or len(reading.tokens)
    count = 0
    while count < longest and reading.is_free(at + count) and not _ends_at(reading, at + count, borders, ENDS):
        count += 1
        if reading.tokens[at + count - 1].closes:
            break
    if all(word in FILLERS for word in reading.words(at, count)):
        return None
    return reading.text(at, count), count


def _most_words(parameter: Parameter) -> int:
    """An identifier is one word; otherwise the examples say how long a value may be; 0 is any length."""
    if bare_introduction(parameter.name):
        return 1
    return max((len(example.split()) for example in parameter.examples), default=0)


def _ends_at(reading: Reading, at: int, borders: Set[Phrase], ends: Set[str]) -> bool:
    token = reading.tokens[at]
    return not token.quoted and (token.word in ends or any(reading.starts_with(phrase, at) for phrase in borders))


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return None  # whoever validates the value says what is wrong with the pattern


@lru_cache(maxsize=512)
def _members(choices: tuple[str, ...]) -> dict[Phrase, str]:
    return {tuple(words_of(choice)): choice for choice in choices}

"""A sentence as extraction reads it: tokens with their places, and which of them are spoken for. Pure.

`Reading` is the one mutable thing here, and lives for a single extraction. A token is taken at most once, so no
two parameters are ever made from the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from greenroom.workflow.routing.names import distance
from greenroom.workflow.routing.small_words import FILLERS

Value = str | int | float | bool | tuple[str, ...]

_TOKEN = re.compile(
    r"""  "(?P<double>[^"]+)"  |  “(?P<curly>[^“”]+)”  |  `(?P<tick>[^`]+)`
        | (?<!\w)'(?P<single>[^']+)'(?!\w)
        | [^\s"“`]+ """,
    re.VERBOSE,
)
_BEFORE, _AFTER = "([{<,;:.!?=", ")]}>,;:.!?="
_BREAK = re.compile(r"[,;:.!?)]")


@attrs.frozen
class Token:
    text: str
    start: int
    end: int
    quoted: bool = False
    closes: bool = False
    """Punctuation follows at once, so a phrase cannot go on."""

    @property
    def word(self) -> str:
        return self.text.lower()


def tokens_of(sentence: str) -> list[Token]:
    tokens = []
    for found in _TOKEN.finditer(sentence):
        if found.lastgroup is not None:
            start, end = found.span(found.lastgroup)
            tokens.append(Token(sentence[start:end], start, end, quoted=True))
            continue
        text = found[0].lstrip(_BEFORE)
        start = found.end() - len(text)
        text = text.rstrip(_AFTER)
        if text:
            end = start + len(text)
            tokens.append(Token(text, start, end, closes=bool(_BREAK.match(sentence, end))))
    return tokens


@attrs.define
class Reading:
    sentence: str
    tokens: list[Token]
    taken: list[bool]
    command_words: frozenset[str]
    values: dict[str, Value] = attrs.field(factory=dict)

    @classmethod
    def of(cls, sentence: str, command_words: Iterable[str]) -> Reading:
        """The command's own words at the start of the sentence are taken from the outset."""
        tokens = tokens_of(sentence)
        own = frozenset(word.lower() for word in command_words)
        reading = cls(sentence, tokens, [False] * len(tokens), own)
        for at, token in enumerate(tokens):
            if reading.is_of_command(token):
                reading.taken[at] = True
            elif token.quoted or token.word not in FILLERS:
                break
        return reading

    def is_of_command(self, token: Token) -> bool:
        """One of the words of the command's name, in the singular or the plural, or several with underscores."""
        word, own = token.word, self.command_words
        if token.quoted:
            return False
        return word in own or f"{word}s" in own or word.removesuffix("s") in own or own.issuperset(word.split("_"))

    def is_free(self, at: int, count: int = 1) -> bool:
        return at + count <= len(self.tokens) and not any(self.taken[at : at + count])

    def free(self) -> list[int]:
        return [at for at, taken in enumerate(self.taken) if not taken]

    def take(self, name: str, value: Value, at: int, count: int) -> None:
        self.values[name] = value
        self.spend(at, count)

    def spend(self, at: int, count: int) -> None:
        self.taken[at : at + count] = [True] * count

    def words(self, at: int, count: int) -> list[str]:
        """Fewer than `count` at the end; none of them from inside quotation marks."""
        found = []
        for token in self.tokens[at : at + count]:
            if token.quoted:
                break
            found.append(token.word)
        return found

    def text(self, at: int, count: int) -> str:
        return self.sentence[self.tokens[at].start : self.tokens[at + count - 1].end]

    def starts_with(self, phrase: tuple[str, ...], at: int) -> bool:
        return tuple(self.words(at, len(phrase))) == phrase


def words_of(name: str) -> list[str]:
    """`user_id`, `userId`, `user-id` and `user id` are all two words."""
    return [word.lower() for word in re.findall(r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![^\W_A-Z])", name)]


def is_slip(word: str, meant: str) -> bool:
    """Near enough to be a misspelling: one edit in four letters, and nothing shorter than four."""
    length = max(len(word), len(meant))
    if min(len(word), len(meant)) < 4 or length > 64:
        return word == meant
    return distance(word, meant) <= length // 4

"""Parameters from a sentence: by name, pattern, enumeration, type, example and, at last, by what is left. Pure.

Steps run from the surest evidence to the weakest, and each looks only at words that no earlier step has used. A
step that could go two ways does nothing. What is required and was not found is reported as missing, for whoever
asks the user. The explicit form `name <p>v</p>` is not read here, and nothing is validated beyond what finding it
took: dates stay text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial

from greenroom.workflow.routing.introductions import Phrase, bare_introduction, introductions
from greenroom.workflow.routing.parameters import Extracted, Parameter
from greenroom.workflow.routing.readers import Found, items, matches, matching_at, member_at, number_at, value_at
from greenroom.workflow.routing.reading import Reading, Token, Value, words_of
from greenroom.workflow.routing.small_words import (
    AFFIRMATIONS,
    CONNECTORS,
    ENDS,
    FALSE,
    LINKS,
    NEGATIONS,
    POINTERS,
    PROSE,
    SETTING_VERBS,
    TRUE,
)

LONGEST_SENTENCE = 20_000
"""In anything longer nothing is found: half a value would be worse than none."""
_EMAIL = r"[^@\s]+@[^@\s]+\.[^@\s.]+"


def extract(
    sentence: str, parameters: Sequence[Parameter], command_name: str = "", *, vocabulary: str | None = None
) -> Extracted:
    """`command_name` says which words at the start are the command's own. Never raises.

    With a `vocabulary`, the text that the command is described by, the sentence is taken for one that only means the
    command: then its own words are no values anywhere in it, and what is left is a value only if it looks like a name.
    """
    read = sentence if len(sentence) <= LONGEST_SENTENCE else ""
    reading = Reading.of(read, words_of(command_name.rpartition("/")[2]))
    known = None if vocabulary is None else frozenset(words_of(vocabulary))
    what_is_left = partial(_what_is_left, known=known)
    for step in (_introduced, _patterns, _enumerations, _numbers, _quoted, _examples, _booleans, what_is_left):
        step(reading, [parameter for parameter in parameters if parameter.name not in reading.values])
    missing = tuple(p.name for p in parameters if p.required and p.name not in reading.values)
    return Extracted(reading.values, missing)


def _introduced(reading: Reading, parameters: Sequence[Parameter]) -> None:
    phrases = introductions([parameter.name for parameter in parameters])
    borders = {phrase for found in phrases.values() for phrase in found}
    for parameter in parameters:
        if any(_introduced_by(reading, parameter, phrase, borders) for phrase in phrases[parameter.name]):
            continue
        bare = bare_introduction(parameter.name)
        if bare and bare not in borders:
            _introduced_by(reading, parameter, bare, borders, needs_digit=True)


def _introduced_by(
    reading: Reading, parameter: Parameter, phrase: Phrase, borders: Set[Phrase], needs_digit: bool = False
) -> bool:
    # The last mention first: an earlier "to" or "on" is more often an infinitive or a phrasal verb.
    for at in range(len(reading.tokens) - len(phrase), -1, -1):
        if not reading.starts_with(phrase, at):
            continue
        if parameter.type == "bool" and _affirmed(reading, parameter, at, len(phrase)):
            return True
        start = _past_connector(reading, at + len(phrase))
        found = value_at(reading, parameter, start, borders) if reading.is_free(start) else None
        if found is None or (needs_digit and not any(letter.isdigit() for letter in str(found[0]))):
            continue
        reading.take(parameter.name, found[0], start, found[1])
        reading.spend(at, start - at)
        return True
    return False


def _past_connector(reading: Reading, at: int) -> int:
    word = "".join(reading.words(at, 1))
    sets = reading.tokens[0].word in SETTING_VERBS
    return at + 1 if word in CONNECTORS or (word == "to" and sets) else at


def _affirmed(reading: Reading, parameter: Parameter, at: int, count: int) -> bool:
    """With or without it: that says it as well as "yes" or "no" after the name."""
    before = "".join(reading.words(at - 1, 1)) if at else ""
    if before not in NEGATIONS | AFFIRMATIONS or not reading.is_free(at - 1, count + 1):
        return False
    reading.take(parameter.name, before in AFFIRMATIONS, at - 1, count + 1)
    return True


def _patterns(reading: Reading, parameters: Sequence[Parameter]) -> None:
    texts = [parameter for parameter in parameters if parameter.type == "str"]
    for pattern in dict.fromkeys(p.pattern for p in texts if p.pattern):
        _assign(reading, [p for p in texts if p.pattern == pattern], partial(matching_at, reading, pattern))
    mailboxes = [p for p in texts if not p.pattern and {"email", "mail"} & {*words_of(p.name)}]
    _assign(reading, mailboxes, partial(matching_at, reading, _EMAIL))


def _enumerations(reading: Reading, parameters: Sequence[Parameter]) -> None:
    members = [parameter for parameter in parameters if parameter.type == "enum"]
    for choices in dict.fromkeys(p.choices for p in members):
        _assign(reading, [p for p in members if p.choices == choices], partial(member_at, reading, choices))


def _numbers(reading: Reading, parameters: Sequence[Parameter]) -> None:
    wanted = [parameter for parameter in parameters if parameter.type in ("int", "float")]
    whole = any(parameter.type == "int" for parameter in wanted)
    _assign(reading, wanted, partial(_counted_at, reading, whole))


def _counted_at(reading: Reading, whole: bool, at: int) -> Found | None:
    if reading.tokens[at].word == "one" and at and reading.tokens[at - 1].word in POINTERS:
        return None
    return number_at(reading, at, whole)


def _quoted(reading: Reading, parameters: Sequence[Parameter]) -> None:
    texts = [parameter for parameter in parameters if parameter.type == "str" and not parameter.pattern]
    _assign(reading, texts, lambda at: (reading.tokens[at].text, 1) if reading.tokens[at].quoted else None)


def _examples(reading: Reading, parameters: Sequence[Parameter]) -> None:
    """A word that is one of the examples, or has digits where they have: `#W0000000` finds `#W2378156`."""
    for parameter in parameters:
        if parameter.type == "str" and parameter.examples:
            _assign(reading, [parameter], partial(_like_examples_at, reading, parameter))


def _like_examples_at(reading: Reading, parameter: Parameter, at: int) -> Found | None:
    text = reading.tokens[at].text
    if parameter.pattern and not matches(parameter.pattern, text):
        return None
    alike = text.lower() in (example.lower() for example in parameter.examples)
    # The shape of a plain word fits every plain word, and so says nothing.
    shaped = any(map(str.isdigit, text)) and _shape(text) in map(_shape, parameter.examples)
    return (text, 1) if alike or shaped else None


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", text))


def _booleans(reading: Reading, parameters: Sequence[Parameter]) -> None:
    _assign(reading, [p for p in parameters if p.type == "bool"], partial(_answer_at, reading))


def _answer_at(reading: Reading, at: int) -> Found | None:
    """ "on" is a preposition, unless it ends the sentence or something was turned."""
    word = reading.tokens[at].word
    if word not in TRUE | FALSE or reading.tokens[at].quoted:
        return None
    turned = reading.tokens[0].word in SETTING_VERBS or at == len(reading.tokens) - 1
    return (word in TRUE, 1) if word != "on" or turned else None


def _what_is_left(reading: Reading, parameters: Sequence[Parameter], known: frozenset[str] | None = None) -> None:
    """The one required text that is still wanted takes the words that are still free, if they stand together."""
    wanted = [parameter for parameter in parameters if parameter.required]
    free = _without_links(reading, reading.free(), known or frozenset())
    if len(wanted) != 1 or wanted[0].type not in ("str", "list") or not free:
        return
    parameter, at, count = wanted[0], free[0], len(free)
    if known is not None and not _is_like_a_name(reading.tokens[at].text, at):
        return
    if free[-1] - at + 1 != count or not _is_one_phrase(reading, parameter, at, count):
        return
    text = reading.text(at, count)
    if parameter.pattern and not matches(parameter.pattern, text):
        return
    value = items(reading, at, count) if parameter.type == "list" else text
    if value:
        reading.take(parameter.name, value, at, count)


def _is_like_a_name(text: str, at: int) -> bool:
    """Written like a name or a number where no sentence makes it so."""
    return any(char.isdigit() for char in text) or (at > 0 and text[0].isupper() and text != "I")


def _without_links(reading: Reading, free: list[int], known: frozenset[str]) -> list[int]:
    """Without small words and words of the command's own on either side."""

    def is_link(at: int) -> bool:
        token = reading.tokens[at]
        own = token.word in LINKS or reading.is_of_command(token)
        return not token.quoted and (own or token.word in known or token.word.removesuffix("s") in known)

    first = next((place for place, at in enumerate(free) if not is_link(at)), len(free))
    last = next((place for place in range(len(free), first, -1) if not is_link(free[place - 1])), first)
    return free[first:last]


def _is_one_phrase(reading: Reading, parameter: Parameter, at: int, count: int) -> bool:
    """A preposition inside may start something that is no part of the value, unless the value is prose anyway."""
    if PROSE.intersection(words_of(parameter.name)):
        return True
    ends = ENDS - {"and"} if parameter.type == "list" else ENDS
    tokens = reading.tokens[at : at + count]
    return not any(
        token.word in ends and not token.quoted and not _is_inside_a_title(tokens, place)
        for place, token in enumerate(tokens)
    )


def _is_inside_a_title(tokens: Sequence[Token], place: int) -> bool:
    """The small words of a title: `War and Peace`, `Bread Before Dawn`."""
    return 0 < place < len(tokens) - 1 and all(tokens[near].text[0].isupper() for near in (place - 1, place + 1))


def _assign(reading: Reading, parameters: Sequence[Parameter], read: Callable[[int], Found | None]) -> None:
    """Give what is mentioned to who can have it, in order, if there are as many of the one as of the other."""
    if not parameters:
        return
    mentions = list(_mentions(reading, read))
    required = [parameter for parameter in parameters if parameter.required]
    for takers in (parameters, required):
        if takers and len(takers) == len(mentions):
            for parameter, (at, value, count) in zip(takers, mentions, strict=True):
                reading.take(parameter.name, _fitting(parameter, value), at, count)
            return


def _mentions(reading: Reading, read: Callable[[int], Found | None]) -> Iterator[tuple[int, Value, int]]:
    at = 0
    while at < len(reading.tokens):
        found = read(at) if reading.is_free(at) else None
        if found is not None:
            yield at, *found
        at += found[1] if found is not None else 1


def _fitting(parameter: Parameter, value: Value) -> Value:
    return float(value) if parameter.type == "float" and isinstance(value, int) else value

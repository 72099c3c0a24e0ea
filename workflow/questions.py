"""What a turn may ask of the client while it runs, and the answers it may get.

A question names what the client must be able to do (`Ability`); a client that did not declare it is never
asked. How a question travels (pushed in the older protocol, returned and retried in the newer one) is the
transport's affair, not the workflow's.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from jsonschema import Draft202012Validator


class Ability(enum.Enum):
    """What a client declared that it can do for us; the value is the protocol's name for it."""

    ELICIT = "elicitation"
    SAMPLE = "sampling"
    ROOTS = "roots"


@attrs.frozen
class Elicit:
    """Ask the human. `schema` is a flat JSON schema of primitive properties."""

    message: str
    schema: Mapping[str, Any]
    needs = Ability.ELICIT


@attrs.frozen
class Sample:
    """Ask the client's model."""

    prompt: str
    max_tokens: int
    system_prompt: str | None = None
    needs = Ability.SAMPLE


@attrs.frozen
class ListRoots:
    """Ask which folders the client lets us see."""

    needs = Ability.ROOTS


Question = Elicit | Sample | ListRoots
Questions = Mapping[str, Question]


@attrs.frozen
class Elicited:
    """`action` is "accept", "decline" or "cancel"; `content` is there, and valid, when accepted."""

    action: str
    content: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class Sampled:
    text: str
    model: str = ""


@attrs.frozen
class Root:
    uri: str
    name: str | None = None


@attrs.frozen
class Roots:
    roots: Sequence[Root] = ()


Answer = Elicited | Sampled | Roots
Answers = Mapping[str, Answer]


def check(question: Question) -> None:
    """Raises `SchemaError` if no answer could ever be held against this question."""
    if isinstance(question, Elicit):
        Draft202012Validator.check_schema(question.schema)


def accepts(question: Question, answer: Answer | None) -> bool:
    """Whether this is a usable answer to that question: of its kind, and of the form it asked for."""
    match question, answer:
        case Elicit(schema=schema), Elicited(action="accept", content=content):
            return Draft202012Validator(schema).is_valid(content)
        case (Elicit(), Elicited()) | (Sample(), Sampled()) | (ListRoots(), Roots()):
            return True
        case _:
            return False

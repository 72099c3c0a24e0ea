"""What clients have seen, what a store holds, and what is wrong between the two. Pure."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs


@attrs.define
class Seen:
    """A turn whose answer has reached its client."""

    turn_id: str
    conversation_id: str
    word: str
    """What the command was given, different for every turn: the log of executions is made of these."""
    text: str
    attempts: int
    """How often it was asked for until the answer came."""
    feedback: str | None = None
    offered: str | None = None
    """Feedback that was given last. Until that is answered, it may be kept or not."""
    executions: int | None = None
    """Found in the log when it was first looked at. Whatever is repeated later must not change it."""


@attrs.frozen
class KeptTurn:
    """A turn as a store holds it, however it was read."""

    id: str
    number: int
    word: str
    text: str
    feedback: str | None

    @classmethod
    def of(cls, turn: Mapping[str, Any]) -> KeptTurn:
        feedback = turn["feedback"] or {}
        word = str(turn["input"]["command"]).removeprefix("mark <word>").removesuffix("</word>")
        return cls(turn["id"], turn["number"], word, turn["outputs"]["text"], feedback.get("nl_feedback"))


class Kind(enum.StrEnum):
    LOST = "lost"
    DOUBLED = "doubled"
    UNOPENED = "stores that failed to open"
    OTHER = "other"


@attrs.define
class Findings:
    """Everything that is wrong, each thing once, however often it is seen again."""

    _found: dict[tuple[Kind, str], str] = attrs.field(factory=dict)

    def add(self, kind: Kind, about: str, sentence: str) -> None:
        self._found.setdefault((kind, about), f"{kind}: {about}: {sentence}")

    def count(self, kind: Kind) -> int:
        return sum(found is kind for found, _ in self._found)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def sentences(self) -> list[str]:
        return list(self._found.values())

    # --- comparing -----------------------------------------------------------------------------------------

    def compare(self, where: str, seen: Iterable[Seen], kept: Mapping[str, Sequence[KeptTurn]]) -> None:
        """One user's turns: `kept` are whole conversations, and `seen` what was seen in these."""
        ids = Counter(turn.id for turns in kept.values() for turn in turns)
        words = Counter(turn.word for turns in kept.values() for turn in turns)
        for what in (ids, words):
            for name, times in what.items():
                if times > 1:
                    self.add(Kind.DOUBLED, name, f"is there {times} times, {where}")
        for conversation_id, turns in kept.items():
            numbers = [turn.number for turn in turns]
            if numbers != list(range(1, len(turns) + 1)):
                self.add(Kind.OTHER, conversation_id, f"its turns have the numbers {numbers}, {where}")
        for each in seen:
            self._compare_one(where, each, kept.get(each.conversation_id, ()))

    def _compare_one(self, where: str, seen: Seen, turns: Sequence[KeptTurn]) -> None:
        turn = next((turn for turn in turns if turn.id == seen.turn_id), None)
        if turn is None:
            self.add(Kind.LOST, seen.word, f"its turn {seen.turn_id} is not in {seen.conversation_id}, {where}")
        elif (turn.word, turn.text) != (seen.word, seen.text):
            self.add(Kind.LOST, seen.word, f"was answered {seen.text!r}, but now says {turn.text!r}, {where}")
        elif turn.feedback not in (seen.feedback, seen.offered):
            self.add(Kind.LOST, seen.word, f"was rated {seen.feedback!r}, but now {turn.feedback!r}, {where}")

    def compare_executions(self, seen: Iterable[Seen], log: Mapping[str, int]) -> None:
        """Once for every answer; once more for each time that a kill may have come between doing and storing."""
        for each in seen:
            times = log.get(each.word, 0)
            if each.executions is None:
                each.executions = times
                if not 1 <= times <= each.attempts:
                    self.add(Kind.OTHER, each.word, f"ran {times} times, but was asked for {each.attempts} times")
            elif times != each.executions:
                self.add(Kind.DOUBLED, each.word, f"ran {times - each.executions} more times after it was answered")

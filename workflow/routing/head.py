"""Which command a sentence is nearest to in meaning: kernel ridge regression over examples. Imports numpy.

Likeness of two sentences is the cosine of their vectors, blended with that of their words (by inverse document
frequency), so that a word the table does not know still counts when it is the same word. The kernel is an
exponential of it. Solving for the commands takes a few milliseconds, once; a sentence then costs one small
product of matrices. Whether the nearest command is near enough is not decided here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from greenroom.workflow.routing.confidence import Evidence
from greenroom.workflow.routing.reading import words_of
from greenroom.workflow.routing.table import Table, Vector, load_table
from greenroom.workflow.routing.values import Command
from greenroom.workflow.routing.wordpiece import words_in

# Chosen on the validation split of CLINC150 with one, two and five examples per intent; a plateau, not a peak.
WORDS_WEIGHT = 0.25
SHARPNESS = 2.0
RIDGE = 0.3

MOST_EXAMPLES = 1500
"""Of all commands together: solving takes the cube of it."""
MOST_PER_COMMAND = 20


@attrs.frozen
class Lexicon:
    """The words of the examples, and how telling each is."""

    columns: dict[str, int]
    weights: tuple[float, ...]
    unknown: float
    """The weight of a word that no example has: it only makes a sentence less like all of them."""

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Lexicon:
        count = len(sentences)
        frequency = Counter(word for words in sentences for word in set(words))
        weights = (math.log(1 + (count - seen + 0.5) / (seen + 0.5)) for seen in frequency.values())
        return cls({word: at for at, word in enumerate(frequency)}, tuple(weights), math.log(2 + 2 * count))

    def project(self, words: Sequence[str]) -> tuple[list[int], list[float]]:
        """The columns of the known words, and their part of a vector of length one."""
        known = [self.columns[word] for word in dict.fromkeys(words) if word in self.columns]
        strangers = len(set(words)) - len(known)
        length = math.sqrt(sum(self.weights[at] ** 2 for at in known) + strangers * self.unknown**2)
        return known, [self.weights[at] / length for at in known]


@attrs.frozen(eq=False)
class Head:
    table: Table
    lexicon: Lexicon
    vectors: Vector
    """One row per example; those of a command stand together."""
    bags: Vector
    """One row per word, one column per example."""
    solution: Vector
    """One row per example, one column per command."""
    starts: tuple[int, ...]
    """Where each command's examples begin, and where the last one's end."""

    def rank(self, sentence: str) -> tuple[list[tuple[int, float]], Evidence]:
        """The three best commands, by number, with their scores; and how good the best one is."""
        likeness = self._likeness(words_in(sentence))
        scores = np.exp(SHARPNESS * (likeness - 1)) @ self.solution
        best = np.argsort(-scores, kind="stable")[:3].tolist()
        top, second = float(scores[best[0]]), float(scores[best[1]]) if len(best) > 1 else 0.0
        nearest = float(likeness[self.starts[best[0]] : self.starts[best[0] + 1]].max())
        commands = len(self.starts) - 1
        evidence = Evidence(top, second, nearest, commands, len(self.vectors) / commands)
        return [(at, float(scores[at])) for at in best], evidence

    def _likeness(self, words: Sequence[str]) -> Vector:
        known, weights = self.lexicon.project(words)
        likeness: Vector = self.vectors @ self.table.embed(words)
        if known:
            likeness = likeness + np.float32(WORDS_WEIGHT) * (np.array(weights, np.float32) @ self.bags[known])
        return likeness / np.float32(1 + WORDS_WEIGHT)


def fit_head(commands: Sequence[Command]) -> Head:
    """At least one command. The same commands in the same order give the same head."""
    table = load_table()
    share = min(MOST_PER_COMMAND, max(2, MOST_EXAMPLES // len(commands)))
    per_command = [_examples(command, share) for command in commands]
    sentences = [words for examples in per_command for words in examples]
    lexicon = Lexicon.of(sentences)
    vectors = np.stack([table.embed(words) for words in sentences])
    bags = np.zeros((len(lexicon.columns), len(sentences)), np.float32)
    for at, words in enumerate(sentences):
        columns, weights = lexicon.project(words)
        bags[columns, at] = weights
    likeness = (vectors @ vectors.T + np.float32(WORDS_WEIGHT) * (bags.T @ bags)) / np.float32(1 + WORDS_WEIGHT)
    kernel = np.exp(SHARPNESS * (likeness - 1)) + RIDGE * np.eye(len(sentences), dtype=np.float32)
    starts = np.cumsum([0] + [len(examples) for examples in per_command])
    wanted = np.zeros((len(sentences), len(commands)), np.float32)
    for number in range(len(commands)):
        wanted[starts[number] : starts[number + 1], number] = 1
    solution: NDArray[Any] = np.linalg.solve(kernel, wanted)
    return Head(table, lexicon, vectors, bags, solution.astype(np.float32), tuple(starts.tolist()))


def _examples(command: Command, most: int) -> list[list[str]]:
    """The words of its name, its description and its utterances; too many utterances are thinned out evenly."""
    described = [words for words in (words_of(command.simple_name), words_in(command.description)) if words]
    spoken = [words for utterance in command.utterances if (words := words_in(utterance))]
    room = most - len(described)
    if len(spoken) > room:
        spoken = [spoken[at * len(spoken) // room] for at in range(room)]
    unique = {tuple(words): words for words in described + spoken}
    return list(unique.values()) or [[command.name]]

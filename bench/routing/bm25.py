"""The baseline: BM25, a command being one document of all its examples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from greenroom.workflow.routing import Command
from greenroom.workflow.routing.reading import words_of
from greenroom.workflow.routing.wordpiece import words_in

K1, B = 1.2, 0.75


class Bm25:
    def __init__(self, commands: Sequence[Command]) -> None:
        documents = []
        for command in commands:
            texts = [words_of(command.simple_name), words_in(command.description), *map(words_in, command.utterances)]
            documents.append([word for words in texts for word in words])
        mean = sum(map(len, documents)) / len(documents)
        frequency = Counter(word for words in documents for word in set(words))
        self.postings: dict[str, list[tuple[int, float]]] = {}
        for at, words in enumerate(documents):
            for word, count in Counter(words).items():
                rarity = math.log(1 + (len(documents) - frequency[word] + 0.5) / (frequency[word] + 0.5))
                saturation = count * (K1 + 1) / (count + K1 * (1 - B + B * len(words) / mean))
                self.postings.setdefault(word, []).append((at, rarity * saturation))

    def rank(self, sentence: str) -> list[int]:
        """The three best commands by number; fewer if fewer share a word with the sentence."""
        scores: dict[int, float] = {}
        for word in words_in(sentence):
            for at, score in self.postings.get(word, ()):
                scores[at] = scores.get(at, 0.0) + score
        return sorted(scores, key=lambda number: (-scores[number], number))[:3]

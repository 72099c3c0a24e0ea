"""Fits the coefficients of `workflow/routing/confidence.py`, and prints them.

    python -m bench.routing.calibrate data_full.json

Uses the training and validation splits of CLINC150 and never its test split. Command sets of many sizes are drawn,
with few and many examples. Each is asked sentences of its own, sentences outside all intents, and sentences of intents
that were not drawn, which are the hard ones. In every set, own sentences weigh three fifths of the whole, so that how
many commands there are says nothing about how often one of them is meant.
"""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.routing.corpora import Clinc, read_clinc
from greenroom.workflow.routing import Command
from greenroom.workflow.routing.head import fit_head

SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 150)
EXAMPLES = (0, 1, 2, 3, 5, 10, 20)
OWN = 0.6

Row = tuple[tuple[float, ...], bool, bool, float]
"""Features, whether the best command was right, whether the sentence was one of the set's own, and its weight."""


def draw(data: Clinc, size: int, examples: int, named: bool, seed: int) -> list[Row]:
    chance = random.Random(seed)
    intents = chance.sample(list(data.train), size)
    # A name of dots has no words in it, and so is no example.
    names = intents if named else ["." * at for at in range(1, size + 1)]
    spoken = [tuple(chance.sample(data.train[intent], examples)) for intent in intents]
    head = fit_head([Command(name, utterances=said) for name, said in zip(names, spoken, strict=True)])
    each = min(20, max(2, 150 // size))
    asked = [(s, number) for number, i in enumerate(intents) for s in chance.sample(data.validation[i], each)]
    own = len(asked)
    asked += [(s, -1) for s in chance.sample(data.strangers_validation, min(100, own))]
    undrawn = sorted(data.validation.keys() - set(intents))
    if undrawn:
        asked += [(chance.choice(data.validation[chance.choice(undrawn)]), -1) for _ in range(own)]
    rows = []
    for sentence, number in asked:
        best, evidence = head.rank(sentence)
        weight = OWN / own if number >= 0 else (1 - OWN) / (len(asked) - own)
        rows.append((evidence.features(), best[0][0] == number, number >= 0, weight))
    return rows


def fit(x: NDArray[np.float64], y: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logistic regression by Newton's method."""
    coefficients = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ coefficients))
        gradient = x.T @ (weight * (y - p)) - 0.01 * coefficients
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + 0.01 * np.eye(x.shape[1])
        coefficients += np.linalg.solve(hessian, gradient)
    return coefficients


def main() -> None:
    data = read_clinc(Path(sys.argv[1]))
    rows: list[Row] = []
    for size, examples, named in itertools.product(SIZES, EXAMPLES, (True, False)):
        if examples or named:
            for repeat in range(3 if size < 50 else 1):
                rows += draw(data, size, examples, named, seed=1000 * size + 10 * examples + repeat)
    x = np.array([row[0] for row in rows])
    weight = np.array([row[3] for row in rows])
    weight *= len(weight) / weight.sum()
    for name, y in (("RIGHT", np.array([row[1] for row in rows])), ("IN_SCOPE", np.array([row[2] for row in rows]))):
        print(f"{name} = ({', '.join(f'{value:.2f}' for value in fit(x, y, weight))})")


if __name__ == "__main__":
    main()

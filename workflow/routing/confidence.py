"""How sure routing by meaning is, as two probabilities: that the best command is right, and that any is. Pure.

What a score is worth depends on how many commands there are and how many examples each has, so both are part of the
evidence. The coefficients were fitted by logistic regression on the validation split of CLINC150, over command sets
of 1 to 150 intents with 1 to 20 examples each, where two sentences in five belonged to no intent of their set.
`bench/routing/calibrate.py` fits them again. They owe nothing to any workflow that is served.
"""

from __future__ import annotations

import math

import attrs

ROUTE_AT = 0.65
"""Below this probability of being right, the user is asked."""
IN_SCOPE_AT = 0.35
"""Below this probability that any command is meant, the user is told so."""

# Beyond what was fitted, evidence is taken as if it were at the border.
MOST_COMMANDS, MOST_EXAMPLES = 150, 20


@attrs.frozen
class Evidence:
    best: float
    second: float
    nearest: float
    """The likeness to the nearest example of the best command, at most 1."""
    commands: int
    examples: float
    """Per command, on the average."""

    def features(self) -> tuple[float, ...]:
        lead = (self.best - self.second) / max(self.best, 1e-3)
        many, known = math.log(min(self.commands, MOST_COMMANDS)), math.log(min(self.examples, MOST_EXAMPLES))
        alone = (1.0, self.best, lead, self.nearest, many, known)
        return (*alone, self.best * known, self.nearest * many, lead * many, many * known)


RIGHT = (-5.24, 17.48, 0.62, 9.78, 0.57, -2.81, -0.86, -2.74, 0.42, 0.49)
IN_SCOPE = (-4.84, 18.94, 0.04, 9.17, 0.68, -3.07, -0.72, -1.98, -0.11, 0.47)


def probability_right(evidence: Evidence) -> float:
    return _logistic(RIGHT, evidence)


def probability_in_scope(evidence: Evidence) -> float:
    return _logistic(IN_SCOPE, evidence)


def _logistic(coefficients: tuple[float, ...], evidence: Evidence) -> float:
    total = sum(weight * value for weight, value in zip(coefficients, evidence.features(), strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

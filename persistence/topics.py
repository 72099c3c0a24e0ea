"""When two topics are the same, and what the second one is called.

A topic is unique among its user's conversations. Letter case, compatibility forms (full-width letters, ligatures) and
white space of any kind and anywhere make no difference: "My trip", "my  TRIP" and "MyTrip" are the same topic. The
second to come gets " (2)" behind it, then " (3)", and so on, the first that is free. No topic at all is not a name,
and any number of conversations may have it.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable


def tidy(topic: str) -> str:
    """As it is shown: on one line, with single spaces."""
    return " ".join(topic.split())


def fold(topic: str) -> str:
    """Equal for topics that are the same."""
    # Folding case may undo the normal form, and normalising may make new white space.
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", topic).casefold())
    return "".join(normal.split())


def free_topic(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """`wanted`, or the first of its successors whose fold is not taken. It takes as many looks as there are."""
    topic = tidy(wanted)
    if not fold(topic) or not is_taken(fold(topic)):
        return topic
    successors = (f"{topic} ({number})" for number in itertools.count(2))
    return next(each for each in successors if not is_taken(fold(each)))

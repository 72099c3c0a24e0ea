"""The small English words that hold a sentence together, by what they do in it. Data."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FILLERS = _words(
    "please kindly can could would will you i i'd i'll we want need like to me my our us the a an this that "
    "let lets let's just now go ahead and do for some"
)
"""Before and between a command's own words, these mean nothing to it."""

ENDS = _words("and or with then please to from in into on at for by as about named called using via because saying")
"""These end a value that is not in quotation marks."""

LINKS = FILLERS | _words("to from in on at with of is and about into by as")
"""On either side of a value, these are no part of it."""

CONNECTORS = _words("is = : as of equals")
"""Between a parameter's name and its value."""

SETTING_VERBS = _words("set change update make turn rename adjust switch")
"""After these, "to" is a connector as well."""

TRUE = _words("yes true on enable enabled y")
FALSE = _words("no false off disable disabled n")
NEGATIONS = _words("no not without don't dont non")
AFFIRMATIONS = _words("with as is are be make mark")

POINTERS = _words("the this that which last next first another")
"""After these, "one" stands for a thing and is not a number."""

PROSE = _words("query question text message body content description comment note prompt topic task request command")
"""In a parameter's name: its value may be any sentence."""

"""What routing takes and gives: commands in, one of three answers out. Plain frozen values."""

from __future__ import annotations

import enum

import attrs


@attrs.frozen(cache_hash=True)
class Command:
    """What routing may know of a command. `name` is simple (`add_user`) or qualified (`ChatRoom/add_user`)."""

    name: str
    description: str = ""
    utterances: tuple[str, ...] = ()

    @property
    def simple_name(self) -> str:
        return self.name.rpartition("/")[2]


class How(enum.Enum):
    """What a command was recognised by, the surest first."""

    NAME = "name"
    """The sentence starts with the command's name."""
    SPELLING = "spelling"
    """It starts with something that is nearly the name."""
    MEANING = "meaning"
    """It means what the command's description or one of its utterances means."""


@attrs.frozen
class Routed:
    """The sentence means this command. `rest` is what follows the name, or the whole sentence if none was used."""

    command: Command
    how: How
    confidence: float
    rest: str


@attrs.frozen
class Candidate:
    command: Command
    score: float

    @property
    def name(self) -> str:
        return self.command.name

    @property
    def description(self) -> str:
        return self.command.description


@attrs.frozen
class Candidates:
    """It may mean one of these, the likeliest first and three at most; somebody has to choose."""

    candidates: tuple[Candidate, ...]


@attrs.frozen
class OutOfScope:
    """It means none of the commands. `confidence` is how likely the best of them was nevertheless."""

    confidence: float = 0.0


Routing = Routed | Candidates | OutOfScope

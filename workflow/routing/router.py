"""Which command a sentence means: by name, by a name nearly so, by meaning, or none. Immutable, deterministic.

Made once per set of commands, that is, per context; `router_for` keeps the last ones. Meaning is prepared on its
first use, and numpy is imported then and not before: a client that types names never pays for it. A router
knows only the commands it was given. That a name lives in another context is for the caller to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import attrs

from greenroom.workflow.routing.confidence import (
    IN_SCOPE_AT,
    ROUTE_AT,
    probability_in_scope,
    probability_right,
)
from greenroom.workflow.routing.names import Match, NameIndex, index_names, match_name
from greenroom.workflow.routing.values import Candidate, Candidates, Command, How, OutOfScope, Routed, Routing

if TYPE_CHECKING:
    from greenroom.workflow.routing.head import Head

MOST_CANDIDATES = 3
SURE_DISTANCE = 0.15
"""So near to a name, words that mean nothing to us are taken for its misspelling."""


def _as_tuple(commands: Sequence[Command]) -> tuple[Command, ...]:
    return tuple({command.name: command for command in commands}.values())


@attrs.frozen(eq=False)
class Router:
    commands: tuple[Command, ...] = attrs.field(converter=_as_tuple)

    def route(self, sentence: str) -> Routing:
        if not self.commands or not sentence.strip():
            return OutOfScope()
        match = match_name(sentence, self._index)
        if match is None:
            return self.by_meaning(sentence)
        if match.typed or match.distance == 0:
            return self._by_name(match)
        return self._by_plain_words(match, self.by_meaning(sentence))

    def by_meaning(self, sentence: str) -> Routing:
        """What `route` does when no name was recognised. Needs at least one command."""
        best, evidence = self._head.rank(sentence)
        right, any_at_all = probability_right(evidence), probability_in_scope(evidence)
        if any_at_all < IN_SCOPE_AT:
            return OutOfScope(any_at_all)
        if right >= ROUTE_AT:
            return Routed(self.commands[best[0][0]], How.MEANING, right, sentence.strip())
        return Candidates(tuple(Candidate(self.commands[at], score) for at, score in best))

    def prepare(self) -> None:
        """Do now what the first sentence would wait for: a few milliseconds, and the import of numpy once."""
        if self.commands:
            self._head  # noqa: B018

    def _by_name(self, match: Match) -> Routing:
        if len(match.names) > 1:
            return Candidates(self._named(match))
        how = How.NAME if match.distance == 0 else How.SPELLING
        return Routed(self._known[match.names[0]], how, 1 - match.distance, match.rest)

    def _by_plain_words(self, match: Match, meant: Routing) -> Routing:
        """Words that resemble a name mean that command only if the meaning of the sentence does not object."""
        if isinstance(meant, Routed) and meant.command.name in match.names:
            return attrs.evolve(meant, how=How.SPELLING, rest=match.rest)
        if isinstance(meant, OutOfScope) and match.distance <= SURE_DISTANCE:
            return self._by_name(match)
        others = meant.candidates if isinstance(meant, Candidates) else ()
        if isinstance(meant, Routed):
            others = (Candidate(meant.command, meant.confidence),)
        found = {candidate.name: candidate for candidate in (*others, *self._named(match))}
        best = sorted(found.values(), key=lambda candidate: -candidate.score)
        return Candidates(tuple(best[:MOST_CANDIDATES]))

    def _named(self, match: Match) -> tuple[Candidate, ...]:
        return tuple(Candidate(self._known[name], 1 - match.distance) for name in match.names[:MOST_CANDIDATES])

    @cached_property
    def _known(self) -> dict[str, Command]:
        return {command.name: command for command in self.commands}

    @cached_property
    def _index(self) -> NameIndex:
        return index_names(command.name for command in self.commands)

    @cached_property
    def _head(self) -> Head:
        from greenroom.workflow.routing.head import fit_head

        return fit_head(self.commands)


@lru_cache(maxsize=256)
def router_for(commands: tuple[Command, ...]) -> Router:
    """The router of these commands, from the last ones used if it is among them."""
    return Router(commands)

"""One router per set of commands, built when it is first needed and shared by all sessions.

The first sentence that has to be understood by its meaning loads the table of word vectors, and a router is fitted
when its commands are first seen. Both take a while, so they happen in a worker thread of the turn that needs them;
after that a sentence is routed on the spot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from greenroom.workflow.port import Turn
from greenroom.workflow.routing.router import Router
from greenroom.workflow.routing.values import Command, Routing

MAX_ROUTERS = 64
"""A workflow has as many as it has contexts; the bound is for one whose contexts come and go."""


class Routers:
    def __init__(self) -> None:
        self._routers: OrderedDict[tuple[Command, ...], Router] = OrderedDict()

    async def route(self, sentence: str, commands: Sequence[Command], turn: Turn) -> Routing:
        key = tuple(commands)
        router = self._routers.get(key)
        if router is not None:
            self._routers.move_to_end(key)
            return router.route(sentence)
        built, routing = await turn.run_blocking(_first, key, sentence)
        self._routers[key] = built
        if len(self._routers) > MAX_ROUTERS:
            self._routers.popitem(last=False)
        return routing


def _first(commands: tuple[Command, ...], sentence: str) -> tuple[Router, Routing]:
    router = Router(commands)
    return router, router.route(sentence)

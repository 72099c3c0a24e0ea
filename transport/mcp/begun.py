"""A turn that was begun before the kernel saw its request. See `lean`."""

from __future__ import annotations

import attrs

from greenroom.actors.reply import Reply
from greenroom.actors.session import SessionActor
from greenroom.actors.supervisor import Supervisor


@attrs.define(eq=False)
class Begun:
    supervisor: Supervisor
    actor: SessionActor
    turn_id: str
    reply: Reply
    walk_on: bool
    stopped: bool = False
    """The client has already said that it does not want this any more."""
    claimed: bool = False
    """Somebody else than the request's own task sees to its end."""
    taken: bool = False
    """Somebody follows the turn, and will leave it properly."""

    def let_go(self) -> None:
        """If nobody came to follow it, nobody is waiting for it."""
        if self.taken:
            return
        self.taken = True
        if not self.reply.settled:
            self.actor.leave(self.turn_id, self.reply, cancels=True)
        if self.walk_on:
            self.supervisor.close(self.actor)

"""The port: what a store of conversations can do, whatever it keeps them in.

One user's data is reached through that user's `UserStore` and no other way. Everything is synchronous, for one thread
alone, and quick: a commit is tens of microseconds, less than it takes to hand it to a thread. The first use of a user
who was away for long may take some milliseconds. When a method that writes has returned, what it wrote survives the
death of the process; after `sync` it survives the death of the machine. A method that raises a `StoreUnavailable` may
or may not have written, so a turn is kept under its id: appending it again is harmless.

Below: `memory_store`, the model, and `speedict_store`, the one on disk, which is held to the model by tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import attrs

from greenroom.persistence.records import Conversation, Feedback, SessionHandle, Turn


@attrs.frozen
class Page:
    conversations: tuple[Conversation, ...]
    cursor: str | None = None
    """What to ask for the next page with; None when there is none."""


class UserStore(Protocol):
    """Everything of one user. Asking about a user of whom nothing is kept leaves no trace."""

    # --- conversations -------------------------------------------------------------------------------------

    def create_conversation(
        self, conversation_id: str, *, at: int, topic: str = "", summary: str = "", activate: bool = False
    ) -> Conversation:
        """Raises `ConversationExists`. The topic may come back with a suffix, see `topics`."""

    def get_conversation(self, conversation_id: str) -> Conversation | None: ...

    def list_conversations(self, limit: int = 10, cursor: str | None = None) -> Page:
        """Newest first by `updated_at`; those of the same millisecond in an order of no meaning, but always that one.

        The cost is that of the page. A conversation that is updated between two pages moves to the front.
        """

    def name_conversation(self, conversation_id: str, *, topic: str, summary: str) -> Conversation:
        """The topic may come back with a suffix. `updated_at` stays. Raises `ConversationNotFound`."""

    def delete_conversation(self, conversation_id: str) -> bool:
        """With all its turns. False if there was none."""

    def active_conversation(self) -> Conversation | None:
        """The one that this user had on stage last."""

    def activate_conversation(self, conversation_id: str) -> Conversation:
        """Raises `ConversationNotFound`."""

    # --- turns ---------------------------------------------------------------------------------------------

    def append_turn(self, turn: Turn) -> Turn:
        """Keep it as its conversation's newest, all or nothing, and return it with its number.

        A turn whose id is kept in this conversation already is not kept twice: the one that is kept is returned. In
        another conversation that is `TurnIdTaken`. Raises `ConversationNotFound`.
        """

    def replace_turn(self, turn: Turn) -> Turn:
        """A turn that waited for its user has ended. Number, conversation and feedback stay. Raises `TurnNotFound`."""

    def get_turn(self, turn_id: str) -> Turn | None:
        """Also the way to find out whether a call was carried out before."""

    def latest_turn(self, conversation_id: str) -> Turn | None: ...

    def turns(
        self, conversation_id: str, *, limit: int = 50, before: int | None = None, newest_first: bool = True
    ) -> tuple[Turn, ...]:
        """The newest ones, or the newest of those whose number is below `before`. The cost is that of `limit`.

        `newest_first` says in which order they are handed out, not which.
        """

    def set_feedback(
        self, feedback: Feedback, *, turn_id: str | None = None, conversation_id: str | None = None
    ) -> Turn:
        """On that turn; else on the conversation's newest; else on the active conversation's newest.

        Raises `TurnNotFound`, `ConversationNotFound`, or `NothingToRate` where there is no turn yet.
        """

    # --- in and out ----------------------------------------------------------------------------------------

    def export(self) -> Iterator[dict[str, Any]]:
        """JSON objects, one per line of a file: each conversation followed by its turns, then the active one."""

    def import_(self, lines: Iterable[Mapping[str, Any]]) -> int:
        """Add what `export` gave, and return how many turns were new. What is here already stays as it is.

        Turns are numbered anew. Raises `UnstorableValue` at the first line that is not understood; those before it
        are kept, and importing the same lines again is harmless.
        """


class HandleStore(Protocol):
    """How to bring sessions back, by their handles. Of a handle only its digest is written."""

    def put(self, handle: SessionHandle) -> None:
        """Keep it, in place of what was kept under its digest."""

    def find(self, handle: str) -> SessionHandle | None:
        """By the handle itself. Whose it is, is for the caller to look at."""

    def latest(self, user_id: str) -> SessionHandle | None:
        """The one that this user used last."""

    def forget(self, handle: str) -> bool: ...

    def expire(self, before: int) -> int:
        """Forget those that were last used before that time; returns how many."""

    def __len__(self) -> int:
        """Counts them one by one: for a report, not for every request."""


class Store(Protocol):
    @property
    def handles(self) -> HandleStore: ...

    def user(self, user_id: str) -> UserStore:
        """Cheap, and good for as long as the store. Raises `UnstorableValue` for a text that is not Unicode."""

    def keeps(self, user_id: str) -> bool:
        """Whether there is anything of this user to be looked at. Opens nothing."""

    def glance(self, user_id: str) -> AbstractContextManager[UserStore]:
        """For a look at a few things, and for nothing that writes: for whoever is not `at_hand` and cannot wait."""

    def at_hand(self, user_id: str) -> bool:
        """Whether the next call about this user is as quick as any."""

    def preparing(self, user_id: str) -> Iterator[Callable[[], None]]:
        """Make it so, in short steps, for who is going to write.

        Whoever iterates lets others run in between, and does what is handed out in another thread before going on.
        """

    def users(self) -> Iterator[str]:
        """Everybody of whom something is kept, in no order; perhaps also some whose conversations are all deleted."""

    def purge(self, user_id: str) -> None:
        """Leave nothing of this user, handles included."""

    @property
    def dirty(self) -> bool:
        """Whether there is anything that `sync` would make safer."""

    def sync(self, user_id: str | None = None) -> None:
        """Make everything that was written, by one user or by all, survive the loss of power."""

    def syncing(self) -> Callable[[], None]:
        """The same for everything that was written up to now, as a function for another thread.

        What it could not do counts as not synced, and is tried again by the next.
        """

    def close(self) -> None:
        """Nothing may be asked of it afterwards. Closing twice is harmless."""

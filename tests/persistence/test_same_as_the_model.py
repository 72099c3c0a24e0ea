"""The store on disk does what the store in dictionaries does, whatever is asked of either."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from greenroom.persistence.doctor import examine
from greenroom.persistence.memory_store import MemoryStore
from greenroom.persistence.records import Feedback, TurnStatus
from greenroom.persistence.speedict_store import SpeedictStore
from greenroom.persistence.store import Page, Store
from tests.persistence.builders import a_handle, a_turn, answer

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
"""Lone surrogates and NUL included."""

# Few are common, so that operations meet; the rest are rare and nasty.
USERS = st.sampled_from(["ann"] * 20 + ["Ann"] * 4 + ["", "../../etc", "a\0b", "b" * 3000, "\N{SNOWMAN}", "bad \ud800"])
IDS = st.sampled_from(["1"] * 20 + ["2"] * 8 + ["3"] * 4 + ["", "\0", "../1", "x" * 5000, "\u2028", "\udfff", "1\0"])
SAME = ["Trip", "trip", " T R\u00a0I\tP ", "\uff34rip", "Trip (2)", "stra\u00dfe", "STRASSE", ""]
TOPICS = st.sampled_from(SAME) | ANY_TEXT
TIMES = st.sampled_from([*range(10)] * 3 + [10**12, 2**63 - 1, -1, 2**63])
LIMITS = st.integers(-1, 4)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), ANY_TEXT)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(ANY_TEXT, inner, max_size=2), max_leaves=4
)
PAYLOADS = st.one_of(*[JSON] * 9, st.sampled_from([float("nan"), {1, 2}, b"bytes", "\ud83d\ude00"]))
FEEDBACK = st.builds(
    lambda score, words, at: lambda: Feedback(binary_or_numeric_score=score, nl_feedback=words, given_at=at),
    st.one_of(st.none(), st.booleans(), st.floats()),
    st.one_of(st.none(), ANY_TEXT),
    TIMES,
)
HANDLES = st.sampled_from(["h1", "h2", "h3", "\ud800", ""])


class SameAsTheModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.model: Store = MemoryStore()
        self.real: Store = self._new()

    def _new(self) -> SpeedictStore:
        return SpeedictStore(self.folder / "store", max_open=2)

    def both(self, ask: Callable[[Store], Any]) -> Any:
        expected, got = answer(lambda: ask(self.model)), answer(lambda: ask(self.real))
        assert got == expected
        return got

    @initialize(topic=TOPICS, times=st.lists(TIMES, max_size=4))
    def begin_with_something(self, topic: str, times: list[int]) -> None:
        for conversation in ("1", "2"):
            self.create("ann", conversation, 5, topic, "", True)
        for place, time in enumerate(times):
            self.take_a_turn("ann", f"{place}", "1", None, None, [], TurnStatus.COMPLETED, time, 0, False)

    # --- conversations -------------------------------------------------------------------------------------

    @rule(user=USERS, id=IDS, at=TIMES, topic=TOPICS, summary=ANY_TEXT, activate=st.booleans())
    def create(self, user: str, id: str, at: int, topic: str, summary: str, activate: bool) -> None:
        self.both(
            lambda store: store.user(user).create_conversation(
                id, at=at, topic=topic, summary=summary, activate=activate
            )
        )

    @rule(user=USERS, id=IDS, topic=TOPICS, summary=ANY_TEXT)
    def name(self, user: str, id: str, topic: str, summary: str) -> None:
        self.both(lambda store: store.user(user).name_conversation(id, topic=topic, summary=summary))

    @rule(user=USERS, id=IDS)
    def activate(self, user: str, id: str) -> None:
        self.both(lambda store: store.user(user).activate_conversation(id))

    @rule(user=USERS, id=IDS)
    def delete(self, user: str, id: str) -> None:
        self.both(lambda store: store.user(user).delete_conversation(id))

    @rule(user=USERS, id=IDS)
    def look(self, user: str, id: str) -> None:
        self.both(lambda store: store.user(user).get_conversation(id))
        self.both(lambda store: store.user(user).active_conversation())

    @rule(user=USERS, limit=LIMITS, junk=ANY_TEXT)
    def list_page_by_page(self, user: str, limit: int, junk: str) -> None:
        self.both(lambda store: store.user(user).list_conversations(limit, junk))
        page = self.both(lambda store: store.user(user).list_conversations(limit))
        while isinstance(page, Page) and page.cursor is not None:
            page = self.next_page(user, limit, page.cursor)

    def next_page(self, user: str, limit: int, cursor: str) -> Any:
        return self.both(lambda store: store.user(user).list_conversations(limit, cursor))

    # --- turns ---------------------------------------------------------------------------------------------

    @rule(
        user=USERS, id=IDS, conversation=IDS, input=PAYLOADS, outputs=PAYLOADS, traces=st.lists(PAYLOADS, max_size=2),
        status=st.sampled_from(TurnStatus), started=TIMES, took=TIMES, again=st.booleans(),
    )  # fmt: skip
    def take_a_turn(
        self, user: str, id: str, conversation: str, input: Any, outputs: Any, traces: list[Any],
        status: TurnStatus, started: int, took: int, again: bool,
    ) -> None:  # fmt: skip
        def ask(store: Store) -> Any:
            turn = a_turn(
                id, conversation, input=input, outputs=outputs, traces=traces, status=status,
                started_at=started, duration_ms=took,
            )  # fmt: skip
            return store.user(user).replace_turn(turn) if again else store.user(user).append_turn(turn)

        self.both(ask)

    @rule(user=USERS, id=IDS, conversation=IDS)
    def look_at_turns(self, user: str, id: str, conversation: str) -> None:
        self.both(lambda store: store.user(user).get_turn(id))
        self.both(lambda store: store.user(user).latest_turn(conversation))

    @rule(
        user=USERS, id=IDS, limit=LIMITS, before=st.none() | st.integers(-1, 5) | st.just(2**70), newest=st.booleans()
    )
    def read(self, user: str, id: str, limit: int, before: int | None, newest: bool) -> None:
        self.both(lambda store: store.user(user).turns(id, limit=limit, before=before, newest_first=newest))

    @rule(user=USERS, feedback=FEEDBACK, id=st.none() | IDS, conversation=st.none() | IDS)
    def rate(self, user: str, feedback: Callable[[], Feedback], id: str | None, conversation: str | None) -> None:
        self.both(lambda store: store.user(user).set_feedback(feedback(), turn_id=id, conversation_id=conversation))

    # --- handles -------------------------------------------------------------------------------------------

    @rule(handle=HANDLES, user=USERS, conversation=st.none() | IDS, used=TIMES, state=PAYLOADS)
    def put_handle(self, handle: str, user: str, conversation: str | None, used: int, state: Any) -> None:
        self.both(
            lambda store: store.handles.put(
                a_handle(handle, user, conversation_id=conversation, last_used_at=used, state=state)
            )
        )

    @rule(handle=HANDLES, user=USERS)
    def find_handle(self, handle: str, user: str) -> None:
        self.both(lambda store: store.handles.find(handle))
        self.both(lambda store: store.handles.latest(user))

    @rule(handle=HANDLES)
    def forget_handle(self, handle: str) -> None:
        self.both(lambda store: store.handles.forget(handle))

    @rule(before=TIMES)
    def expire_handles(self, before: int) -> None:
        self.both(lambda store: store.handles.expire(before))

    # --- the whole -----------------------------------------------------------------------------------------

    @rule(user=USERS, to=USERS)
    def export_and_import(self, user: str, to: str) -> None:
        lines = self.both(lambda store: list(store.user(user).export()))
        if isinstance(lines, list):
            written = [json.loads(json.dumps(line)) for line in lines]
            self.both(lambda store: store.user(to).import_(written))

    @rule(user=USERS)
    def purge(self, user: str) -> None:
        self.both(lambda store: store.purge(user))

    @rule()
    def sync(self) -> None:
        self.real.sync()
        assert not self.real.dirty

    @rule()
    def close_and_open_again(self) -> None:
        self.real.close()
        self.real = self._new()

    @precondition(lambda self: self.folder.exists())
    @invariant()
    def never_more_open_than_allowed(self) -> None:
        assert isinstance(self.real, SpeedictStore)
        assert len(self.real.pool) <= 2
        assert len(self.real.handles) == len(self.model.handles)

    def teardown(self) -> None:
        assert set(self.model.users()) <= set(self.real.users())
        self.real.close()
        try:
            assert [attrs.evolve(each, folder=Path()) for each in examine(self.folder / "store") if each.problems] == []
            assert {each.name for each in self.folder.iterdir()} <= {"store"}
        finally:
            shutil.rmtree(self.folder)


SameAsTheModel.TestCase.settings = settings(
    max_examples=60, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
)
TestSameAsTheModel = SameAsTheModel.TestCase

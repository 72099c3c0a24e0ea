"""The roster against a plain list that does the same the slow way."""

from __future__ import annotations

import attrs
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from greenroom.actors.roster import Roster

TTL = 10.0
MAXIMUM = 4
KEYS = st.sampled_from("abcdef")


@attrs.define(eq=False)
class Member:
    key: str
    idle: bool = True


def roster(ttl: float = TTL, maximum: int = MAXIMUM) -> Roster[Member]:
    return Roster(ttl=ttl, maximum=maximum, is_idle=lambda member: member.idle)


class RosterLikeAList(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.roster = roster()
        self.model: list[tuple[Member, float]] = []
        """Least recently needed first."""

    def in_model(self, key: str) -> tuple[Member, float] | None:
        return next((entry for entry in self.model if entry[0].key == key), None)

    @rule(seconds=st.sampled_from([0.0, 1.0, 5.0, 9.5, 10.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(key=KEYS, idle=st.booleans())
    def somebody_comes(self, key: str, idle: bool) -> None:
        if self.in_model(key) is None and not self.roster.full:
            member = Member(key, idle)
            self.roster.add(key, member, self.now)
            self.model.append((member, self.now))

    @rule(key=KEYS)
    def somebody_is_needed(self, key: str) -> None:
        self.roster.touch(key, self.now)
        if (entry := self.in_model(key)) is not None:
            self.model.remove(entry)
            self.model.append((entry[0], self.now))

    @precondition(lambda self: self.model)
    @rule(key=KEYS)
    def somebody_becomes_busy_or_idle(self, key: str) -> None:
        if (entry := self.in_model(key)) is not None:
            entry[0].idle = not entry[0].idle

    @rule(key=KEYS)
    def somebody_is_sent_away(self, key: str) -> None:
        entry = self.in_model(key)
        assert self.roster.remove(key) is (entry[0] if entry else None)
        if entry is not None:
            self.model.remove(entry)

    @rule()
    def room_is_made(self) -> None:
        entry = next((entry for entry in self.model if entry[0].idle), None)
        assert self.roster.take_one_idle() is (entry[0] if entry else None)
        if entry is not None:
            self.model.remove(entry)

    @rule()
    def the_expired_go(self) -> None:
        old = [entry for entry in self.model if self.now - entry[1] >= TTL]
        kept = [entry for entry in self.model if entry not in old]
        busy = [(member, self.now) for member, _ in old if not member.idle]
        gone = [member for member, _ in old if member.idle]
        assert self.roster.take_expired(self.now) == gone
        self.model = kept + busy

    @invariant()
    def both_agree(self) -> None:
        assert list(self.roster) == [member for member, _ in self.model]
        assert len(self.roster) == len(self.model)
        assert self.roster.full == (len(self.model) >= MAXIMUM)
        for key in "abcdef":
            entry = self.in_model(key)
            assert self.roster.find(key) is (entry[0] if entry else None)

    @invariant()
    def nobody_has_to_go_before_the_next_look(self) -> None:
        earliest = min((needed + TTL for _, needed in self.model), default=self.now + TTL)
        assert self.roster.next_expiry(self.now) == earliest


RosterLikeAList.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestTheRosterAgreesWithAListWhateverHappens = RosterLikeAList.TestCase


def test_the_busy_are_never_sent_away_to_make_room() -> None:
    members = roster()
    members.add("a", Member("a", idle=False), 0.0)
    assert members.take_one_idle() is None
    assert len(members) == 1


def test_a_busy_member_past_its_time_counts_as_needed_now() -> None:
    members = roster()
    busy = Member("a", idle=False)
    members.add("a", busy, 0.0)
    assert members.take_expired(TTL) == []
    busy.idle = True
    assert members.take_expired(TTL + 9.9) == []
    assert members.take_expired(TTL + 10.0) == [busy]


def test_members_may_come_and_go_while_the_roster_is_being_read() -> None:
    members = roster()
    for key in "abc":
        members.add(key, Member(key), 0.0)
    for member in members:
        members.remove(member.key)
    assert len(members) == 0

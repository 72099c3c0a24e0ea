"""Databases are opened when they are needed, one at a time, and everybody else is served in between."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel

from greenroom.persistence import speedict_store
from greenroom.persistence.database import Database
from greenroom.persistence.files import sync_files
from greenroom.persistence.names import SESSIONS
from tests.admin.asking import kept_by, store_of
from tests.conversations.test_over_mcp import listed, serving, visit_of
from tests.talk.test_over_mcp import Visit


def databases(folder: Path) -> list[str]:
    found = (folder / "data" / "user_conversations").glob("*/db")
    return [each.parent.name for each in found if each.parent.name != SESSIONS]


async def told(visit: Visit) -> str:
    [conversation] = await listed(visit)
    return str(conversation["conversation_id"])


async def test_who_only_says_hello_leaves_no_database(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        first, second = await visit_of(house, user_id="alice"), await visit_of(house, user_id="alice")
        assert databases(tmp_path) == []
        assert list(store_of(house).users()) == []
        assert await told(first) == await told(second)
        assert len(databases(tmp_path)) == 1


async def test_the_conversation_that_was_promised_is_the_one_that_comes(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        opened = (await house.call("initialize", {"user_id": "alice"}))["structuredContent"]
        promised = opened["conversation"]
        assert promised["turn_count"] == 0
    async with serving(tmp_path) as house:
        visit = Visit(house, opened["session_id"])
        assert (await visit.execute("list_lent"))["isError"] is False
        [kept] = await listed(visit)
        assert kept["conversation_id"] == promised["conversation_id"]
        assert kept["turn_count"] == 1


async def test_no_two_databases_are_opened_or_closed_without_a_breath_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaths, marks = 0, []
    for name in ("_reopen", "close"):
        plain = getattr(Database, name)

        def marked(self: Database, plain: Any = plain) -> None:
            if SESSIONS not in self.path.parts:
                marks.append(breaths)
            plain(self)

        monkeypatch.setattr(Database, name, marked)
    async with serving(tmp_path, max_open_databases=2) as house, trio.open_nursery() as nursery:

        async def breathe() -> None:
            nonlocal breaths
            while True:
                breaths += 1
                await trio.lowlevel.checkpoint()

        visits = [await visit_of(house, user_id=f"user-{number}") for number in range(8)]
        nursery.start_soon(breathe)
        async with trio.open_nursery() as crowd:
            for visit in visits:
                crowd.start_soon(visit.execute, "list_lent")
        nursery.cancel_scope.cancel()
        # At least: one that had to go for another is opened once more if it is needed once more.
        assert len(marks) >= 8 + 6
        assert len(set(marks)) == len(marks)
        assert len(store_of(house).pool) == 2


async def test_a_database_that_was_closed_during_a_turn_is_there_again_at_its_end(tmp_path: Path) -> None:
    async with serving(tmp_path, max_open_databases=1) as house:
        alice, bob = await visit_of(house, user_id="alice"), await visit_of(house, user_id="bob")
        for visit in (alice, bob, alice, bob):
            await visit.execute("lend_book <title>Dune</title>")
        async with trio.open_nursery() as both:
            for visit in (alice, bob):
                both.start_soon(visit.execute, "list_lent")
        assert [each["turn_count"] for visit in (alice, bob) for each in await listed(visit)] == [3, 3]


async def test_what_was_written_is_synced_in_a_thread_soon_after(tmp_path: Path) -> None:
    async with serving(tmp_path, sync_ms=1) as house:
        visit = await visit_of(house, user_id="alice")
        await visit.execute("lend_book <title>Dune</title>")
        assert kept_by(house).sync_seconds == 0.001
        with trio.fail_after(10):
            while store_of(house).dirty:  # noqa: ASYNC110
                await trio.sleep(0.01)


async def test_nobody_is_let_in_while_what_was_written_is_being_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def slow_sync(paths: list[Path]) -> None:
        begun.set()
        assert may_end.wait(30)
        sync_files(paths)

    async with serving(tmp_path, sync_ms=1) as house, trio.open_nursery() as nursery:
        alice, bob = await visit_of(house, user_id="alice"), await visit_of(house, user_id="bob")
        await alice.execute("list_lent")
        monkeypatch.setattr(speedict_store, "sync_files", slow_sync)
        begun.clear()
        await alice.execute("list_lent")
        with trio.fail_after(20):
            await trio.to_thread.run_sync(begun.wait, 20)
            nursery.start_soon(bob.execute, "list_lent")
            while not kept_by(house)._disk.statistics().tasks_waiting:  # noqa: ASYNC110
                await trio.sleep(0.01)
        assert not store_of(house).at_hand("bob")
        assert (await alice.execute("list_lent"))["isError"] is False
        may_end.set()
    assert len(databases(tmp_path)) == 2

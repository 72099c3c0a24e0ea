"""The routes under /admin/ on a real socket, beside the sessions of a server that goes on serving."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import trio

from greenroom.persistence.administration import DAY_MS, export_all
from greenroom.persistence.memory_store import MemoryStore
from greenroom.persistence.store import Store
from greenroom.transport import admin
from tests.admin.asking import BEARER, OPEN, ask, kept_by, store_of, told
from tests.admin.stores import converse, database_of
from tests.conversations.test_over_mcp import serving, visit_of
from tests.talk import library
from tests.transport.playhouse import Wire, error_of, eventually
from tests.transport.test_traps import living, living_at_rest

# --- export and import -------------------------------------------------------------------------------------


async def test_what_one_server_exports_another_imports(tmp_path: Path) -> None:
    async with serving(tmp_path / "one", **OPEN) as house:
        for number in range(30):
            converse(store_of(house), f"user {number}", "c", 1000, active=True)
        exported = await ask(house, "GET", "/admin/conversations.jsonl")
        assert (exported.status_code, exported.headers["content-type"]) == (200, "application/jsonl")
        lines = [json.loads(line) for line in exported.text.splitlines()]
        assert lines == json.loads(json.dumps(list(export_all(store_of(house)))))
        assert len(lines) == 30 * 4
    async with serving(tmp_path / "two", **OPEN) as house:
        imported = await ask(house, "POST", "/admin/import", exported.content)
        assert imported.json() == {"users": 30, "conversations": 30, "turns": 60}
        assert (await ask(house, "GET", "/admin/conversations.jsonl")).content == exported.content
        again = await ask(house, "POST", "/admin/import", exported.content)
        assert again.json() == {"users": 0, "conversations": 0, "turns": 0}


async def test_an_export_of_nothing_is_empty(tmp_path: Path) -> None:
    async with serving(tmp_path, **OPEN) as house:
        assert (await ask(house, "GET", "/admin/conversations.jsonl")).content == b""


async def test_an_export_outlives_quarts_response_timeout_and_waits_for_a_slow_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def endless(store: Store) -> Any:
        for number in range(200):
            asked.append(number)
            yield {"user_id": "u", "words": "x" * 65536}

    monkeypatch.setattr(admin, "export_all", endless)
    async with serving(tmp_path, **OPEN) as house:
        house.app.config["RESPONSE_TIMEOUT"] = 0.05
        async with Wire.open(house.address, receive_buffer=65536) as wire:
            await wire.request("GET", "/admin/conversations.jsonl", BEARER)
            assert (await wire.response())["status"] == "200"
            await trio.sleep(0.2)
            assert len(asked) < 150
            assert len((await wire.rest()).splitlines()) == 200


async def test_a_reader_who_leaves_ends_the_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(store: Store) -> Any:
        while True:
            yield {"words": "x" * 65536}

    monkeypatch.setattr(admin, "export_all", endless)
    async with serving(tmp_path, **OPEN) as house:
        before = await living_at_rest()
        async with Wire.open(house.address) as wire:
            await wire.request("GET", "/admin/conversations.jsonl", BEARER)
            assert (await wire.response())["status"] == "200"
        await eventually(lambda: living() <= before)


async def test_an_export_that_meets_damage_at_once_is_an_error_and_later_on_breaks_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    data = tmp_path / "data" / "user_conversations"
    async with serving(tmp_path, **OPEN) as house:
        converse(store_of(house), "ann", "c", 1000, turns=2)
        store_of(house).user("ann").create_conversation("large", at=1, summary="x" * 2 * admin.CHUNK)
        converse(store_of(house), "bob", "c", 1000)
    bobs = database_of(data, "bob")
    (bobs / "CURRENT").write_bytes(b"nonsense")
    async with serving(tmp_path, **OPEN) as house:
        with pytest.raises(httpx.RemoteProtocolError):
            await ask(house, "GET", "/admin/conversations.jsonl")
        assert (await ask(house, "DELETE", "/admin/users/ann")).status_code == 200
        response = await ask(house, "GET", "/admin/conversations.jsonl")
        assert (response.status_code, told(response)["code"]) == (500, "store_damaged")
        assert str(data) not in response.text


@pytest.mark.parametrize("body", [b"{oops", b'{"user_id": "u", "type": "poem"}', b"\xff"])
async def test_a_line_that_cannot_be_imported_is_422_with_its_number(tmp_path: Path, body: bytes) -> None:
    async with serving(tmp_path, **OPEN) as house:
        response = await ask(house, "POST", "/admin/import", body)
        assert (response.status_code, told(response)["code"]) == (422, "unstorable_value")
        assert told(response)["message"].startswith("Line 1 cannot be imported: ")


# --- purge and forget --------------------------------------------------------------------------------------


async def test_a_purge_ends_the_users_sessions_and_leaves_nobody_elses(tmp_path: Path) -> None:
    async with serving(tmp_path, **OPEN) as house:
        alice, bob = await visit_of(house, user_id="alice"), await visit_of(house, user_id="bob")
        for visit in (alice, bob):
            await visit.execute("lend_book <title>Dune</title>")
        assert (await ask(house, "DELETE", "/admin/users/alice")).json() == {"purged": "alice"}
        assert list(store_of(house).users()) == ["bob"]
        assert error_of(await alice.execute("list_lent"))["name"] == "session_not_found"
        assert (await bob.execute("list_lent"))["isError"] is False
        again = await ask(house, "DELETE", "/admin/users/alice")
        assert (again.status_code, told(again)["code"]) == (404, "user_not_found")
        assert told(again)["details"] == {"user_id": "alice"}


async def test_a_purge_waits_for_a_turn_that_runs_so_that_nothing_is_written_after_it(tmp_path: Path) -> None:
    library.HELD.clear()
    async with serving(tmp_path, **OPEN) as house, trio.open_nursery() as nursery:
        visit = await visit_of(house, user_id="alice")
        nursery.start_soon(visit.execute, "hold")
        await eventually(lambda: not house.app.supervisor.find(visit.handle).idle)
        nursery.start_soon(ask, house, "DELETE", "/admin/users/alice")
        await eventually(lambda: len(house.app.supervisor) == 0)
        library.HELD.set()
        await eventually(lambda: list(store_of(house).users()) == [])
        assert len(store_of(house).handles) == 0


@pytest.mark.parametrize("user_id", ["../alice", "a b%2F?#", "https://issuer.example|42", "\u00fc\u2028", "x/"])
async def test_a_user_id_may_be_any_text(tmp_path: Path, user_id: str) -> None:
    async with serving(tmp_path, **OPEN) as house:
        converse(store_of(house), user_id, "c", 1000)
        response = await ask(house, "DELETE", f"/admin/users/{quote(user_id, safe='')}")
        assert (response.status_code, response.json()) == (200, {"purged": user_id})
        assert list(store_of(house).users()) == []


async def test_forgetting_deletes_what_is_older(tmp_path: Path) -> None:
    async with serving(tmp_path, **OPEN) as house:
        converse(store_of(house), "alice", "old", kept_by(house).now() - 91 * DAY_MS)
        converse(store_of(house), "alice", "young", kept_by(house).now() - 89 * DAY_MS)
        response = await ask(house, "POST", "/admin/forget", {"older_than_days": 90})
        assert response.json() == {"users": 1, "conversations": 1, "turns": 2, "failed": 0}
        for ages in (1e308, 10**400):
            nothing = await ask(house, "POST", "/admin/forget", {"older_than_days": ages})
            assert nothing.json() == {"users": 0, "conversations": 0, "turns": 0, "failed": 0}
        assert [each.id for each in store_of(house).user("alice").list_conversations().conversations] == ["young"]


async def test_forgetting_without_a_number_of_days_is_422(tmp_path: Path) -> None:
    numbers = ("0", "-1", "true", '"1"', "null", "NaN", "1e999")
    async with serving(tmp_path, **OPEN) as house:
        for body in ("", "{oops", "[1]", "{}", *(f'{{"older_than_days": {number}}}' for number in numbers)):
            response = await ask(house, "POST", "/admin/forget", body.encode())
            assert (response.status_code, told(response)["code"]) == (422, "invalid_arguments"), body


async def test_a_user_who_is_purged_is_not_named_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "greenroom.request")
    async with serving(tmp_path, **OPEN) as house:
        assert (await ask(house, "DELETE", "/admin/users/alice/of%20wonderland")).status_code == 404
    (path,) = [vars(each)["path"] for each in caplog.records if each.name == "greenroom.request"]
    assert path == "/admin/users/…"


# --- beside everything else --------------------------------------------------------------------------------


async def test_others_are_served_while_much_is_imported(tmp_path: Path) -> None:
    source = MemoryStore()
    converse(source, "alice", "c", 10_000, turns=500)
    body = b"".join(json.dumps(line).encode() + b"\n" for line in export_all(source))
    imported: list[httpx.Response] = []
    served = 0
    async with serving(tmp_path, **OPEN) as house, trio.open_nursery() as nursery:

        async def bring() -> None:
            imported.append(await ask(house, "POST", "/admin/import", body))

        nursery.start_soon(bring)
        with trio.fail_after(10):
            while not imported:
                assert (await house.client.get(f"{house.base}/health")).status_code == 200
                served += 1
    assert imported[0].json()["turns"] == 500
    assert served > 2

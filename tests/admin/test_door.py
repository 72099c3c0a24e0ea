"""Who gets in under /admin/, on a real socket, and that none of it is to be seen elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.admin.asking import OPEN, TOKEN, ask, store_of, told
from tests.admin.stores import converse
from tests.conversations.test_over_mcp import serving
from tests.transport.playhouse import Script, Wire, answer, eventually, open_house
from tests.transport.test_traps import living, living_at_rest

ROUTES = [
    ("GET", "/admin/conversations.jsonl"),
    ("POST", "/admin/import"),
    ("DELETE", "/admin/users/alice"),
    ("POST", "/admin/forget"),
    ("GET", "/admin"),
    ("GET", "/admin/"),
    ("GET", "/admin/nothing"),
]


async def test_without_a_token_configured_everything_is_404(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        for method, path in ROUTES:
            response = await ask(house, method, path)
            assert (response.status_code, told(response)["code"]) == (404, "not_found")
            assert "www-authenticate" not in response.headers


@pytest.mark.parametrize(
    "given", ["", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}s", f"Basic {TOKEN}", TOKEN, "Bearer \u00fb"]
)
async def test_without_the_right_token_everything_is_401(tmp_path: Path, given: str) -> None:
    headers = {b"authorization": given.encode()} if given else {}
    async with serving(tmp_path, **OPEN) as house:
        converse(store_of(house), "alice", "c", 1000)
        for method, path in ROUTES:
            response = await house.client.request(method, f"{house.base}{path}", headers=headers)
            assert (response.status_code, told(response)["code"]) == (401, "unauthorized")
            assert response.headers["www-authenticate"] == "Bearer"
        assert store_of(house).user("alice").get_conversation("c") is not None


async def test_a_foreign_origin_or_host_is_refused_even_with_the_token(tmp_path: Path) -> None:
    async with serving(tmp_path, **OPEN) as house:
        converse(store_of(house), "alice", "c", 1000)
        for method, path in ROUTES:
            foreign = await ask(house, method, path, origin="https://evil.example")
            assert (foreign.status_code, told(foreign)["code"]) == (403, "forbidden")
            rebound = await ask(house, method, path, host="evil.example")
            assert (rebound.status_code, told(rebound)["code"]) == (421, "misdirected_request")
        assert store_of(house).user("alice").get_conversation("c") is not None


async def test_behind_the_door_an_unknown_path_is_404_and_a_wrong_method_405(tmp_path: Path) -> None:
    async with serving(tmp_path, **OPEN) as house:
        unknown = await ask(house, "GET", "/admin/nothing")
        assert (unknown.status_code, told(unknown)["code"]) == (404, "not_found")
        wrong = await ask(house, "GET", "/admin/forget")
        assert (wrong.status_code, told(wrong)["code"]) == (405, "method_not_allowed")


async def test_other_paths_need_no_token(tmp_path: Path) -> None:
    async with serving(tmp_path, **OPEN) as house:
        assert (await house.client.get(f"{house.base}/health")).status_code == 200
        assert (await house.client.get(f"{house.base}/administrator")).status_code == 404


async def test_a_workflow_that_keeps_nothing_has_nothing_to_look_after() -> None:
    async with open_house(Script({}), **OPEN) as house:
        for method, path in ROUTES[:4]:
            response = await ask(house, method, path, {"older_than_days": 1})
            assert (response.status_code, told(response)["code"]) == (404, "nothing_kept")


@pytest.mark.parametrize("token", [TOKEN, "wrong"])
@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_that_is_too_large_is_refused_aloud_and_leaks_no_task(
    tmp_path: Path, token: str, announced: bool
) -> None:
    async with serving(tmp_path, body_limit=1000, **OPEN) as house:
        before = await living_at_rest()
        size = 3_000_000
        framing = {"content-length": str(size)} if announced else {"transfer-encoding": "chunked"}
        async with Wire.open(house.address) as wire:
            headers = {"authorization": f"Bearer {token}", **framing}
            await wire.request("POST", "/admin/import", headers, b"x" * size, framing=False)
            response = await wire.response()
            assert (response["status"], response["connection"]) == ("413", "close")
            assert json.loads(await wire.rest())["error"]["code"] == "body_refused"
        await eventually(lambda: living() <= before)


async def test_nothing_of_it_is_listed_over_mcp(tmp_path: Path) -> None:
    async with serving(tmp_path, **OPEN) as house:
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            listed = json.dumps(answer(await house.modern(method))["result"]).lower()
            for word in ("admin", "purge", "import", "export", "retention", TOKEN):
                assert word not in listed, (method, word)

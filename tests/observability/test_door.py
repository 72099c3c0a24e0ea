"""Who may look, on a real socket: loopback, the token, the cookie, and everybody else."""

from __future__ import annotations

import pytest

from greenroom.config.secret import Secret
from greenroom.transport.guard import Guard
from greenroom.transport.operator import BEARER_WANTED, COOKIE_SECONDS, Asked, Door, Refused, is_loopback
from tests.observability.looking import BEARER, ELSEWHERE, TOKEN, WITH_TOKEN, body, get, refused
from tests.transport.playhouse import House, Script, Wire, eventually, open_house
from tests.transport.test_traps import living, living_at_rest

PATHS = [
    "/sessions",
    "/sessions/0123456789ab",
    "/sessions/0123456789ab/turns",
    "/sessions/x/events",
    "/events",
    "/metrics",
]
JSON = {"content-type": "application/json"}


async def test_on_loopback_it_is_open_without_a_token() -> None:
    async with open_house(Script({})) as house:
        assert (await get(house, "/sessions")).json() == {"total": 0, "sessions": []}
        assert (await get(house, "/metrics")).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Real-IP",
        "Via",
        "x-forwarded-anything",
    ],
)
async def test_a_request_that_was_passed_on_is_not_from_loopback(header: str) -> None:
    async with open_house(Script({})) as house:
        for path in PATHS:
            assert refused(await get(house, path, **{header: "127.0.0.1"})) == (403, "operator_only")


async def test_a_public_address_elsewhere_closes_it_even_for_a_neighbour_on_loopback() -> None:
    async with open_house(Script({}), **ELSEWHERE) as house:
        for path in PATHS:
            response = await get(house, path)
            assert refused(response) == (403, "operator_only")
            assert "GREENROOM_ADMIN_TOKEN" in response.json()["error"]["message"]


async def test_the_public_name_in_the_host_needs_the_token() -> None:
    async with open_house(Script({}), **ELSEWHERE, **WITH_TOKEN) as house:
        assert refused(await get(house, "/sessions", host="shop.example")) == (401, "unauthorized")
        assert (await get(house, "/sessions", host="shop.example", **BEARER)).status_code == 200


@pytest.mark.parametrize("given", ["", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}s", f"Basic {TOKEN}", TOKEN])
async def test_a_wrong_token_is_401_with_a_way_in(given: str) -> None:
    async with open_house(Script({}), **ELSEWHERE, **WITH_TOKEN) as house:
        for path in PATHS:
            response = await get(house, path, **({"authorization": given} if given else {}))
            assert refused(response) == (401, "unauthorized")
            assert response.headers["www-authenticate"] == "Bearer"


async def test_a_foreign_host_or_origin_is_refused_even_on_loopback_and_with_the_token() -> None:
    async with open_house(Script({}), **WITH_TOKEN) as house:
        for path in PATHS:
            rebound = await get(house, path, host="evil.example", **BEARER)
            assert refused(rebound) == (421, "misdirected_request")
            foreign = await get(house, path, origin="https://evil.example", **BEARER)
            assert refused(foreign) == (403, "forbidden")


async def test_a_page_of_another_site_can_link_here_but_not_embed() -> None:
    async with open_house(Script({})) as house:
        site = {"sec-fetch-site": "cross-site"}
        embedded = await get(house, "/sessions", **site, **{"sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"})
        framed = await get(house, "/sessions", **site, **{"sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"})
        linked = await get(house, "/sessions", **site, **{"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"})
        assert refused(embedded) == refused(framed) == (403, "forbidden")
        assert linked.status_code == 200
        assert linked.headers["cross-origin-resource-policy"] == "same-origin"


# --- the cookie --------------------------------------------------------------------------------------------


async def login(house: House, token: object, **headers: str) -> str:
    """The cookie that a login gives."""
    response = await house.client.post(f"{house.base}/console/login", json={"token": token}, headers=headers)
    assert response.status_code == 200, response.text
    assert response.json() == {"status": "ok", "seconds": COOKIE_SECONDS}
    return response.headers["set-cookie"]


async def test_a_login_gives_a_cookie_that_is_not_the_token_and_opens_the_door() -> None:
    async with open_house(Script({}), **ELSEWHERE, **WITH_TOKEN) as house:
        cookie = await login(house, TOKEN)
        house.client.cookies.clear()
        pair, *rules = cookie.split("; ")
        assert TOKEN not in cookie
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Strict"} <= set(rules)
        assert refused(await get(house, "/sessions")) == (401, "unauthorized")
        assert (await get(house, "/sessions", cookie=pair)).status_code == 200
        changed = pair.replace("=1", "=2", 1)
        assert changed != pair
        assert refused(await get(house, "/sessions", cookie=changed)) == (401, "unauthorized")


async def test_over_plain_http_the_cookie_is_not_marked_secure() -> None:
    async with open_house(Script({}), public_url="http://shop.example", **WITH_TOKEN) as house:
        assert "Secure" not in await login(house, TOKEN)


async def test_a_cookie_of_another_server_opens_nothing() -> None:
    async with open_house(Script({}), **ELSEWHERE, **WITH_TOKEN) as house:
        pair = (await login(house, TOKEN)).split("; ")[0]
    async with open_house(Script({}), **ELSEWHERE, **WITH_TOKEN) as another:
        assert refused(await get(another, "/sessions", cookie=pair)) == (401, "unauthorized")


async def test_a_logout_takes_the_cookie_back() -> None:
    async with open_house(Script({}), **ELSEWHERE, **WITH_TOKEN) as house:
        response = await house.client.post(f"{house.base}/console/logout")
        assert response.status_code == 200
        assert "Max-Age=0" in response.headers["set-cookie"]


@pytest.mark.parametrize("given", [TOKEN[:-1], "", 7, None])
async def test_a_login_with_anything_else_gives_none(given: object) -> None:
    async with open_house(Script({}), **ELSEWHERE, **WITH_TOKEN) as house:
        response = await house.client.post(f"{house.base}/console/login", json={"token": given})
        expected = (401, "unauthorized") if isinstance(given, str) else (400, "invalid_arguments")
        assert refused(response) == expected
        assert "set-cookie" not in response.headers


async def test_a_login_from_a_foreign_page_or_from_a_form_is_refused() -> None:
    async with open_house(Script({}), **ELSEWHERE, **WITH_TOKEN) as house:
        url = f"{house.base}/console/login"
        foreign = await house.client.post(url, json={"token": TOKEN}, headers={"origin": "https://evil.example"})
        assert refused(foreign) == (403, "forbidden")
        form = await house.client.post(url, content=body(token=TOKEN), headers={"content-type": "text/plain"})
        assert refused(form) == (400, "invalid_arguments")


async def test_without_a_token_configured_there_is_nothing_to_log_in_with() -> None:
    async with open_house(Script({})) as house:
        response = await house.client.post(f"{house.base}/console/login", json={"token": ""})
        assert refused(response) == (403, "operator_only")


async def test_a_large_body_at_the_door_is_refused_and_leaves_nothing_behind() -> None:
    async with open_house(Script({})) as house:
        before = await living_at_rest()
        async with Wire.open(house.address) as wire:
            await wire.request("POST", "/console/login", JSON, b"x" * 200_000)
            assert (await wire.response())["status"] == "413"
        await eventually(lambda: living() <= before)


# --- the rules themselves ----------------------------------------------------------------------------------


def door(**changes: object) -> Door:
    token = Secret(TOKEN)
    return Door(**{"guard": Guard.of("http://localhost:1"), "token": token, "local": True, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:10.0.0.1", False),
        ("10.0.0.1", False),
        ("", False),
        ("localhost", False),
        (None, False),
    ],
)
def test_which_peers_are_on_this_machine(peer: str | None, expected: bool) -> None:
    assert is_loopback(peer) is expected
    admitted = door().judge(Asked(peer, {"host": "localhost:1"})) is None
    assert admitted is expected


def test_a_host_of_another_name_is_not_loopback_wherever_it_comes_from() -> None:
    named = door(guard=Guard.of("http://shop.example"))
    assert named.judge(Asked("127.0.0.1", {"host": "localhost"})) is None
    assert named.judge(Asked("127.0.0.1", {"host": "shop.example"})) == Refused(401, "unauthorized", BEARER_WANTED)


def test_a_cookie_is_good_until_its_date() -> None:
    now = [1000.0]
    ours = door(wall_clock=lambda: now[0], local=False)
    cookie = ours.cookie()
    asked = Asked("10.0.0.1", {"host": "localhost"}, cookie)
    assert ours.judge(asked) is None
    now[0] += COOKIE_SECONDS + 1
    assert isinstance(ours.judge(asked), Refused)


@pytest.mark.parametrize(
    "cookie", ["", ".", "9" * 30 + ".x", "9999999999.", "9999999999", "\u0663.x", "-1.x", "9999999999.\udc80"]
)
def test_a_cookie_that_was_made_up_is_not_ours(cookie: str) -> None:
    assert not door().is_ours(cookie)

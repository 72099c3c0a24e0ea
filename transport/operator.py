"""The operator's door: who may look at sessions, figures and the console.

On loopback it stands open. That is not only a matter of where a request comes from: a proxy on the same machine makes
the whole world look like loopback, so the public URL and the Host have to say loopback too, and nothing may say that
the request was passed on. Everywhere else it takes the operator's token, as a bearer or, for a page in a browser, as
the cookie that `POST /console/login` gives for it. The cookie is a signed date and not the token, and is worth nothing
after a restart. Before all that comes the guard of `/mcp`, for the sake of browsers that are made to ask.

    door.refusal()    in a `before_request`: None for whoever may come in, else the answer to give
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import attrs
from quart import Blueprint, Response, request

from greenroom.config.secret import Secret
from greenroom.config.settings import Settings
from greenroom.transport import sse
from greenroom.transport.guard import LOOPBACK, Guard

COOKIE = "greenroom_operator"
COOKIE_SECONDS = 12 * 3600

LOGIN, LOGOUT = "/console/login", "/console/logout"

BEARER_WANTED = "Send the token of GREENROOM_ADMIN_TOKEN as `Authorization: Bearer <token>`."
TOKEN_NEEDED = (
    "This is for the operator, and open without a token on loopback only. To use it from elsewhere, set "
    "GREENROOM_ADMIN_TOKEN and send it as `Authorization: Bearer <token>`."
)
CROSS_SITE = "A page of another site asked for this. Open it from the console, or in a tab of its own."

PRIVATE = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
}

_PASSED_ON = frozenset({"forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"})


@attrs.frozen
class Asked:
    """What the door looks at. Header names are in lower case."""

    peer: str | None
    headers: Mapping[str, str]
    cookie: str = ""


@attrs.frozen
class Refused:
    status: int
    code: str
    message: str


@attrs.frozen(eq=False)
class Door:
    guard: Guard
    token: Secret | None
    local: bool
    """Whether the public URL says that the server is used on this machine alone."""
    secure: bool = False
    """Whether browsers come over https."""
    wall_clock: Callable[[], float] = time.time
    _key: bytes = attrs.field(factory=lambda: secrets.token_bytes(32), repr=False)

    @classmethod
    def of(cls, settings: Settings, guard: Guard) -> Door:
        public = urlsplit(settings.public_url)
        local = (public.hostname or "").lower() in LOOPBACK
        return cls(guard, settings.admin_token, local, public.scheme == "https")

    # --- who may come in, without I/O ----------------------------------------------------------------------

    def judge(self, asked: Asked) -> Refused | None:
        refused = self.judge_browser(asked)
        if refused is not None or self._at_home(asked):
            return refused
        if self.token is None:
            return Refused(403, "operator_only", TOKEN_NEEDED)
        if is_bearer(asked.headers.get("authorization", ""), self.token) or self.is_ours(asked.cookie):
            return None
        return Refused(401, "unauthorized", BEARER_WANTED)

    def judge_browser(self, asked: Asked) -> Refused | None:
        """Whether a page that has no business here is behind the request, whatever token it carries."""
        headers = asked.headers
        refusal = self.guard.check(headers.get("host"), headers.get("origin"))
        if refusal is not None:
            code = "misdirected_request" if refusal.status == 421 else "forbidden"
            return Refused(refusal.status, code, refusal.message)
        # Without an Origin it may still be an image or a script of a foreign page; following a link is fine.
        followed = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        if headers.get("sec-fetch-site") == "cross-site" and "origin" not in headers and not followed:
            return Refused(403, "forbidden", CROSS_SITE)
        return None

    def _at_home(self, asked: Asked) -> bool:
        return self.local and is_loopback(asked.peer) and _names_loopback(asked) and not _was_passed_on(asked)

    # --- the cookie ----------------------------------------------------------------------------------------

    def cookie(self) -> str:
        until = str(int(self.wall_clock()) + COOKIE_SECONDS)
        return f"{until}.{self._signature(until)}"

    def is_ours(self, cookie: str) -> bool:
        until, _, signature = cookie.partition(".")
        if not (until.isascii() and until.isdecimal() and len(until) < 16):
            return False
        right = hmac.compare_digest(signature.encode("utf-8", "replace"), self._signature(until).encode())
        return right and int(until) > self.wall_clock()

    def _signature(self, until: str) -> str:
        return hmac.new(self._key, until.encode(), hashlib.sha256).hexdigest()

    # --- in a request of Quart's ---------------------------------------------------------------------------

    def refusal(self) -> Response | None:
        refused = self.judge(asked())
        return None if refused is None else answer_refused(refused)


def is_bearer(authorization: str, token: Secret) -> bool:
    scheme, _, given = authorization.partition(" ")
    right = hmac.compare_digest(given.strip().encode("utf-8"), token.reveal().encode("utf-8"))
    return scheme.lower() == "bearer" and right


def is_loopback(peer: str | None) -> bool:
    try:
        address = ipaddress.ip_address(peer or "")
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _names_loopback(asked: Asked) -> bool:
    return Guard(LOOPBACK, frozenset()).check(asked.headers.get("host"), None) is None


def _was_passed_on(asked: Asked) -> bool:
    return any(name in _PASSED_ON or name.startswith("x-forwarded") for name in asked.headers)


def asked() -> Asked:
    client = request.scope.get("client")
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Asked(client[0] if client else None, headers, request.cookies.get(COOKIE, ""))


# --- answers -----------------------------------------------------------------------------------------------


def answer(value: Any, status: int = 200) -> Response:
    return Response(sse.compact(value), status, {"content-type": "application/json", **PRIVATE})


def answer_refused(refused: Refused) -> Response:
    described = {"code": refused.code, "message": refused.message, "details": None}
    response = answer({"error": described}, refused.status)
    if refused.status == 401:
        response.headers["www-authenticate"] = "Bearer"
    return response


# --- signing in --------------------------------------------------------------------------------------------


def login_routes(door: Door) -> Blueprint:
    routes = Blueprint("operator_login", __name__)

    @routes.post(LOGIN)
    async def login() -> Response:
        refused = door.judge_browser(asked())
        if refused is not None:
            return answer_refused(refused)
        if door.token is None:
            return answer_refused(Refused(403, "operator_only", TOKEN_NEEDED))
        body = await request.get_json(silent=True)
        given = body.get("token") if isinstance(body, dict) else None
        if not isinstance(given, str):
            return answer_refused(Refused(400, "invalid_arguments", 'Send {"token": "..."} as application/json.'))
        if not is_bearer(f"Bearer {given}", door.token):
            return answer_refused(Refused(401, "unauthorized", "This is not the token of GREENROOM_ADMIN_TOKEN."))
        response = answer({"status": "ok", "seconds": COOKIE_SECONDS})
        _set_cookie(response, door, door.cookie(), COOKIE_SECONDS)
        return response

    @routes.post(LOGOUT)
    async def logout() -> Response:
        refused = door.judge_browser(asked())
        if refused is not None:
            return answer_refused(refused)
        response = answer({"status": "ok"})
        _set_cookie(response, door, "", 0)
        return response

    return routes


def _set_cookie(response: Response, door: Door, value: str, seconds: int) -> None:
    response.set_cookie(COOKIE, value, max_age=seconds, httponly=True, samesite="Strict", secure=door.secure, path="/")

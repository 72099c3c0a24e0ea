"""Looking after kept conversations over HTTP: `/admin/`, for whoever has the token, and never over MCP.

Without a token none of this exists, and everything under `/admin` is 404 like any other unknown path. With one, a
request first has its body read (see `http` for why), then passes the guard of `/mcp`, then shows the token, and only
then finds out whether there is such a path. The work is that of `administration`, in short steps: the store belongs
to the loop's own thread, so between two of them everybody else gets a turn.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import attrs
import trio
import trio.lowlevel
from quart import Blueprint, Response, request
from quart_trio import QuartTrio

from greenroom.actors.session import SessionActor
from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import GreenroomError, InvalidArguments, SessionNotFound
from greenroom.config.secret import Secret
from greenroom.config.settings import Settings
from greenroom.persistence.administration import (
    Counts,
    before_days,
    export_all,
    forget_step,
    import_step,
    purge_user,
    read_lines,
)
from greenroom.persistence.codec import dump_json
from greenroom.transport import sse
from greenroom.transport.bodies import BodyFirst
from greenroom.transport.guard import Guard
from greenroom.transport.operator import BEARER_WANTED, is_bearer
from greenroom.workflow.conversations.kept import KeptWorkflow

PREFIX = "/admin"

CHUNK = 64 * 1024
"""About what an export sends, and holds, at a time."""

LEAVING_SECONDS = 5.0
"""How long a purge waits for the turns of its user to stop. A thread cannot be made to."""


class NothingKept(GreenroomError):
    code, name = 404, "nothing_kept"

    def __init__(self) -> None:
        super().__init__("The workflow that is served here keeps no conversations.")


class UserNotFound(GreenroomError):
    code, name = 404, "user_not_found"

    def __init__(self, user_id: str) -> None:
        super().__init__(f"Nothing is kept of {user_id!r}.", user_id=user_id)


def install(application: QuartTrio, settings: Settings, guard: Guard, supervisor: Supervisor) -> None:
    if settings.admin_token is None:
        return
    routes = Blueprint("admin", __name__)
    _add_door(routes, guard, settings.admin_token)
    _add_moving(routes, supervisor)
    _add_removing(routes, supervisor)
    application.register_blueprint(routes)
    application.asgi_app = BodyFirst(application.asgi_app, settings.body_limit, _is_ours)  # type: ignore[assignment]


# --- the door ----------------------------------------------------------------------------------------------


def _is_ours(path: str) -> bool:
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def _add_door(routes: Blueprint, guard: Guard, token: Secret) -> None:
    @routes.before_app_request
    async def admit() -> Response | None:
        return _refusal(guard, token) if _is_ours(request.path) else None

    @routes.errorhandler(GreenroomError)
    async def tell(error: GreenroomError) -> Response:
        return _error(error.code, error.name, error.message, dict(error.data))


def _refusal(guard: Guard, token: Secret) -> Response | None:
    refused = guard.check(request.headers.get("host"), request.headers.get("origin"))
    if refused is not None:
        return _error(refused.status, "misdirected_request" if refused.status == 421 else "forbidden", refused.message)
    if is_bearer(request.headers.get("authorization", ""), token):
        return None
    refusal = _error(401, "unauthorized", BEARER_WANTED)
    refusal.headers["www-authenticate"] = "Bearer"
    return refusal


# --- the routes --------------------------------------------------------------------------------------------


def _add_moving(routes: Blueprint, supervisor: Supervisor) -> None:
    @routes.get(f"{PREFIX}/conversations.jsonl")
    async def export() -> Response:
        chunks = _chunks(export_all(_kept(supervisor).store))
        # The first one before the response begins: what is wrong by then can still be told with a status.
        response = Response(_sent(next(chunks, b""), chunks), 200, {"content-type": "application/jsonl", **_PRIVATE})
        response.timeout = None
        return response

    @routes.post(f"{PREFIX}/import")
    async def import_() -> Response:
        store = _kept(supervisor).store
        lines: bytes = await request.get_data()  # type: ignore[assignment]
        added = await _together(import_step(store, read_lines(lines.splitlines())))
        store.sync()
        return _json({"users": added.users, "conversations": added.conversations, "turns": added.turns})


def _add_removing(routes: Blueprint, supervisor: Supervisor) -> None:
    # A user id is any text, slashes included.
    @routes.delete(f"{PREFIX}/users/<path:user_id>", merge_slashes=False)
    async def purge(user_id: str) -> Response:
        store = _kept(supervisor).store
        had_sessions = await _end_sessions(supervisor, user_id)
        if not purge_user(store, user_id) and not had_sessions:
            raise UserNotFound(user_id)
        store.sync()
        return _json({"purged": user_id})

    @routes.post(f"{PREFIX}/forget")
    async def forget() -> Response:
        kept = _kept(supervisor)
        before = before_days(kept.now(), _days(await request.get_json(force=True, silent=True)))
        gone = await _together(forget_step(kept.store, before))
        kept.store.sync()
        return _json(attrs.asdict(gone))


def _kept(supervisor: Supervisor) -> KeptWorkflow:
    if not isinstance(supervisor.workflow, KeptWorkflow):
        raise NothingKept
    return supervisor.workflow


def _days(body: Any) -> float:
    days = body.get("older_than_days") if isinstance(body, dict) else None
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days < math.inf:
        raise InvalidArguments('Send {"older_than_days": N}, where N is a number of days greater than 0.')
    return days


async def _together(steps: Iterable[Counts]) -> Counts:
    done = Counts()
    for step in steps:
        done += step
        await trio.lowlevel.checkpoint()
    return done


async def _end_sessions(supervisor: Supervisor, user_id: str) -> bool:
    """None of theirs is open when this returns, so that nothing is written after the purge. Whether there were any."""
    had_sessions = False
    with trio.move_on_after(LEAVING_SECONDS):
        while leaving := _closed_now(supervisor, user_id):
            had_sessions = True
            while not all(actor.closed for actor in leaving):  # noqa: ASYNC110 - nothing announces it
                await trio.sleep(0.01)
    return had_sessions


def _closed_now(supervisor: Supervisor, user_id: str) -> list[SessionActor]:
    leaving: list[SessionActor] = []
    while True:
        try:
            leaving.append(supervisor.latest(user_id))
        except SessionNotFound:
            return leaving
        supervisor.close(leaving[-1])


# --- answers -----------------------------------------------------------------------------------------------

_PRIVATE = {"cache-control": "no-store"}


def _chunks(lines: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    chunk = bytearray()
    for line in lines:
        chunk += dump_json(line) + b"\n"
        if len(chunk) >= CHUNK:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)


async def _sent(first: bytes, rest: Iterator[bytes]) -> AsyncIterator[bytes]:
    """A store that fails on the way breaks the response off, so that nobody takes half an export for a whole one."""
    yield first
    for chunk in rest:
        yield chunk
        await trio.lowlevel.checkpoint()


def _described(code: str, message: str, details: Any = None) -> bytes:
    return sse.compact({"error": {"code": code, "message": message, "details": details or None}})


def _error(status: int, code: str, message: str, details: Any = None) -> Response:
    return Response(_described(code, message, details), status, {"content-type": "application/json", **_PRIVATE})


def _json(value: dict[str, Any]) -> Response:
    return Response(sse.compact(value), 200, {"content-type": "application/json", **_PRIVATE})

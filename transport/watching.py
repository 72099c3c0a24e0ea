"""What an operator can watch: `/sessions`, a session's turns, and what happens, as it happens.

    GET /sessions                 who is here, the most recently needed first
    GET /sessions/{id}            one of them
    GET /sessions/{id}/turns      its turns, the newest first
    GET /sessions/{id}/events     server-sent events: all that happens in it, until it ends
    GET /events                   server-sent events: sessions that come and go, turns that begin and end

Looking changes nothing: a session that is only looked at expires as if it were not. A watcher that is slow loses the
oldest events and is told how many; one that is gone is forgotten.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import trio
from quart import Blueprint, Response, request

from greenroom.actors.session import SessionActor
from greenroom.actors.sights import Watcher
from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import GreenroomError, InvalidArguments
from greenroom.persistence.records import Turn
from greenroom.transport import sse
from greenroom.transport.http import KEEP_ALIVE_SECONDS
from greenroom.transport.operator import PRIVATE, Door, answer
from greenroom.transport.sightings import (
    conversation_of,
    public_id,
    running_shown,
    session_shown,
    sight_shown,
    turns_shown,
)
from greenroom.workflow.conversations.kept import KeptWorkflow

LISTED, MAX_LISTED = 200, 1000
MAX_REMEMBERED = 20_000
TURNS, MAX_TURNS = 50, 500

MAX_DEPTH, MAX_TEXT = 20, 2000
"""Of what is not JSON and has to be shown all the same."""

RETRY_MS = 2000
"""When a browser should try again after a stream has ended."""


class NoSuchSession(GreenroomError):
    code, name = 404, "session_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such session here now. GET /sessions lists those that there are.")


class Directory:
    """Finds sessions by what an operator calls them. Remembers what it listed, so that finding is quick."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._handles: dict[str, str] = {}

    def remember(self, session_id: str, handle: str) -> None:
        if len(self._handles) >= MAX_REMEMBERED:
            self._handles.clear()
        self._handles[session_id] = handle

    def find(self, session_id: str) -> SessionActor:
        found = self._supervisor.peek(self._handles.get(session_id, ""))
        if found is None:
            self._handles = {public_id(actor.handle): actor.handle for actor, _ in self._supervisor.sessions()}
            found = self._supervisor.peek(self._handles.get(session_id, ""))
        if found is None:
            raise NoSuchSession
        return found


def watching_routes(door: Door, supervisor: Supervisor, wall_clock: Callable[[], float] = time.time) -> Blueprint:
    routes = Blueprint("watching", __name__)
    directory = Directory(supervisor)

    @routes.before_request
    async def admit() -> Response | None:
        return door.refusal()

    @routes.errorhandler(GreenroomError)
    async def tell(error: GreenroomError) -> Response:
        described = {"code": error.name, "message": error.message, "details": dict(error.data) or None}
        return answer({"error": described}, error.code)

    _add_looking(routes, supervisor, directory, wall_clock)
    _add_streams(routes, supervisor, directory, wall_clock)
    return routes


# --- looking -----------------------------------------------------------------------------------------------


def _add_looking(
    routes: Blueprint, supervisor: Supervisor, directory: Directory, wall_clock: Callable[[], float]
) -> None:
    def shown(actor: SessionActor, last_used: float) -> dict[str, Any]:
        seen = session_shown(actor, last_used, supervisor.recent_turns(actor.handle), trio.current_time())
        directory.remember(seen["id"], actor.handle)
        return seen

    @routes.get("/sessions")
    async def sessions() -> Response:
        everybody = supervisor.sessions()
        listed = everybody[::-1][: _limit(LISTED, MAX_LISTED)]
        return answer({"total": len(everybody), "sessions": [shown(*each) for each in listed]})

    @routes.get("/sessions/<session_id>")
    async def session(session_id: str) -> Response:
        actor = directory.find(session_id)
        last_used = next(used for each, used in supervisor.sessions() if each is actor)
        return answer(shown(actor, last_used))

    @routes.get("/sessions/<session_id>/turns")
    async def turns(session_id: str) -> Response:
        limit = _limit(TURNS, MAX_TURNS)
        actor = directory.find(session_id)
        listed = turns_shown(
            actor,
            _kept_turns(supervisor, actor, limit),
            supervisor.recent_turns(actor.handle),
            now=trio.current_time(),
            wall_clock=wall_clock(),
        )
        return Response(
            as_json({"session": session_id, "turns": listed[:limit]}),
            200,
            {"content-type": "application/json", **PRIVATE},
        )


def _limit(usual: int, most: int) -> int:
    text = request.args.get("limit", str(usual))
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= most):
        raise InvalidArguments(f"limit must be a whole number from 1 to {most}.")
    return int(text)


def _kept_turns(supervisor: Supervisor, actor: SessionActor, limit: int) -> tuple[Turn, ...]:
    conversation_id = conversation_of(actor)
    if conversation_id is None or not isinstance(supervisor.workflow, KeptWorkflow):
        return ()
    return supervisor.workflow.store.user(actor.user_id).turns(conversation_id, limit=limit)


# --- watching ----------------------------------------------------------------------------------------------


def _add_streams(
    routes: Blueprint, supervisor: Supervisor, directory: Directory, wall_clock: Callable[[], float]
) -> None:
    @routes.get("/sessions/<session_id>/events")
    async def session_events(session_id: str) -> Response:
        return _stream(supervisor, directory.find(session_id), wall_clock)

    @routes.get("/events")
    async def events() -> Response:
        return _stream(supervisor, None, wall_clock)


def _stream(supervisor: Supervisor, actor: SessionActor | None, wall_clock: Callable[[], float]) -> Response:
    supervisor.lookout.gallery.check_room()
    headers = {name.decode(): value.decode() for name, value in sse.HEADERS}
    response = Response(_frames(supervisor, actor, wall_clock), 200, {**PRIVATE, **headers})
    response.timeout = None
    return response


async def _frames(
    supervisor: Supervisor, actor: SessionActor | None, wall_clock: Callable[[], float]
) -> AsyncIterator[bytes]:
    # Entered here and not before the response began: a response that never does has nobody to leave for it.
    gallery = supervisor.lookout.gallery
    try:
        watcher = gallery.enter(actor.handle if actor is not None else None)
    except GreenroomError as error:
        # There was room a moment ago. A browser tries again by itself.
        yield _frame({"type": "error", "code": error.name, "message": error.message})
        return
    if actor is not None and actor.over:
        watcher.end()
    try:
        yield f"retry: {RETRY_MS}\n".encode() + _frame(_hello(supervisor, actor, round(wall_clock() * 1000)))
        while (seen := await _next_frames(watcher, wall_clock)) is not None:
            yield seen
    finally:
        gallery.leave(watcher)


async def _next_frames(watcher: Watcher, wall_clock: Callable[[], float]) -> bytes | None:
    """What has come, or a sign of life if nothing has for a while. None at the end."""
    with trio.move_on_after(KEEP_ALIVE_SECONDS):
        seen = await watcher.next()
        show = partial(sight_shown, at=round(wall_clock() * 1000), closely=watcher.session is not None)
        return b"".join(_frame(show(each)) for each in seen) or None
    return sse.KEEP_ALIVE


def _hello(supervisor: Supervisor, actor: SessionActor | None, at: int) -> dict[str, Any]:
    """How things stand when the watching begins, so that nothing is missed in between."""
    if actor is None:
        return {"type": "watching", "at": at, "session": None, "sessions": len(supervisor)}
    turn = running_shown(actor, trio.current_time())
    return {"type": "watching", "at": at, "session": public_id(actor.handle), "phase": actor.phase.value, "turn": turn}


def _frame(event: dict[str, Any]) -> bytes:
    return sse.event(as_json(event))


def as_json(value: dict[str, Any]) -> bytes:
    """What a workflow reports may be anything: what is not JSON is shown as its text."""
    try:
        return sse.compact(value)
    except (TypeError, ValueError, RecursionError):
        return sse.compact(_plain(value, MAX_DEPTH))


def _plain(value: Any, depth: int) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case dict() if depth:
            return {str(key): _plain(each, depth - 1) for key, each in value.items()}
        case list() | tuple() | set() | frozenset() if depth:
            return [_plain(each, depth - 1) for each in value]
        case _:
            return _text(value)


def _text(value: object) -> str:
    try:
        return str(value)[:MAX_TEXT]
    except Exception:  # whatever a workflow's own class does when it is asked for its text
        return f"<{type(value).__name__}>"

"""What a REST client is told when something is wrong: one shape, with the real status. Pure.

`{"error": {"code", "message", "details"}}`, where `code` is a stable name and `details` an object or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from greenroom.config.errors import GreenroomError, SessionNotFound

RETRY_AFTER = 5
"""Seconds, where a 503 does not know better."""

_HEADER = "`Authorization: Bearer <session_id>` or `X-Session-Id: <session_id>`"


class BadRequest(GreenroomError):
    code, name = 400, "bad_request"


class MissingSession(GreenroomError):
    code, name = 401, "session_missing"

    def __init__(self) -> None:
        super().__init__(f"Say which session is meant: send the session_id that /initialize returned as {_HEADER}.")


class NoSuchPath(GreenroomError):
    code, name = 404, "not_found"

    def __init__(self, path: str) -> None:
        super().__init__(f"There is nothing at {path[:200]!r}. /openapi.json lists what there is.")


class MethodNotAllowed(GreenroomError):
    code, name = 405, "method_not_allowed"

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This path takes {allowed}.", allowed=allowed)


class NotAcceptable(GreenroomError):
    code, name = 406, "not_acceptable"

    def __init__(self, offered: str) -> None:
        super().__init__(f"This answer comes as {offered}, and the Accept header wants none of that.", offered=offered)


class NotJson(GreenroomError):
    code, name = 415, "unsupported_media_type"

    def __init__(self) -> None:
        super().__init__("Send the body as JSON, with `Content-Type: application/json`.")


class ToolFailed(GreenroomError):
    """A tool that says itself that it has failed, in its own words."""

    code, name = 422, "tool_failed"


@attrs.frozen
class Answer:
    """A whole answer: what a client gets if nothing was streamed before."""

    status: int
    value: Mapping[str, Any]
    headers: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def fine(self) -> bool:
        return self.status < 400


def described(code: str, message: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "details": dict(details) if details else None}}


def answer_to(error: GreenroomError) -> Answer:
    return Answer(error.code, described(error.name, _sentence(error), error.data), _headers(error))


_AT_THE_DOOR = {403: "forbidden", 408: "request_timeout", 413: "body_too_large", 421: "misdirected_request"}


def refusal(status: int, message: str) -> Answer:
    """For what was refused before anybody knew which route was meant."""
    return Answer(status, described(_AT_THE_DOOR[status], message))


def _sentence(error: GreenroomError) -> str:
    if isinstance(error, SessionNotFound):
        return f"There is no such session. POST /initialize and send the session_id that it returns as {_HEADER}."
    return error.message


def _headers(error: GreenroomError) -> tuple[tuple[bytes, bytes], ...]:
    match error.code:
        case 401:
            return ((b"www-authenticate", b'Bearer realm="greenroom"'),)
        case 405:
            return ((b"allow", str(error.data["allowed"]).encode("ascii")),)
        case 503:
            return ((b"retry-after", str(error.data.get("retry_after", RETRY_AFTER)).encode("ascii")),)
        case _:
            return ()

"""From the bytes of a request to values that can be checked, or to the sentence that says what is wrong. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from greenroom.config.errors import InvalidArguments
from greenroom.transport.rest.faults import BadRequest, MissingSession, NotJson

MAX_DEPTH = 64
"""Of arrays and objects in each other. What is deeper is nobody's argument, but makes recursive code fall over."""

MAX_FIELDS = 100
"""Of a query string."""

LARGEST = 1e308
"""Larger numbers do not survive being a float somewhere on the way."""

_JSON_TYPE = re.compile(r"application/json\s*(?:;.*)?", re.IGNORECASE)
_WHOLE = re.compile(r"-?[0-9]{1,300}")
_NUMBER = re.compile(r"-?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?")
_BEARER = re.compile(r"bearer\s+(\S+)", re.IGNORECASE)


# --- bodies ------------------------------------------------------------------------------------------------


def read_object(body: bytes, content_type: str) -> dict[str, Any]:
    """The JSON object of a body; no body at all is an empty one."""
    if not body:
        return {}
    if not _JSON_TYPE.fullmatch(content_type.strip()):
        raise NotJson
    try:
        value = json.loads(
            body,
            object_pairs_hook=_once_each,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_moderate,
        )
    except RecursionError:
        raise BadRequest("The body is nested too deeply.") from None
    except ValueError as error:
        raise BadRequest(f"The body is not JSON that can be read: {str(error)[:200]}.") from None
    if _too_deep(value):
        raise BadRequest(f"The body is nested more than {MAX_DEPTH} levels deep.")
    if not isinstance(value, dict):
        fault = {"path": "", "message": "the body must be a JSON object"}
        raise InvalidArguments("The body must be a JSON object.", errors=[fault])
    return value


def _once_each(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Two fields of one name mean two things to two readers."""
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice[:80]!r} is given twice")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _moderate(text: str) -> int:
    number = int(text)
    if abs(number) > LARGEST:
        raise ValueError("a number is too large")
    return number


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return False
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: Any) -> Sequence[Any]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case _:
            return ()


# --- queries -----------------------------------------------------------------------------------------------


def read_query(query: bytes, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a query string, as what their schemas take them for. What does not fit stays as it is."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="utf-8", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise BadRequest(f"The query string has more than {MAX_FIELDS} fields.") from None
    given: dict[str, Any] = {}
    for name, text in pairs:
        if name in given:
            raise BadRequest(f"The query parameter {name[:80]!r} is given twice.")
        given[name] = _typed(text, properties.get(name, {}).get("type"))
    return given


def _typed(text: str, kind: Any) -> Any:
    if kind == "integer" and _WHOLE.fullmatch(text):
        return int(text)
    if kind == "number" and _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


# --- headers -----------------------------------------------------------------------------------------------


def session_of(headers: Mapping[str, str]) -> str:
    """The session that a request means, by either of its two headers."""
    authorization, plain = headers.get("authorization"), headers.get("x-session-id")
    bearer = _BEARER.fullmatch(authorization.strip()) if authorization is not None else None
    if plain is not None and bearer is not None and plain.strip() != bearer[1]:
        raise BadRequest("Authorization and X-Session-Id name two different sessions. Send one of them.")
    session = bearer[1] if bearer is not None else (plain or "").strip()
    if not session:
        raise MissingSession
    return session


def idempotency_key(headers: Mapping[str, str], arguments: Mapping[str, Any]) -> dict[str, str]:
    """The key from the header, for a body that does not have it."""
    header = headers.get("idempotency-key")
    if header is None:
        return {}
    if arguments.get("idempotency_key", header) != header:
        raise InvalidArguments("The Idempotency-Key header and idempotency_key in the body differ. Send one of them.")
    return {"idempotency_key": header}

"""The OpenAPI 3.1 document, made from the same routes that answer requests. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from greenroom.transport.rest import shapes
from greenroom.transport.rest.binding import Bound
from greenroom.transport.rest.table import Streams, Work

_ERRORS: Mapping[int, str] = {
    400: "The request cannot be read, or says two things at once",
    401: "It is not said which session is meant",
    403: "The page that asks comes from an origin that is not allowed",
    404: "There is no such session, conversation or turn",
    406: "The answer does not come in the form that the Accept header wants",
    408: "The body did not arrive in time",
    409: "The session is busy; details.turn_id says with which turn",
    413: "The body is too large",
    415: "The body is not sent as JSON",
    421: "The Host is not served here",
    422: "The arguments do not fit; details.errors lists what is wrong with them",
    429: "Too many requests; try again later",
    500: "The server or the workflow failed",
    503: "Not now: overloaded, shutting down, or something that is needed is not there",
    504: "The turn did not finish in time; with on_timeout defer it goes on",
}

_OF_BODIES = frozenset({408, 413, 415})
_OF_SESSIONS = frozenset({401, 404})
_OF_TURNS = frozenset({409, 429, 504})

_HEADERS: Mapping[int, tuple[str, str]] = {
    401: ("WWW-Authenticate", "Bearer"),
    503: ("Retry-After", "Seconds to wait"),
}

_INTRODUCTION = """

Open a session with POST /initialize and name it in every other call by its session_id, as
`Authorization: Bearer <session_id>` or as `X-Session-Id`. One turn at a time: while one is running, others get 409.

A stream is newline-delimited JSON or server-sent events. In NDJSON every line is `{"type": …, "data": …}`; in SSE the
type is the event's name. The types are `trace` (any number, as they happen), `progress` (from commands that say how far
they are), `dropped` (how many of these were lost because they were not read in time), and at the end exactly one
`output` or `error`. Skip the types that you have no use for. Empty lines and comments only keep the
connection alive. A client that leaves takes its turn with it, unless it gave an idempotency key.
"""


def describe(routes: Sequence[Bound], workflow_name: str, description: str, version: str) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for bound in routes:
        paths.setdefault(bound.route.path, {})[bound.route.method.lower()] = _operation(bound)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"Greenroom: {workflow_name}",
            "version": version,
            "description": description + _INTRODUCTION,
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {"Error": shapes.ERROR},
            "responses": {str(status): _error(status) for status in _ERRORS},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "The session_id of /initialize"},
                "session": {"type": "apiKey", "in": "header", "name": "X-Session-Id"},
            },
        },
    }


def _operation(bound: Bound) -> dict[str, Any]:
    route = bound.route
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "description": route.description,
        "security": [{"bearer": []}, {"session": []}] if route.session else [],
        "responses": {**_good(bound), **{str(status): _ref(status) for status in statuses(bound)}},
    }
    parameters = _parameters(bound)
    if parameters:
        operation["parameters"] = parameters
    if route.method == "POST":
        operation["requestBody"] = {
            "required": bool(bound.act.input_schema["required"]),
            "content": {"application/json": {"schema": dict(bound.act.input_schema), "example": dict(route.example)}},
        }
    return operation


def statuses(bound: Bound) -> list[int]:
    """The errors that this route can answer with."""
    route = bound.route
    never: set[int] = set()
    if route.method == "GET":
        never |= _OF_BODIES
    if not route.session:
        never |= _OF_SESSIONS
    if route.work not in (Work.TOOL, Work.GET_TURN, Work.CANCEL_PENDING) and route.streams is Streams.NEVER:
        never |= _OF_TURNS
    return [status for status in _ERRORS if status not in never]


def _good(bound: Bound) -> dict[str, Any]:
    schema = bound.act.tool.output_schema or {"type": "object"}
    content: dict[str, Any] = {}
    if bound.route.streams is not Streams.ALWAYS:
        content["application/json"] = {"schema": schema}
        if bound.route.answer_example is not None:
            content["application/json"]["example"] = bound.route.answer_example
    if bound.route.streams is not Streams.NEVER:
        content["application/x-ndjson"] = {"schema": shapes.lines(schema)}
        content["text/event-stream"] = {"schema": shapes.EVENT}
    others = {
        str(status): {"description": meaning, "content": {"application/json": {"schema": schema}}}
        for status, meaning in bound.route.also.items()
    }
    return {"200": {"description": "Done", "content": content}, **others}


def _parameters(bound: Bound) -> list[dict[str, Any]]:
    schema = bound.act.input_schema
    named = bound.in_path if bound.route.method == "POST" else schema["properties"].keys()
    parameters = [
        {
            "name": name,
            "in": "path" if name in bound.in_path else "query",
            "required": name in schema["required"],
            "schema": schema["properties"][name],
            **({"example": bound.route.example[name]} if name in bound.route.example else {}),
        }
        for name in named
    ]
    if bound.route.method == "POST" and "idempotency_key" in schema["properties"]:
        key = schema["properties"]["idempotency_key"]
        parameters.append({"name": "Idempotency-Key", "in": "header", "required": False, "schema": key})
    return parameters


def _ref(status: int) -> dict[str, str]:
    return {"$ref": f"#/components/responses/{status}"}


def _error(status: int) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": _ERRORS[status],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    if status in _HEADERS:
        name, meaning = _HEADERS[status]
        response["headers"] = {name: {"description": meaning, "required": True, "schema": {"type": "string"}}}
    return response

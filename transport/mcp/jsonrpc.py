"""JSON-RPC 2.0 messages as they come and go. Pure.

Inbound, a decoded body becomes one of three frozen values or a sentence that says what is wrong with it.
Outbound, messages are plain dictionaries in wire form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import attrs

Id = str | int

REQUEST_CANCELLED = -32800
"""The older era ends a request's stream only with a response, so a cancelled one needs a code (LSP's)."""


@attrs.frozen
class Request:
    id: Id
    method: str
    params: Mapping[str, Any] | None


@attrs.frozen
class Notification:
    method: str
    params: Mapping[str, Any] | None


@attrs.frozen
class Response:
    """The client's answer to a request of ours; exactly one of the two is there."""

    id: Id
    result: Mapping[str, Any] | None
    error: Mapping[str, Any] | None


Message = Request | Notification | Response


def decode(body: bytes) -> Any:
    """The JSON value of a body. Raises `ValueError` for anything that is not JSON, NaN and bombs included."""
    try:
        return json.loads(body, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def parse(value: Any) -> Message | str:
    """What kind of message this is, or why it is none."""
    if isinstance(value, list):
        return "Batches are not supported: send one message per request"
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return 'The body must be a JSON-RPC object with "jsonrpc": "2.0"'
    identity = value.get("id")
    if "id" in value and (isinstance(identity, bool) or not isinstance(identity, str | int)):
        return "The id must be a string or an integer"
    if "method" in value:
        return _parse_call(value)
    result, error = value.get("result"), value.get("error")
    if "id" in value and (result is None) != (error is None) and isinstance(error if result is None else result, dict):
        return Response(value["id"], result, error)
    return "The body is neither a request, a notification nor a response"


def _parse_call(value: Mapping[str, Any]) -> Message | str:
    method, params = value["method"], value.get("params")
    if not isinstance(method, str):
        return "The method must be a string"
    if params is not None and not isinstance(params, dict):
        return "The params must be an object"
    return Request(value["id"], method, params) if "id" in value else Notification(method, params)


def result(request_id: Id, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(request_id: Id | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    body = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": request_id, "error": body if data is None else {**body, "data": data}}


def notification(method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params or {}}


def request(request_id: Id, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}

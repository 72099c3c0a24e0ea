"""JSON by a faster library, wherever that cannot be told from the standard one. Pure.

`orjson` reads and writes many times faster than `json`, and differs from it in places: integers beyond 64 bits, very
small and infinite numbers, lone surrogates, text that is not ASCII, keys that are not text, depth. Here is what keeps
clear of all of them. Whoever gets None does it with `json` instead.
"""

from __future__ import annotations

from typing import Any

import orjson

MAX_DEPTH = 32
MAX_OPENED = 256
"""Arrays and objects of one body. `json` gives up on what is nested deeper than a thousand; `orjson` a little later."""

LEAST, BEYOND = 1e-4, 1e15
"""Between these two, both write a number with a fraction the same way; and an integer that `orjson` could not hold, and
made a fraction of, is above them."""

_DELETE = b"\x7f"
"""The one character of ASCII that `json` escapes and `orjson` does not."""

_LEAVES = frozenset({str, int, bool, type(None)})


def read(body: bytes) -> Any | None:
    """The value of a body, or None where it takes `json` to judge it. Ask `is_plain` of what counts in it."""
    if body.count(b"[") + body.count(b"{") > MAX_OPENED:
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def is_plain(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether a value is of JSON's own types and nothing else, and both libraries would agree about it."""
    kind = type(value)
    if kind is dict:
        for key, each in value.items():
            if type(key) is not str or not (type(each) in _LEAVES or (depth and is_plain(each, depth - 1))):
                return False
        return True
    if kind is list:
        return all(type(each) in _LEAVES or (depth and is_plain(each, depth - 1)) for each in value)
    if kind is float:
        return bool(value == 0 or LEAST <= abs(value) < BEYOND)
    return kind in _LEAVES


def write(value: Any) -> bytes | None:
    """What `sse.compact` makes of a value that is plain; None where only `json` knows that."""
    try:
        data = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return None
    return data if data.isascii() and _DELETE not in data else None

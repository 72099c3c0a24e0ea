"""One entry more in a JSON file that belongs to another program, and everything else as it was. Pure.

Bytes in, bytes out. What cannot be read without a doubt is not touched: `CannotMerge` says why.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

BOM = b"\xef\xbb\xbf"


class CannotMerge(Exception):
    """Reads on after the file's name."""


class AlreadyThere(CannotMerge):
    """There is another entry of that name."""


def merge(before: bytes, key: str, name: str, entry: Mapping[str, Any], *, replace: bool = False) -> bytes:
    """The file with `entry` as `name` in the object `key`. The same bytes again if it says so already."""
    content = read_object(before)
    servers = content.get(key, {})
    if not isinstance(servers, dict):
        raise CannotMerge(f'has a "{key}" that is not an object')
    if name in servers:
        if _is_same(servers[name], entry):
            return before
        if not replace:
            raise AlreadyThere(f'has another "{name}" already')
    # An entry that is replaced keeps its place.
    content[key] = {**servers, name: dict(entry)}
    return _write(content, before)


def read_object(raw: bytes) -> dict[str, Any]:
    try:
        text = raw.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise CannotMerge("is not text in UTF-8") from None
    if not text.strip():
        return {}
    try:
        content = json.loads(
            text, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        raise CannotMerge(_why_not_json(text, error)) from None
    except RecursionError:
        raise CannotMerge("is nested too deeply") from None
    except ValueError as error:
        # A number of more digits than Python converts.
        raise CannotMerge(f"cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise CannotMerge("does not hold a JSON object")
    return content


def _is_same(one: Any, other: Any) -> bool:
    # Not ==, for which 1, 1.0 and true are the same.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise CannotMerge(f"has {json.dumps(twice)} twice in one object, of which one would be lost")
    return found


def _refuse_constant(name: str) -> None:
    raise CannotMerge(f"has {name} in it, which is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise CannotMerge(f"has the number {text} in it, which is too large to be kept")
    return number


def _why_not_json(text: str, error: json.JSONDecodeError) -> str:
    place = f"line {error.lineno}, column {error.colno}"
    if re.match(r"\s*(//|/\*)", text[error.pos :]):
        return f"has comments in it ({place}), which would be lost"
    return f"is not valid JSON ({error.msg} at {place})"


# --- writing, in the manner of the file --------------------------------------------------------------------


def _write(content: Mapping[str, Any], before: bytes) -> bytes:
    text = before.removeprefix(BOM).decode("utf-8")
    written = _dumped(content, _indent_of(text))
    if not text.strip() or text.endswith("\n"):
        written += "\n"
    if "\r\n" in text:
        written = written.replace("\n", "\r\n")
    return (BOM if before.startswith(BOM) else b"") + written.encode("utf-8")


def _dumped(content: Mapping[str, Any], indent: str) -> str:
    written = json.dumps(content, indent=indent, ensure_ascii=False)
    try:
        written.encode("utf-8")
    except UnicodeEncodeError:
        # Half of a surrogate pair can only be written as an escape.
        return json.dumps(content, indent=indent)
    return written


def _indent_of(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "

"""Any value as plain JSON: what leaves the engine must not drag a workflow's objects along."""

from __future__ import annotations

import math
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python


def jsonable(value: Any) -> Any:
    """Never fails: what JSON cannot say is said in words."""
    try:
        return _finite(to_jsonable_python(value, fallback=_in_words, bytes_mode="base64"))
    # A cycle, or an object whose own serialiser fails.
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        return _in_words(value)


def _finite(value: Any) -> Any:
    """JSON has no word for the other numbers."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case list():
            return [_finite(item) for item in value]
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case _:
            return value


def _in_words(value: Any) -> str:
    try:
        return repr(value)
    # Somebody else's __repr__ may do anything, and is not worth a command.
    except Exception:
        return f"<{type(value).__name__}>"

"""In which form an answer is wanted, by the Accept header. Pure.

The best quality wins; of equals the one that is named first; if a wildcard leaves it open, the route's own.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence

_QUALITY = re.compile(r"q=([01](?:\.[0-9]{0,3})?)", re.IGNORECASE)


class Form(enum.Enum):
    JSON = "application/json"
    NDJSON = "application/x-ndjson"
    SSE = "text/event-stream"
    HTML = "text/html"


STREAM_FORMATS = {"ndjson": Form.NDJSON, "sse": Form.SSE}


def choose(accept: str | None, offered: Sequence[Form]) -> Form | None:
    """The wanted one of those that are offered, the route's own first; None if none of them is."""
    if accept is None or not accept.strip():
        return offered[0]
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    ranked = [(_rank(form, ranges), -index, form) for index, form in enumerate(offered)]
    (quality, _), _, best = max(ranked, key=lambda each: each[:2])
    return best if quality > 0 else None


def _range(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip() for piece in part.split(";"))
    quality = next((float(found[1]) for each in parameters if (found := _QUALITY.fullmatch(each))), 1.0)
    return kind.lower(), quality


def _rank(form: Form, ranges: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """Quality and place, the first being the highest, of the most specific range that this form is in."""
    for wanted in (form.value, f"{form.value.partition('/')[0]}/*", "*/*"):
        for place, (kind, quality) in enumerate(ranges):
            if kind == wanted:
                return quality, -place
    return 0.0, 0

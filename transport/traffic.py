"""Requests, counted by route and kind of answer, and those that are under way. Plain numbers; `metrics` shows them.

A route is the first part of a path that somebody serves here. Whatever else a client may ask for is counted as another,
so that nobody can make the server remember paths.
"""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.transport.requestlog import RequestRecord

OTHER = "other"
_CLASSES = ("none", "1xx", "2xx", "3xx", "4xx", "5xx")


class Traffic:
    def __init__(self) -> None:
        self.answered: dict[tuple[str, str], int] = {}
        """By route and class of status; "none" is for a client that was gone before there was one."""
        self.under_way: set[RequestRecord] = set()
        self._routes: dict[str, str] = {}
        self._whole: dict[str, str] = {}
        """The same for whole paths, which most requests have: no need to take those apart."""

    def serves(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._routes[_first(path)] = self._whole[path] = f"/{_first(path)}"

    def route_of(self, path: str) -> str:
        return self._whole.get(path) or self._routes.get(_first(path), OTHER)

    def begin(self, record: RequestRecord) -> None:
        self.under_way.add(record)

    def end(self, record: RequestRecord) -> None:
        self.under_way.discard(record)
        key = (self.route_of(record.path), _CLASSES[(record.status or 0) // 100])
        self.answered[key] = self.answered.get(key, 0) + 1

    @property
    def streams(self) -> int:
        """Responses that have begun and not ended. An ordinary one is among them for an instant only."""
        return sum(record.status is not None for record in self.under_way)


def _first(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""

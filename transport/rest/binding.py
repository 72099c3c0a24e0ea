"""The table made concrete: every route that the served workflow can play, with its schemas. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

import attrs

from greenroom.transport.bill import Act, StageOptions
from greenroom.transport.rest.faults import BadRequest, MethodNotAllowed, NoSuchPath
from greenroom.transport.rest.table import ROUTES, Route, Work
from greenroom.workflow.values import SessionUse, Tool

_STAGE = tuple(field.name for field in attrs.fields(StageOptions))
_OF_A_READER = frozenset({"user_id", "timeout_seconds"})
"""What the stage takes of a GET: it neither outlives its request nor is it dangerous to repeat."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@attrs.frozen
class Bound:
    """A route that is there, with the schema of its arguments, wherever in the request they come from."""

    route: Route
    act: Act
    """Checks the arguments, and has the schema of the answer."""
    played: Act | None
    """The tool on the bill that the route plays."""
    in_path: frozenset[str]

    @property
    def properties(self) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.act.input_schema["properties"]
        return properties

    def checked(self, given: Mapping[str, Any], in_path: Mapping[str, str]) -> dict[str, Any]:
        """The arguments of a request, from wherever they came, if they fit."""
        if self.in_path & given.keys():
            raise BadRequest(f"{sorted(self.in_path & given.keys())[0]} belongs into the path.")
        arguments = {**given, **in_path}
        self.act.check_arguments(arguments)
        return arguments

    def split(self, arguments: Mapping[str, Any]) -> tuple[StageOptions, dict[str, Any]]:
        """The stage's share of checked arguments, and the rest."""
        ours = {name: arguments[name] for name in _STAGE if name in arguments}
        return StageOptions(**ours), {name: value for name, value in arguments.items() if name not in ours}


def bind(bill: Mapping[str, Act], *, keeping: bool) -> tuple[Bound, ...]:
    """The routes that stand on something that is there. `keeping` says whether conversations are kept."""
    return tuple(_bound(route, bill) for route in ROUTES if _is_there(route, bill, keeping=keeping))


def _is_there(route: Route, bill: Mapping[str, Act], *, keeping: bool) -> bool:
    if route.work in (Work.CONVERSATIONS, Work.CONVERSATION) and not keeping:
        return False
    return route.tool is None or route.tool.name in bill


def _bound(route: Route, bill: Mapping[str, Act]) -> Bound:
    played = bill[route.tool.name] if route.tool is not None else None
    in_path = frozenset(_PLACEHOLDER.findall(route.path))
    answer = route.answer if route.answer is not None or played is None else played.tool.output_schema
    tool = Tool(
        route.name, route.summary, _request_schema(route, played, in_path), answer, session_use=SessionUse.NEVER
    )
    return Bound(route, Act.of(tool, {}), played, in_path)


def _request_schema(route: Route, played: Act | None, in_path: Iterable[str]) -> dict[str, Any]:
    theirs = played.input_schema if played is not None else {}
    given: Mapping[str, Any] = theirs.get("properties", {})
    options = {name: schema for name, schema in given.items() if name in _STAGE}
    own = route.properties
    if own is None:
        own = {name: schema for name, schema in given.items() if name not in _STAGE}
    properties = {**own, **route.more, **{name: options[name] for name in options if _takes(route, name)}}
    required = route.required if route.required is not None else tuple(theirs.get("required", ()))
    return {
        "type": "object",
        "properties": properties,
        "required": [*required, *(name for name in in_path if name not in required)],
        "additionalProperties": theirs.get("additionalProperties", True) if route.properties is None else False,
    }


def _takes(route: Route, option: str) -> bool:
    """Which session is said by a header; what else the stage takes is said by the kind of route."""
    if option == "session_id":
        return False
    return route.method == "POST" or option in _OF_A_READER if route.work is Work.TOOL else option == "user_id"


# --- finding one -------------------------------------------------------------------------------------------


@attrs.frozen
class Router:
    routes: tuple[Bound, ...]

    def find(self, method: str, raw_path: str) -> tuple[Bound, dict[str, str]]:
        """The route, and the arguments in its path. Raises what a client is to be told if there is none."""
        allowed: list[str] = []
        for bound in self.routes:
            given = _match(bound.route.path, raw_path)
            if given is None:
                continue
            if bound.route.method == method:
                return bound, given
            allowed.append(bound.route.method)
        if allowed:
            raise MethodNotAllowed(", ".join([*allowed, "OPTIONS"]))
        raise NoSuchPath(raw_path)

    def knows(self, raw_path: str) -> bool:
        return any(_match(bound.route.path, raw_path) is not None for bound in self.routes)


def _match(template: str, raw_path: str) -> dict[str, str] | None:
    wanted = template.split("/")
    given = raw_path.removesuffix("/").split("/")
    if len(wanted) != len(given):
        return None
    found: dict[str, str] = {}
    for want, have in zip(wanted, given, strict=True):
        text = unquote(have)
        if (placeholder := _PLACEHOLDER.fullmatch(want)) is not None:
            found[placeholder[1]] = text
        elif want != text:
            return None
    return found

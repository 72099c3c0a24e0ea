"""What Schemathesis is told of this server: how its streams are read, and a few values that mean something to it.

Loaded by Schemathesis itself (SCHEMATHESIS_HOOKS); `fuzz` says in the environment which ids there are.
"""

from __future__ import annotations

import json
import os
from typing import Any

import schemathesis

COMMANDS = (
    "what_can_i_do",
    "find_books <query>rain</query>",
    "open_book <title>The Lighthouse Ledger</title>",
    "open_basket",
    "list_orders",
    "reset_context",
    "find_books <query></query>",
    "open_book <title>nowhere</title>",
)

KNOWN: dict[str, tuple[str, ...]] = {
    "conversation_id": (os.environ.get("FUZZ_CONVERSATION", ""),),
    "turn_id": (os.environ.get("FUZZ_TURN", ""),),
    "user_id": ("fuzz",),
    "command": COMMANDS,
    "user_query": ("look for books about rain", "what is in my basket", "open the basket"),
    "command_name": tuple(command.partition(" ")[0] for command in COMMANDS),
    "cursor": ("1", "2"),
}


@schemathesis.deserializer("application/x-ndjson")
def read_lines(context: Any, response: Any) -> list[Any]:
    return [json.loads(line) for line in response.content.splitlines() if line]


def _known(given: Any) -> Any:
    """Most values that were made up become one that exists. By what was made up, so that a seed decides."""
    if not isinstance(given, dict):
        return given
    return {name: _instead(name, value) for name, value in given.items()}


def _instead(name: str, value: Any) -> Any:
    known = KNOWN.get(name)
    # An empty text or a very long one is wrong on purpose, and must stay so.
    if not known or not isinstance(value, str) or not 0 < len(value) <= 200 or len(value) % 4 == 0:
        return value
    return known[sum(map(ord, value)) % len(known)]


@schemathesis.hook
def map_query(context: Any, query: Any) -> Any:
    return _known(query)


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: Any) -> Any:
    return _known(path_parameters)


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    return _known(body)

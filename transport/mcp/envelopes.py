"""What a client says of itself in `_meta`, judged by the SDK's own validators, and remembered. Pure but for its memory.

A program says the same with every request it sends, so the verdict on it is kept. Only the keys that the protocol gives
a type to are judged; whatever else a client puts there is its own affair, and the SDK's models let it pass unread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp.types as t
import orjson
from mcp.server.connection import Connection
from mcp.types.methods import CLIENT_REQUESTS, validate_client_request
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from greenroom.transport.mcp import wire
from greenroom.workflow.questions import Ability

PROGRESS_TOKEN = "progressToken"

MAX_REMEMBERED = 256
MAX_REMEMBERED_BYTES = 4096
"""Of one client's own description; who says more is judged anew every time, in the general way."""

_CALL = "tools/call"


def typed_keys(version: str) -> frozenset[str]:
    """The keys of `_meta` that a version's surface has a type for."""
    params = CLIENT_REQUESTS[(_CALL, version)].model_fields["params"].annotation
    assert isinstance(params, type)
    assert issubclass(params, BaseModel)
    kinds = getattr(params.model_fields["meta"].annotation, "__args__", (params.model_fields["meta"].annotation,))
    models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return frozenset(field.alias or name for model in models for name, field in model.model_fields.items())


def is_token(value: Any) -> bool:
    """Whether this can only be read as the progress token it is."""
    return type(value) is str or type(value) is int


class Envelopes:
    """Of the newer era: who may be served by the lean way, and what they can be asked."""

    def __init__(self, version: str) -> None:
        self.version = version
        self._judged = (t.CLIENT_CAPABILITIES_META_KEY, t.CLIENT_INFO_META_KEY)
        self._general = typed_keys(version) - {*self._judged, PROGRESS_TOKEN, t.PROTOCOL_VERSION_META_KEY}
        self._known: dict[bytes, frozenset[Ability] | None] = {}

    def abilities(self, meta: Mapping[str, Any]) -> frozenset[Ability] | None:
        """What the client can be asked; None if this is not for the lean way to judge."""
        if meta.get(t.PROTOCOL_VERSION_META_KEY) != self.version or not self._general.isdisjoint(meta):
            return None
        if PROGRESS_TOKEN in meta and not is_token(meta[PROGRESS_TOKEN]):
            return None
        said = {key: meta[key] for key in self._judged if key in meta}
        key = orjson.dumps(said)
        if key in self._known:
            return self._known[key]
        if len(key) > MAX_REMEMBERED_BYTES:
            return None
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        verdict = self._known[key] = self._judge(said)
        return verdict

    def _judge(self, said: Mapping[str, Any]) -> frozenset[Ability] | None:
        params = {"name": "", "_meta": {**said, t.PROTOCOL_VERSION_META_KEY: self.version}}
        try:
            validate_client_request(_CALL, self.version, params)
            t.CallToolRequestParams.model_validate(params, by_name=False)
        except ValidationError:
            return None
        capabilities, info = (said.get(key) for key in self._judged)
        return wire.abilities(Connection.from_envelope(self.version, info, capabilities).client_capabilities)


_LEGACY_TYPED = frozenset[str]().union(*(typed_keys(version) for version in HANDSHAKE_PROTOCOL_VERSIONS))
_LEGACY_GENERAL = _LEGACY_TYPED - {PROGRESS_TOKEN}


def is_plain_legacy(meta: Mapping[str, Any]) -> bool:
    """Whether the older era's `_meta` holds nothing that has to be judged."""
    return _LEGACY_GENERAL.isdisjoint(meta) and (PROGRESS_TOKEN not in meta or is_token(meta[PROGRESS_TOKEN]))

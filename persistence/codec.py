"""Records to bytes and back, across releases.

Every record is a JSON object that carries the version of its schema. An older one is brought up to date by a chain of
small functions, one per version, when it is read; a newer one is refused, because what this release would write back
would lose what it does not know. The bytes are ASCII: whatever text a workflow answers comes back as JSON has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import attrs
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError, StructureHandlerNotFoundError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.preconf.json import JsonConverter, make_converter

from greenroom.persistence.errors import UnstorableValue
from greenroom.persistence.records import Conversation, Feedback, SessionHandle, Turn

Fields = dict[str, Any]
Migration = Callable[[Fields], Fields]
R = TypeVar("R")

_VERSION = "schema"


class BadRecord(ValueError):
    """Bytes that are not a record of this kind."""


class NewerSchema(ValueError):
    """A record of a release after this one."""

    def __init__(self, kind: str, version: int, known: int) -> None:
        super().__init__(f"a {kind} has schema version {version}, but this release knows versions up to {known}")
        self.version = version


def _as_it_is(value: Any, _: Any = None) -> Any:
    return value


def _make_converter() -> JsonConverter:
    converter = make_converter(detailed_validation=False, forbid_extra_keys=True)
    opaque = override(unstruct_hook=_as_it_is, struct_hook=_as_it_is)
    free: dict[type, Any] = {
        Turn: {"input": opaque, "outputs": opaque, "traces": opaque},
        SessionHandle: {"state": opaque},
        Feedback: {"binary_or_numeric_score": opaque},
    }
    for cls, fields in free.items():
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **fields))
        strict: Any = make_dict_structure_fn(
            cls, converter, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=False, **fields
        )
        converter.register_structure_hook(cls, strict)
    return converter


_CONVERTER = _make_converter()


@attrs.frozen
class Kind(Generic[R]):
    """One kind of record: its class, its version, and how to get there from each older one."""

    name: str
    cls: type[R]
    version: int = 1
    migrations: Mapping[int, Migration] = attrs.field(factory=dict)
    """From a version to the next."""

    def fields(self, record: R) -> Fields:
        """The record as a JSON object."""
        return {_VERSION: self.version, **_CONVERTER.unstructure(record)}

    def record(self, fields: Mapping[str, Any]) -> R:
        """The record in a JSON object of this version or an older one."""
        left = dict(fields)
        version = left.pop(_VERSION, None)
        if isinstance(version, bool) or not isinstance(version, int):
            raise BadRecord(f"a {self.name} without a schema version")
        if version > self.version:
            raise NewerSchema(self.name, version, self.version)
        try:
            for step in range(version, self.version):
                left = self.migrations[step](left)
            return _CONVERTER.structure(left, self.cls)
        except (*_MALFORMED, UnstorableValue) as error:
            raise BadRecord(f"not a {self.name} of schema version {version}: {error!r}") from error

    def dump(self, record: R) -> bytes:
        return dump_json(self.fields(record))

    def load(self, data: bytes) -> R:
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadRecord(f"a {self.name} that is not JSON") from error
        if not isinstance(fields, dict):
            raise BadRecord(f"a {self.name} that is not an object")
        return self.record(fields)


_MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    BaseValidationError,
    ForbiddenExtraKeysError,
    StructureHandlerNotFoundError,
)

CONVERSATION: Kind[Conversation] = Kind("conversation", Conversation)
TURN: Kind[Turn] = Kind("turn", Turn)
HANDLE: Kind[SessionHandle] = Kind("handle", SessionHandle)


def dump_json(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise UnstorableValue(f"This cannot be kept, because it is not JSON: {error}") from error

"""What extraction takes and gives: parameters in, values and what is missing out. Plain frozen values."""

from __future__ import annotations

from typing import Literal

import attrs

from greenroom.workflow.routing.reading import Value

Kind = Literal["str", "int", "float", "bool", "enum", "list"]


@attrs.frozen
class Parameter:
    name: str
    type: Kind = "str"
    required: bool = True
    pattern: str | None = None
    """What the whole value must match, if it is text."""
    examples: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    """The members of an `enum`."""
    description: str = ""


@attrs.frozen
class Extracted:
    """`values` by parameter name, a list as a tuple; `missing` names the required ones that were not found."""

    values: dict[str, Value]
    missing: tuple[str, ...]

"""The configuration for people: the effective values for `greenroom check`, and the table in the README."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from greenroom.config.secret import MASK, Secret, sounds_secret
from greenroom.config.settings import ROWS, Row, Settings
from greenroom.config.sources import Origin


def describe(settings: Settings) -> str:
    """One aligned line per variable: its name, its effective value, and where that came from."""
    lines = list(_lines(settings))
    name_width = max(len(name) for name, _ in lines)
    value_width = max(len(value) for _, value in lines)
    return "\n".join(
        f"{name:<{name_width}}  {value:<{value_width}}  (from {_origin(settings, name).value})" for name, value in lines
    )


def configuration_table() -> str:
    """The table of all variables in Markdown."""
    head = ["| variable | default | accepted | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *(_table_line(row) for row in ROWS.values())])


def _lines(settings: Settings) -> Iterator[tuple[str, str]]:
    for field, row in ROWS.items():
        value = getattr(settings, field)
        if row.family is None:
            yield row.variable, _shown(value)
        else:
            yield from ((name, MASK if sounds_secret(name) else _shown(item)) for name, item in value.items())


def _origin(settings: Settings, variable: str) -> Origin:
    return settings.origins.get(variable, Origin.DEFAULT)


def _shown(value: Any) -> str:
    match value:
        case None | ():
            return "-"
        case Secret():
            return MASK
        case bool():
            return str(value).lower()
        case float():
            return str(int(value)) if value.is_integer() else str(value)
        case tuple():
            return ",".join(value)
        case Mapping():
            return json.dumps(value)
        case _:
            return _on_one_line(str(value))


def _on_one_line(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)


def _table_line(row: Row) -> str:
    variables = ", ".join(f"`{name}`" for name in row.variable.split(", "))
    default = f"`{row.default}`" if row.default else ""
    return f"| {variables} | {default} | {row.form.accepted} | {row.summary} |"

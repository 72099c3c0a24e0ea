"""The explicit form of a command: `name <p1>value</p1> <p2>value</p2>`, read and written.

The rules, which `parse_command` and `format_command` share:

- The name goes up to white space, `(` or `<`.
- A value is everything up to its own closing tag, line breaks and other tags included. Only these are special in
  it: `&lt;` `&gt;` `&amp;` `&quot;` `&apos;` and numbers such as `&#10;` or `&#x1F600;` stand for a character.
  Any other `&` is itself, and so is `<`.
- White space around a value is dropped; write it as a number to keep it.
- A parameter that is a list takes one tag with a list in it (`coercion` knows the forms), or one tag per item.
- A command with a single parameter accepts any tag name.

Pure functions. A text that breaks the rules gives a `Malformed` that says where; nothing is raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import attrs

from greenroom.workflow.engine.definition import ParameterDef

_NAME = re.compile(r"[^\s(<]+")
_TAG = re.compile(r"<([^\s<>/]+)>")
_SPACE = re.compile(r"\s*")
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_LAST_CHARACTER = 0x10FFFF

Value = str | list[str]


@attrs.frozen
class CommandText:
    name: str
    parameters: Mapping[str, Value]
    """By parameter; a list if the tag was repeated. Not coerced yet."""


@attrs.frozen
class Malformed:
    problem: str
    position: int
    """Where in the text, counted from 0."""


def command_name(text: str) -> str | Malformed:
    """The first word, which says what command the rest belongs to."""
    start = _skip_space(text, 0)
    name = _NAME.match(text, start)
    return name.group() if name else Malformed("A command must begin with its name", start)


def parse_command(text: str, parameters: Sequence[ParameterDef]) -> CommandText | Malformed:
    """`parameters` are those of the command that `command_name` found."""
    name = command_name(text)
    if isinstance(name, Malformed):
        return name
    position = _skip_space(text, _skip_space(text, 0) + len(name))
    found: dict[str, Value] = {}
    while position < len(text):
        parameter = _opened(text, position, parameters)
        if isinstance(parameter, Malformed):
            return parameter
        tag = text[position + 1 : text.index(">", position)]
        start = position + len(tag) + 2
        end = text.find(f"</{tag}>", start)
        if end < 0:
            return Malformed(f"The tag <{tag}> is never closed with </{tag}>", position)
        if parameter.name in found and not parameter.is_list:
            return Malformed(f"The parameter {parameter.name} is given twice", position)
        _add(found, parameter.name, _decoded(text[start:end].strip()))
        position = _skip_space(text, end + len(tag) + 3)
    return CommandText(name, found)


def _opened(text: str, position: int, parameters: Sequence[ParameterDef]) -> ParameterDef | Malformed:
    """The parameter whose tag opens here."""
    tag = _TAG.match(text, position)
    if tag is None:
        rest = text[position:].split("<", 1)[0].strip() or text[position:]
        return Malformed(f"There is text outside of any tag: {_cut(rest)!r}", position)
    if not parameters:
        return Malformed(f"The command takes no parameters, but there is a tag <{tag[1]}>", position)
    if len(parameters) == 1:
        return parameters[0]
    for same in (str, str.casefold):
        for parameter in parameters:
            if same(parameter.name) == same(tag[1]):
                return parameter
    known = ", ".join(parameter.name for parameter in parameters)
    return Malformed(f"There is no parameter {tag[1]!r}; the parameters are: {known}", position)


def _add(found: dict[str, Value], name: str, value: str) -> None:
    match found.get(name):
        case None:
            found[name] = value
        case str() as first:
            found[name] = [first, value]
        case list() as earlier:
            earlier.append(value)


def format_command(name: str, parameters: Mapping[str, Any]) -> str:
    """The text that `parse_command` and `coercion` turn back into the same parameters. `None` is left out."""
    tags = [f"<{key}>{_encoded(_written(value))}</{key}>" for key, value in parameters.items() if value is not None]
    return " ".join([name, *tags])


def _written(value: Any) -> str:
    match value:
        case str() if not isinstance(value, Enum):
            return value
        case Enum():
            return _written(value.value)
        case bool():
            return "true" if value else "false"
        case list() | tuple() | dict():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)


def _encoded(value: str) -> str:
    body = value.strip()
    start = value.find(body) if body else len(value)
    before, after = value[:start], value[start + len(body) :]
    body = body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _as_numbers(before) + body + _as_numbers(after)


def _as_numbers(space: str) -> str:
    return "".join(f"&#{ord(character)};" for character in space)


def _decoded(value: str) -> str:
    def character(entity: re.Match[str]) -> str:
        named, decimal, hexadecimal = entity.groups()
        if named:
            return _ENTITIES[named]
        number = int(decimal) if decimal else int(hexadecimal, 16)
        return chr(number) if number <= _LAST_CHARACTER else entity.group()

    return _ENTITY.sub(character, value)


def _skip_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."

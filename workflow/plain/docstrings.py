"""What a docstring says: a description, what the parameters are, and how people ask for the command. Pure.

Three styles are read, and may be mixed: Google's `Args:`, NumPy's underlined `Parameters`, and `:param name:` of
reStructuredText. A section `Examples:` lists sentences that mean the command, one per line. Sections that only
readers of the code care about (`Returns:`, `Raises:` and so on) are left out.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence

import attrs

_PARAMETERS = frozenset({"args", "arguments", "parameters", "params", "keyword args", "other parameters"})
_EXAMPLES = frozenset({"examples", "example"})
_OTHERS = frozenset(
    {"returns", "return", "raises", "yields", "yield", "note", "notes", "see also", "attributes", "warnings", "todo"}
)
_SECTIONS = _PARAMETERS | _EXAMPLES | _OTHERS
_FIELD = re.compile(r":(?P<kind>\w+)(?P<about>[^:]*):\s*(?P<text>.*)")
_ENTRY = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)")
_NUMPY_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\w+)*)\s*(?::.*)?")
_UNDERLINE = re.compile(r"-{3,}|={3,}")
_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_QUOTES = ('""', "''", "``", "“”")
# "Parameter" fields of Sphinx; the others, such as :returns:, are for readers of the code.
_PARAMETER_FIELDS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})


@attrs.frozen
class Documentation:
    description: str = ""
    parameters: Mapping[str, str] = attrs.field(factory=dict)
    examples: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first paragraph, in one line."""
        return " ".join(self.description.split("\n\n", 1)[0].split())


@attrs.frozen
class _Section:
    title: str
    lines: Sequence[str]
    is_underlined: bool = False


def read_docstring(text: str | None) -> Documentation:
    if not text:
        return Documentation()
    prose, fields = _without_fields(inspect.cleandoc(text).splitlines())
    description: list[str] = []
    parameters: dict[str, str] = {}
    examples: list[str] = []
    for section in _sections(prose):
        if section.title in _PARAMETERS:
            parameters.update(_numpy_entries(section.lines) if section.is_underlined else _entries(section.lines))
        elif section.title in _EXAMPLES:
            examples += _sentences(section.lines)
        elif not section.title:
            description += section.lines
    return Documentation("\n".join(description).strip(), {**parameters, **fields}, tuple(dict.fromkeys(examples)))


def _without_fields(lines: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The text without its `:param x: …` fields, and what those say. A field goes on while lines are indented."""
    prose: list[str] = []
    found: dict[str, str] = {}
    current: str | None = None
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field:
            words = field["about"].split()
            is_parameter = field["kind"] in _PARAMETER_FIELDS and words
            current = words[-1].lstrip("*") if is_parameter else ""
            _add(found, current, field["text"])
        elif current is not None and line[:1].isspace():
            _add(found, current, line)
        else:
            current = None
            prose.append(line)
    found.pop("", None)
    return prose, found


def _sections(lines: Sequence[str]) -> Iterator[_Section]:
    """The text before any section has no title. So does what stands, not indented, after one of Google's."""
    title, underlined, at = "", False, 0
    inside: list[str] = []
    while at < len(lines):
        line, following = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
        name = line.strip().removesuffix(":").lower()
        is_top = bool(line.strip()) and not line[0].isspace()
        by_colon = is_top and name in _SECTIONS and line.rstrip().endswith(":")
        by_line = is_top and name in _SECTIONS and bool(_UNDERLINE.fullmatch(following.strip()))
        if by_colon or by_line or (is_top and title and not underlined):
            yield _Section(title, inside, underlined)
            title, underlined, inside = name if by_colon or by_line else "", by_line, []
            at += 2 if by_line else 1 if by_colon else 0
            if by_colon or by_line:
                continue
        inside.append(line)
        at += 1
    yield _Section(title, inside, underlined)


def _entries(lines: Sequence[str]) -> dict[str, str]:
    """`name (type): text`, where lines that are indented further belong to it."""
    found: dict[str, str] = {}
    current = ""
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    for line in lines:
        entry = _ENTRY.fullmatch(line.strip()) if _indent(line) == margin else None
        if entry:
            current = entry["name"]
            found[current] = entry["text"].strip()
        elif current:
            _add(found, current, line)
    return found


def _numpy_entries(lines: Sequence[str]) -> dict[str, str]:
    """`name : type` on a line of its own, the text indented below it; several names may share one."""
    found: dict[str, str] = {}
    current: list[str] = []
    for line in lines:
        entry = _NUMPY_ENTRY.fullmatch(line.strip()) if _indent(line) == 0 else None
        if entry:
            current = [name.strip().lstrip("*") for name in entry["names"].split(",")]
            found.update(dict.fromkeys(current, ""))
        else:
            for name in current:
                _add(found, name, line)
    return found


def _sentences(lines: Sequence[str]) -> Iterator[str]:
    """One per line, with or without a bullet or quotes. A doctest is no sentence, nor is what it prints."""
    in_code = False
    for line in lines:
        text = _BULLET.sub("", line.strip())
        in_code = bool(text) and (in_code or text.startswith((">>>", "...", "```")))
        if text[:1] + text[-1:] in _QUOTES and len(text) > 1:
            text = text[1:-1].strip()
        if text and not in_code:
            yield text


def _add(found: dict[str, str], name: str, line: str) -> None:
    found[name] = " ".join([*found.get(name, "").split(), *line.split()])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())

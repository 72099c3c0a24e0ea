"""What files a workflow folder is made of, and what its JSON files say. Reads; imports nothing.

`_commands/add.py` is a command of the global context; `_commands/ChatRoom/add_user.py` one of the context
`ChatRoom`, whose own class is in `_commands/ChatRoom/_ChatRoom.py`. Any other name that begins with `_` or `.` is
not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from greenroom.workflow.compat.workflow import GLOBAL
from greenroom.workflow.engine.definition import StartupAction
from greenroom.workflow.engine.problems import Problem, line_of

Report = Callable[[Problem], None]
ContextModel = Mapping[str, tuple[str, ...]]

COMMANDS = "_commands"


@attrs.frozen
class Files:
    commands: Mapping[tuple[str, str], Path]
    """By context and simple name."""
    contexts: Mapping[str, Path]


def find_files(folder: Path, report: Report, *, is_base: bool = False) -> Files:
    root = folder / COMMANDS
    if not root.is_dir():
        report(Problem(folder, f"there is no folder {COMMANDS} in it, so it is no workflow"))
        return Files({}, {})
    commands = {(GLOBAL, file.stem): file for file in _command_files(root)}
    contexts: dict[str, Path] = {}
    for place in sorted(root.iterdir()):
        if not place.is_dir() or place.name.startswith(("_", ".")):
            continue
        inside = _command_files(place)
        if not inside and not is_base:
            report(Problem(place, "this context has no command; add one, or remove the folder"))
        commands.update({(place.name, file.stem): file for file in inside})
        if (own_class := place / f"_{place.name}.py").is_file():
            contexts[place.name] = own_class
    return Files(commands, contexts)


def _command_files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*.py")) if not file.name.startswith(("_", ".")) and file.is_file()]


def read_context_inheritance(folder: Path, report: Report) -> ContextModel:
    return _read_model(folder / COMMANDS / "context_inheritance_model.json", "base", report)


def read_context_hierarchy(folder: Path, report: Report) -> ContextModel:
    return _read_model(folder / "context_hierarchy_model.json", "parent", report)


def _read_model(file: Path, key: str, report: Report) -> ContextModel:
    """`{"PremiumUser": {"base": ["User"]}}`, and the same with another key."""
    text, content = _read_json(file, report)
    if content is None:
        return {}
    if not isinstance(content, dict):
        report(Problem(file, "must hold an object: a context's name, and what belongs to it", 1))
        return {}
    model: dict[str, tuple[str, ...]] = {}
    for name, entry in content.items():
        names = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(names, list) and all(isinstance(one, str) for one in names):
            model[name] = tuple(names)
        else:
            wanted = f'{{"{key}": ["NameOfAContext"]}}'
            report(Problem(file, f"the entry of {name!r} must be of the form {wanted}", line_of(text, name)))
    return model


def read_workflow_bases(folder: Path, report: Report) -> tuple[str, ...]:
    file = folder / "workflow_inheritance_model.json"
    _, content = _read_json(file, report)
    if content is None:
        return ()
    bases = content.get("base", []) if isinstance(content, dict) else None
    if isinstance(bases, list) and all(isinstance(one, str) and one.strip() for one in bases):
        return tuple(one.strip() for one in bases)
    report(Problem(file, 'must be of the form {"base": ["package.path", "./a/path"]}', 1))
    return ()


def read_startup_action(folder: Path, report: Report) -> StartupAction | None:
    file = folder / "startup_action.json"
    text, content = _read_json(file, report)
    if content is None:
        return None
    match content:
        case {"command_name": str(name)} if name:
            parameters, command = content.get("parameters") or {}, content.get("command") or ""
            if isinstance(parameters, dict) and isinstance(command, str):
                return StartupAction(name, parameters, command)
    report(
        Problem(file, 'must be of the form {"command_name": "name", "parameters": {}}', line_of(text, "command_name"))
    )
    return None


def read_description(folder: Path, report: Report) -> str:
    return (_read_text(folder / "workflow_description.txt", report) or "").strip()


def line_in(file: Path, word: str) -> int:
    """The line of a file that was read already on which a word stands."""
    return line_of(file.read_text("utf-8-sig"), word)


def _read_json(file: Path, report: Report) -> tuple[str, Any]:
    """The text with what it says; None if there is no such file, or an empty one."""
    text = _read_text(file, report)
    if not text or not text.strip():
        return "", None
    try:
        return text, json.loads(text)
    except json.JSONDecodeError as error:
        report(Problem(file, f"is not valid JSON: {error.msg}", error.lineno))
    except RecursionError:
        report(Problem(file, "is not valid JSON: it is nested too deeply", 1))
    return text, None


def _read_text(file: Path, report: Report) -> str | None:
    try:
        return file.read_text("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        report(Problem(file, f"cannot be read: {error}", 1))
        return None

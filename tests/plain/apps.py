"""Writes small plain workflows for tests."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from greenroom.workflow.engine import Instance, ParameterDef, WorkflowDefinition, WorkflowProblems
from greenroom.workflow.plain.load import load_plain

USUAL = """
from __future__ import annotations
import dataclasses, enum, functools, typing
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import *
import attrs
from pydantic import BaseModel, Field
"""


def write(folder: Path, text: str, name: str = "app.py") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return file


def load(folder: Path, text: str) -> WorkflowDefinition:
    """A module with that text, after the usual imports."""
    return load_plain(write(folder, USUAL + textwrap.dedent(text)))


def session(folder: Path, text: str) -> Instance:
    return Instance(load(folder, text))


def parameters(folder: Path, text: str) -> dict[str, ParameterDef]:
    """Those of the only function in it."""
    [command] = [command for command in load(folder, text).commands if not command.is_core]
    return {parameter.name: parameter for parameter in command.parameters}


def problems(file: Path | str) -> list[str]:
    """What is wrong with it, files without their folder."""
    with pytest.raises(WorkflowProblems) as caught:
        load_plain(file)
    return [
        f"{problem.file.name}{f':{problem.line}' if problem.line else ''}: {problem.message}"
        for problem in caught.value.details
    ]


def own_commands(definition: WorkflowDefinition) -> list[str]:
    return [command.qualified_name for command in definition.commands if not command.is_core]


def says(instance: Instance, *commands: str) -> list[str]:
    return [instance.execute_text(command).text for command in commands]


def artifacts(instance: Instance, command: str) -> Any:
    [response] = instance.execute_text(command).responses
    return response.artifacts

"""Writes small workflow folders for tests."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from greenroom.workflow.engine import Instance, load_workflow


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    return folder


def command(
    body: str = 'return "done"', *, fields: str = "", signature: str = "", imports: str = "", call: str = "def"
) -> str:
    """A command file whose answer is what `body` returns. `p` are its parameters."""
    inner = textwrap.indent(textwrap.dedent(fields).strip() or "pass", " " * 8)
    extra = textwrap.indent(textwrap.dedent(signature).strip() or "pass", " " * 4)
    code = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    has_input = f"    class Input(BaseModel):\n{inner}\n" if fields else ""
    parameter = ", p" if fields else ""
    return (
        "import enum, sys, typing\n"
        "from typing import *\n"
        "import fastworkflow\n"
        "from fastworkflow import CommandOutput, CommandResponse\n"
        "from pydantic import BaseModel, ConfigDict, Field\n"
        f"{textwrap.dedent(imports)}\n\n"
        f"class Signature:\n{extra}\n{has_input}"
        "    @staticmethod\n"
        "    def generate_utterances(workflow, command_name):\n"
        "        return []\n\n"
        "class ResponseGenerator:\n"
        f"    {call} _answer(self, workflow, command{parameter}):\n{code}\n\n"
        f"    {call} __call__(self, workflow, command{parameter}):\n"
        f"        answer = {'await ' if call != 'def' else ''}self._answer(workflow, command{parameter})\n"
        "        if isinstance(answer, str):\n"
        "            return CommandOutput(command_responses=[CommandResponse(response=answer)])\n"
        "        return answer\n"
    )


def instance(folder: Path, files: Mapping[str, str]) -> Instance:
    return Instance(load_workflow(write(folder, files)))

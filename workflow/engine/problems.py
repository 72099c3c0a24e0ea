"""What is wrong with a workflow folder, all of it at once, for the operator who must mend it."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from pathlib import Path

import attrs

from greenroom.config.problems import ConfigurationError


@attrs.frozen
class Problem:
    file: Path
    message: str
    line: int | None = None
    """Counted from 1; absent for a folder, which has no lines."""

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.message}"


class WorkflowProblems(ConfigurationError):
    """The folder cannot be served as it is."""

    def __init__(self, folder: Path, details: Iterable[Problem]) -> None:
        self.folder = folder
        self.details = tuple(details)
        super().__init__([str(problem) for problem in self.details])

    def __str__(self) -> str:
        count = len(self.details)
        heading = f"The workflow in {self.folder} has {'a problem' if count == 1 else f'{count} problems'}:"
        return "\n".join([heading, *(f"  - {problem}" for problem in self.problems)])


def import_problem(file: Path, folder: Path, error: BaseException) -> Problem:
    """Blames the last line of the workflow's own code that was being run."""
    described = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        where, line = Path(error.filename), error.lineno
        return Problem(where, f"does not import: {type(error).__name__}: {error.msg}", line)
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(folder)
    ]
    if not frames:
        return Problem(file, f"does not import: {described}", 1)
    return Problem(Path(frames[-1].filename), f"does not import: {described}", frames[-1].lineno)


def line_of(text: str, word: str) -> int:
    """Where a key, or else a value, of a JSON text stands, so that a problem can name the line."""
    quoted = re.escape(f'"{word}"')
    found = re.search(rf"{quoted}\s*:", text) or re.search(quoted, text)
    return text.count("\n", 0, found.start()) + 1 if found else 1

"""`new`: a small workflow that runs at once, to begin one's own from.

The files are in `templates`, each with `.tmpl` behind its name, so that nobody takes them for modules of ours. `$name`
and `$path` in them are filled in.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from string import Template

from greenroom.commands.codes import FAILED, MISTAKE
from greenroom.commands.screen import fail
from greenroom.config.cli import New

TEMPLATES = Path(__file__).resolve().parent / "templates"
SUFFIX = ".tmpl"


def scaffold(command: New) -> int:
    folder = command.folder
    problem = _problem_with(folder)
    if problem is not None:
        fail(problem)
        return MISTAKE
    try:
        written = write(TEMPLATES / ("plain" if command.plain else "workflow"), folder)
    except OSError as error:
        fail(f"{folder} cannot be written: {error.strerror or error}.")
        return FAILED
    served = shlex.quote(str(folder / "app.py" if command.plain else folder))
    print(f"Wrote {len(written)} file{'' if len(written) == 1 else 's'} into {folder}. Serve it:\n")
    print(f"    greenroom serve {served}\n\nand talk to it in another terminal:\n\n    greenroom chat")
    return 0


def write(template: Path, folder: Path) -> list[Path]:
    """Every file of the template, filled in. None is there yet, so none is overwritten."""
    filled = {"name": folder.resolve().name, "path": shlex.quote(str(folder))}
    written = []
    for source in sorted(template.rglob(f"*{SUFFIX}")):
        target = folder / source.relative_to(template).with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(Template(source.read_text(encoding="utf-8")).safe_substitute(filled))
        written.append(target)
    return written


def _problem_with(folder: Path) -> str | None:
    name = folder.resolve().name
    if not re.fullmatch(r"[^\W_][\w.-]*", name):
        return f"{name!r} is no name for a workflow: use letters, digits, - and _, and begin with a letter or digit."
    if folder.is_symlink() and not folder.exists():
        return f"{folder} is a link that leads nowhere: remove it, or choose another name."
    if folder.exists() and not folder.is_dir():
        return f"{folder} is a file: choose another name."
    if folder.is_dir() and any(folder.iterdir()):
        return f"{folder} is not empty, and nothing in it is overwritten: choose another name, or empty it."
    return None

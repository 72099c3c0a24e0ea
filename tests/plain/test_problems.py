"""What is wrong with a module is said at the start, all of it, with file and line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from greenroom.config.problems import ConfigurationError
from greenroom.config.settings import Settings
from greenroom.workflow.catalog import find_workflow
from tests.plain.apps import load, problems, write
from tests.transport.process import ROOT

BROKEN = '''\
"""Sells tea."""

from typing import Callable


def add(a, b: int) -> int:
    return a + b


def add(c: int, *more: int) -> int:
    return c


class Shop:
    def sell(self, what: Callable[[], int], /, price: float) -> str:
        """Sell it."""

    def Sell(self) -> str: ...


async def stream():
    yield 1


def opaque(thing: Callable[[], int]) -> str: ...
'''


def test_all_problems_are_reported_with_their_lines(tmp_path: Path) -> None:
    assert problems(write(tmp_path, BROKEN)) == [
        "app.py:10: add is defined twice, the first time in line 6; rename one of them",
        "app.py:18: Shop/Sell is defined twice, the first time in line 15; rename one of them",
        "app.py:10: add: *more has no place in a command; write a parameter that is a list",
        "app.py:21: stream: an async generator cannot be a command; return a list",
        "app.py:25: opaque: the type of the parameter 'thing' cannot be described to a client: "
        "Cannot generate a JsonSchema for core_schema.CallableSchema",
        "app.py:15: Shop/sell: the parameter 'what' is positional-only, and clients give names; remove the /",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def f(:\n    pass\n", "app.py:1: does not import: SyntaxError: invalid syntax"),
        ("x = 1\n\nx.y\n", "app.py:3: does not import: AttributeError: 'int' object has no attribute 'y'"),
        ("\nimport no_such_thing\n", "app.py:2: does not import: ModuleNotFoundError: No module named 'no_such_thing'"),
        ("import sys\nsys.exit('enough')\n", "app.py:2: does not import: SystemExit: enough"),
        ("\nfrom broken import x\n", "broken.py:2: does not import: ZeroDivisionError: division by zero"),
        (
            "x = 1\n",
            "app.py:1: there is no public function and no class with a public method in it; "
            "write one, or name those that are imported in __all__",
        ),
        (
            "def f() -> str: ...\n__all__ = ['f', 'g']\n",
            "app.py:2: __all__ names 'g', and there is nothing of that name",
        ),
        (
            "class A:\n    def f() -> str: ...\n",
            "app.py:2: A/f: has no parameter for the object itself; add self, or make it a staticmethod",
        ),
        (
            "class A:\n    def f(self) -> str: ...\n"
            "B = A\nclass A:\n    def f(self) -> str: ...\n__all__ = ['B', 'A']\n",
            "app.py:4: A is defined twice, the first time in line 1; rename one of them\n"
            "app.py:6: __all__ names two classes that are called A; rename one of them",
        ),
        (
            "def f(x) -> str: ...\n",
            "app.py:1: f: the parameter 'x' has no type hint; write one, such as x: str, or begin the function's name "
            "with _ if it is no command",
        ),
        (
            "def f(**x: int) -> str: ...\n",
            "app.py:1: f: **x has no place in a command; name the parameters, or write one dict",
        ),
        (
            "def f(x: 'Nowhere') -> str: ...\n",
            "app.py:1: f: the type hint of the parameter 'x', Nowhere, cannot be understood",
        ),
    ],
)
def test_each_problem_names_its_place(tmp_path: Path, text: str, problem: str) -> None:
    write(tmp_path, "\nx = 1 / 0\n", "broken.py")
    assert problems(write(tmp_path, text)) == problem.splitlines()


def test_names_that_are_defined_again_on_purpose_are_no_problem(tmp_path: Path) -> None:
    text = """
        @overload
        def f(a: int) -> int: ...
        @overload
        def f(a: str) -> str: ...
        def f(a: int | str) -> int | str: return a
        class Shop:
            @property
            def size(self) -> int: return 1
            @size.setter
            def size(self, value: int) -> None: ...
            def show(self) -> str: ...
        if sys_is_old := False:
            def g() -> str: ...
        else:
            def g() -> str: ...
        def shop() -> Shop: ...
    """
    assert load(tmp_path, text).contexts["*"].commands.keys() == {"f", "g", "shop"}


@pytest.mark.parametrize("broken", ["import no_such_thing\n", "def untyped(a) -> str: ...\n"])
def test_a_module_that_was_broken_can_be_loaded_once_it_is_mended(tmp_path: Path, broken: str) -> None:
    problems(write(tmp_path, broken))
    assert load(tmp_path, "def mended() -> str: ...").contexts["*"].commands.keys() == {"mended"}


def test_what_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    assert problems(tmp_path / "nothing.py") == ["nothing.py: there is no such file, package or module"]
    assert problems("no_such_package.module") == ["no_such_package.module: there is no such file, package or module"]


def test_a_name_that_python_cannot_import_is_said_to_be_one(tmp_path: Path) -> None:
    file = write(tmp_path, "def f() -> str: ...", "my.app.py")
    assert problems(file) == ["my.app.py: Python cannot import a file with a dot in its name; rename it"]


def test_a_broken_module_is_never_served(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"app\.py:15: Shop/sell"):
        find_workflow(Settings(workflow=str(write(tmp_path, BROKEN)), speeddict_foldername=tmp_path / "data"))


@pytest.mark.parametrize("command", ["check", "serve"])
def test_the_command_line_shows_them_all_and_ends_with_a_code(tmp_path: Path, command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "greenroom", command, "--workflow", str(write(tmp_path, BROKEN)), "--port", "0"],
        cwd=ROOT,
        env={"SPEEDDICT_FOLDERNAME": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "has 6 problems:" in done.stderr
    assert f"{tmp_path}/app.py:25: opaque" in done.stderr
    assert "Traceback" not in done.stderr

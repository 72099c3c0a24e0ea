"""Where plain Python may lie, and what it sees of the world around it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from greenroom.config import forms
from greenroom.workflow.catalog import load_definition
from greenroom.workflow.engine import Instance
from greenroom.workflow.plain.load import load_plain
from tests.engine.folders import command
from tests.plain.apps import own_commands, problems, says, write

HELLO = "def hello() -> str:\n    return 'hello'\n"


def test_a_file_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "NAME = 'Ada'\n", "helper.py")
    write(tmp_path, "from .part import WORD\n", "deep/__init__.py")
    write(tmp_path, "WORD = 'deep'\n", "deep/part.py")
    app = write(tmp_path, "import deep.part, helper\ndef who() -> str:\n    return helper.NAME + deep.part.WORD\n")
    assert says(Instance(load_plain(app)), "who") == ["Adadeep"]


def test_what_lies_beside_a_file_wins_over_what_is_installed_and_stays_out_of_its_way(tmp_path: Path) -> None:
    write(tmp_path, "NAME = 'mine'\n", "httpx.py")
    app = write(tmp_path, "import httpx, json\ndef who() -> str:\n    return httpx.NAME + json.dumps(1)\n")
    assert says(Instance(load_plain(app)), "who") == ["mine1"]
    import httpx

    assert hasattr(httpx, "AsyncClient")


def test_two_files_of_the_same_name_are_two_workflows(tmp_path: Path) -> None:
    apps = []
    for name in ("one", "two"):
        write(tmp_path, f"NAME = '{name}'\n", f"{name}/shop/helper.py")
        text = "from helper import NAME\ndef who() -> str:\n    return NAME\n"
        apps.append(Instance(load_plain(write(tmp_path, text, f"{name}/shop/app.py"))))
    assert [says(app, "who") for app in apps] == [["one"], ["two"]]
    assert "app" not in sys.modules
    assert "helper" not in sys.modules


def test_the_path_of_python_is_left_alone(tmp_path: Path) -> None:
    before = list(sys.path)
    load_plain(write(tmp_path, HELLO))
    assert sys.path == before


def test_a_folder_with_an_init_is_a_package(tmp_path: Path) -> None:
    write(tmp_path, "from .parts import hello\n__all__ = ['hello']\n", "shop/__init__.py")
    write(tmp_path, HELLO, "shop/parts.py")
    definition = load_definition(str(tmp_path / "shop"))
    assert (definition.name, definition.folder) == ("shop", tmp_path / "shop")
    assert says(Instance(definition), "hello") == ["hello"]


def test_a_package_may_call_itself_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, "from shop.parts import hello\n__all__ = ['hello']\n", "shop/__init__.py")
    write(tmp_path, HELLO, "shop/parts.py")
    assert says(Instance(load_plain(tmp_path / "shop")), "hello") == ["hello"]


def test_a_package_is_there_once_whoever_imports_it(tmp_path: Path) -> None:
    text = "TABLE = []\nfrom .parts import add\n__all__ = ['add', 'show']\ndef show() -> list[str]:\n    return TABLE\n"
    write(tmp_path, text, "shop/__init__.py")
    write(tmp_path, "def add() -> None:\n    from . import TABLE\n    TABLE.append('x')\n", "shop/parts.py")
    assert says(Instance(load_plain(tmp_path / "shop")), "add", "show") == ["Done.", "- x"]


def test_a_folder_of_commands_is_what_it_was_even_with_an_init(tmp_path: Path) -> None:
    write(tmp_path, HELLO, "shop/__init__.py")
    write(tmp_path, command(), "shop/_commands/greet.py")
    assert own_commands(load_definition(str(tmp_path / "shop"))) == ["greet"]


@pytest.mark.parametrize("name", ["app", "shop.app", "shop", "shop.deep.app"])
def test_the_name_of_a_module_is_looked_for_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for file in ("app.py", "shop/app.py", "shop/__init__.py", "shop/deep/app.py"):
        write(tmp_path, f"def where() -> str:\n    return '{file}'\n", file)
    monkeypatch.chdir(tmp_path)
    assert forms.WORKFLOW.parse(name) == name
    found = {"app": "app.py", "shop": "shop/__init__.py"}.get(name, name.replace(".", "/") + ".py")
    assert says(Instance(load_definition(name)), "where") == [found]


def test_a_module_by_name_sees_its_package_and_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "A = 'a'\n", "beside.py")
    write(tmp_path, "B = 'b'\n", "shop/other.py")
    text = "from beside import A\nfrom shop.other import B\nfrom . import other\n"
    write(tmp_path, text + "def all_of_it() -> str:\n    return A + B + other.B\n", "shop/app.py")
    monkeypatch.chdir(tmp_path)
    assert says(Instance(load_definition("shop.app")), "all_of_it") == ["abb"]


def test_an_installed_module_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, HELLO, "site/installed_shop/__init__.py")
    write(tmp_path, "def bye() -> str:\n    return 'bye'\n", "site/installed_shop/exits.py")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert forms.WORKFLOW.parse("installed_shop.exits") == "installed_shop.exits"
    assert says(Instance(load_definition("installed_shop")), "hello") == ["hello"]
    assert says(Instance(load_definition("installed_shop.exits")), "bye") == ["bye"]
    for name in [name for name in sys.modules if name.startswith("installed_shop")]:
        del sys.modules[name]


def test_a_file_is_accepted_by_the_settings_and_a_folder_too(tmp_path: Path) -> None:
    app = write(tmp_path, HELLO)
    assert forms.WORKFLOW.parse(str(app)) == str(app)
    assert forms.WORKFLOW.parse(str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize("name", ["json", "no_such_module_at_all", "shop/app", "a..b", ".app", "__main__"])
def test_a_name_that_means_nothing_is_refused_by_the_settings(name: str) -> None:
    with pytest.raises(ValueError, match="there is nothing at that path"):
        forms.WORKFLOW.parse(name)


def test_a_folder_that_is_neither_says_so(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no folder _commands in it"):
        load_definition(str(tmp_path))
    assert problems(tmp_path) == [f"{tmp_path.name}: there is no such file, package or module"]


def test_what_a_module_prints_while_it_loads_is_not_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load_plain(write(tmp_path, "print('noise')\n" + HELLO))
    assert capsys.readouterr().out == ""

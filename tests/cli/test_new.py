"""`new`: what it writes can be checked, served and talked to at once, and nothing is overwritten."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from greenroom.commands.scaffolding import SUFFIX, TEMPLATES
from tests.cli.running import ROOT, greenroom, serving


def test_a_new_workflow_is_good_and_its_commands_run(tmp_path: Path) -> None:
    made = greenroom("new", "shop", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert "greenroom serve shop" in made.stdout
    checked = greenroom("check", "shop", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.splitlines()[-1].endswith("the workflow 'shop' can be loaded.")
    with serving(tmp_path / "shop", tmp_path) as url:
        ran = greenroom(
            "chat",
            url,
            "--assistant",
            said="show my lists\nopen the list Garden\n/add_item <item>cut the hedge</item>\ntick off cut the hedge\n"
            "/tick_off <item>nothing</item>\n/go_up\n/open_list <name>Holidays</name>\n",
        )
    assert ran.returncode == 0, ran.stderr
    answers = [line for line in ran.stdout.splitlines() if not line.startswith("...")]
    told = "\n".join(answers)
    assert "Groceries: 2 left to do\nGarden: 1 left to do" in told
    assert "Garden:\n[ ] water the beans\n[ ] cut the hedge" in told
    assert "[x] cut the hedge" in told
    assert "'nothing' is not on the list. What is left: water the beans." in told
    assert answers[-2:] == ["Holidays:", "nothing at all"]


def test_its_readme_says_how_to_go_on_with_its_own_path(tmp_path: Path) -> None:
    greenroom("new", "a/shop", cwd=tmp_path)
    readme = (tmp_path / "a" / "shop" / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# shop\n")
    assert "greenroom serve a/shop\n" in readme
    assert "$" not in readme
    named = [
        word.strip("`,")
        for word in readme.split()
        if word.startswith("`_commands/") or word.startswith("`application/")
    ]
    assert len(named) == 4
    assert all((tmp_path / "a" / "shop" / name).exists() for name in named)


def test_a_plain_one_is_fifteen_lines(tmp_path: Path) -> None:
    made = greenroom("new", "notes", "--plain", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert "greenroom serve notes/app.py" in made.stdout
    app = tmp_path / "notes" / "app.py"
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["app.py"]
    text = app.read_text(encoding="utf-8")
    assert len(text.splitlines()) == 15
    scope: dict[str, object] = {}
    exec(compile(text, str(app), "exec"), scope)
    assert str(scope["__doc__"]).startswith("notes: ")


def test_a_plain_one_runs_too(tmp_path: Path) -> None:
    greenroom("new", "notes", "--plain", cwd=tmp_path)
    with serving(tmp_path / "notes" / "app.py", tmp_path) as url:
        said = "/add <first>2</first> <second>3</second>\n/open_notebook\n/write <note>milk</note>\n"
        ran = greenroom("chat", url, said=said)
    assert ran.returncode == 0, ran.stderr
    answers = [line for line in ran.stdout.splitlines() if not line.startswith("...")]
    assert any(line in ("5", "5.0") for line in answers)
    assert answers[-1] == "milk"


def test_a_folder_with_anything_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / ".hidden").write_text("mine")
    ran = greenroom("new", "shop", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("shop is not empty")
    assert [path.name for path in (tmp_path / "shop").iterdir()] == [".hidden"]


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    assert greenroom("new", "shop", cwd=tmp_path).returncode == 0
    (tmp_path / "here").mkdir()
    assert greenroom("new", ".", cwd=tmp_path / "here").returncode == 0
    assert (tmp_path / "here" / "README.md").read_text(encoding="utf-8").startswith("# here\n")


@pytest.mark.parametrize("name", ["it's", '"""', "-x", "_x", "a\nb", "..."])
def test_a_name_that_would_only_make_trouble_is_refused(name: str, tmp_path: Path) -> None:
    ran = greenroom("new", "--", name, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "is no name for a workflow" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "shop").write_text("mine")
    ran = greenroom("new", "shop", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (2, "shop is a file: choose another name.\n")
    below = greenroom("new", "shop/inner", cwd=tmp_path)
    assert below.returncode == 1
    assert len(below.stderr.splitlines()) == 1
    assert (tmp_path / "shop").read_text() == "mine"


def test_the_templates_are_in_the_wheel(tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    wanted = {
        f"greenroom/commands/templates/{path.relative_to(TEMPLATES).as_posix()}"
        for path in TEMPLATES.rglob(f"*{SUFFIX}")
    }
    assert len(wanted) == 9
    assert wanted <= packed

"""Which changes begin the server again, and which do not."""

from __future__ import annotations

import attrs
import pytest

from greenroom.commands.watching import Watched, watched_by
from greenroom.config.settings import load_settings


@attrs.frozen
class Place:
    root: str


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = tmp_path_factory.mktemp("w").resolve()
    (made / "_commands").mkdir()
    (made / "app.py").touch()
    return str(made)


def cares(watched: frozenset[Watched], path: str) -> bool:
    return any(each.cares_about(path) for each in watched)


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("_commands/add.py", True),
        ("_commands/Book/add.py", True),
        ("context_hierarchy_model.json", True),
        ("workflow_description.txt", True),
        ("README.md", False),
        ("_commands/__pycache__/add.cpython-311.pyc", False),
        ("_commands/__pycache__/add.py", False),
        (".git/config.json", False),
        ("_commands/.add.py.swp", False),
        ("_commands/.#add.py", False),
        ("_commands/add.py~", False),
        ("shop.sqlite", False),
        ("server.log", False),
        (".greenroom/user_conversations/x.json", False),
        ("data/user_conversations/x.json", False),
    ],
)
def test_the_sources_of_a_folder_matter_and_nothing_else(folder: str, path: str, matters: bool) -> None:
    settings = load_settings({"WORKFLOW_PATH": folder, "SPEEDDICT_FOLDERNAME": f"{folder}/data"})
    assert cares(watched_by(settings), f"{folder}/{path}") is matters


def test_the_files_that_configure_the_server_matter_wherever_they_are(
    folder: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("etc").resolve()
    (elsewhere / "my.env").touch()
    settings = load_settings({"WORKFLOW_PATH": folder, "ENV_FILE_PATH": str(elsewhere / "my.env")})
    watched = watched_by(settings)
    assert cares(watched, str(elsewhere / "my.env"))
    assert not cares(watched, str(elsewhere / "your.env"))
    assert not cares(watched, str(elsewhere / "below" / "my.env"))
    assert all(not each.recursive for each in watched if each.folder == elsewhere)


def test_a_built_in_workflow_has_no_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    watched = watched_by(load_settings({"WORKFLOW_PATH": "demo"}))
    assert {name for each in watched for name in each.names or ("anything",)} == {"hypercorn.toml"}

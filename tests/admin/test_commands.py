"""The commands that look after kept conversations, each in a process of its own on a real folder."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from greenroom.config.cli import Command, Doctor, Export, Forget, Import, Purge, parse
from greenroom.persistence import keys
from greenroom.persistence.administration import DAY_MS
from greenroom.persistence.database import Changes
from tests.admin.stores import NOW, converse, database_of, files_with, furnish, greenroom
from tests.config.test_cli import ROOT
from tests.persistence.builders import a_handle, opened, the_database

ALL = (
    ("export",),
    ("import", "lines.jsonl"),
    ("purge", "alice", "--yes"),
    ("forget", "--older-than", "1"),
    ("doctor",),
    ("doctor", "--repair"),
)


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


# --- the command line --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["export"], Export()),
        (["export", "--output", "a.jsonl"], Export(Path("a.jsonl"))),
        (["import", "a.jsonl"], Import(Path("a.jsonl"))),
        (["purge", "alice", "--yes"], Purge("alice")),
        (["purge", "--yes", "--", "--alice"], Purge("--alice")),
        (["forget", "--older-than", "0.5"], Forget(0.5)),
        (["doctor"], Doctor()),
        (["doctor", "--repair"], Doctor(repair=True)),
    ],
)
def test_arguments_become_a_command(argv: list[str], command: Command) -> None:
    assert parse(argv) == command


@pytest.mark.parametrize(
    "argv",
    [
        ["purge", "alice"],
        ["purge", "--yes"],
        ["import"],
        ["forget"],
        ["forget", "--older-than", "0"],
        ["forget", "--older-than", "nan"],
        ["forget", "--older-than", "soon"],
        ["export", "--port", "1"],
    ],
)
def test_a_mistake_ends_with_usage_and_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(argv)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: greenroom ")


@pytest.mark.parametrize("name", sorted({arguments[0] for arguments in ALL}))
def test_the_help_of_each_command_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse([name, "--help"])
    assert caught.value.code == 0
    assert f"Example: greenroom {name} " in capsys.readouterr().out


@pytest.mark.parametrize("arguments", ALL)
def test_a_store_that_a_server_has_open_is_one_line_and_code_1(arguments: tuple[str, ...], tmp_path: Path) -> None:
    furnish(tmp_path / "data")
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(b"")
    given = [str(lines) if each == lines.name else each for each in arguments]
    with opened(tmp_path / "data") as store:
        # As a server does when it starts.
        store.handles.expire(0)
        result = greenroom(tmp_path / "data", *given)
    assert result.returncode == 1
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith(f"{tmp_path / 'data' / '_sessions'}")
    assert line.endswith("Stop the other process that has it open, or give each its own folder.")


# --- export and import -------------------------------------------------------------------------------------


def test_an_export_that_is_imported_into_an_empty_folder_gives_the_same_export(tmp_path: Path) -> None:
    furnish(tmp_path / "one")
    first = greenroom(tmp_path / "one", "export")
    assert (first.returncode, first.stderr) == (0, "")
    assert {json.loads(line)["user_id"] for line in first.stdout.splitlines()} == {"alice", "../bob\u2028"}
    exported = tmp_path / "lines.jsonl"
    exported.write_text(first.stdout)

    imported = greenroom(tmp_path / "two", "import", str(exported))
    assert (imported.returncode, imported.stderr) == (0, "")
    assert imported.stdout == "Imported what was new: 3 conversations and 7 turns of 2 users.\n"
    assert greenroom(tmp_path / "two", "export").stdout == first.stdout

    again = greenroom(tmp_path / "two", "import", str(exported))
    assert again.stdout == "Imported what was new: 0 conversations and 0 turns of 0 users.\n"
    assert greenroom(tmp_path / "two", "export").stdout == first.stdout


def test_an_export_to_a_file_is_complete_and_for_its_owner_alone(tmp_path: Path) -> None:
    furnish(tmp_path / "data")
    output = tmp_path / "out.jsonl"
    output.write_text("an older one")
    result = greenroom(tmp_path / "data", "export", "--output", str(output))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"Exported 12 lines to {output}.\n"
    assert output.read_text() == greenroom(tmp_path / "data", "export").stdout
    assert output.stat().st_mode & 0o077 == 0
    assert {each.name for each in tmp_path.iterdir()} == {"data", "out.jsonl"}


def test_an_export_that_fails_leaves_the_older_file_as_it_was(tmp_path: Path) -> None:
    furnish(tmp_path / "data")
    path = database_of(tmp_path / "data", "alice")
    (path / "CURRENT").write_bytes(b"nonsense")
    output = tmp_path / "out.jsonl"
    output.write_text("an older one")
    result = greenroom(tmp_path / "data", "export", "--output", str(output))
    assert result.returncode == 1
    assert "let the doctor repair it" in result.stderr
    assert "Traceback" not in result.stderr
    assert output.read_text() == "an older one"
    assert {each.name for each in tmp_path.iterdir()} == {"data", "out.jsonl"}


def test_an_export_of_a_folder_that_is_not_there_is_not_an_empty_one(tmp_path: Path) -> None:
    result = greenroom(tmp_path / "absent", "export")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"There is no folder {tmp_path / 'absent'}, so there is nothing to export.\n"
    assert not (tmp_path / "absent").exists()


def test_a_line_that_cannot_be_imported_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text('{"user_id": "u", "type": "poem"}\n')
    result = greenroom(tmp_path / "data", "import", str(tmp_path / "lines.jsonl"))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("Line 1 cannot be imported: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_file_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    result = greenroom(tmp_path / "data", "import", str(tmp_path / "absent.jsonl"))
    assert result.returncode == 1
    assert "absent.jsonl" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "data").exists()


def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    furnish(tmp_path / "data")
    ours, theirs = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "USER_CONVERSATIONS_SPEEDDICT_FOLDERNAME": str(tmp_path / "data")}
    command = [sys.executable, "-m", "greenroom", "export"]
    subprocess.run(command, env=environ, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=theirs, timeout=60, check=True)
    os.close(theirs)
    assert b"12 lines" in os.read(ours, 1000)
    os.close(ours)


# --- purge and forget --------------------------------------------------------------------------------------


def test_a_purge_leaves_no_byte_of_what_the_user_said(tmp_path: Path) -> None:
    furnish(tmp_path)
    assert files_with(tmp_path, b"alice said")
    result = greenroom(tmp_path, "purge", "alice", "--yes")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "Removed everything that was kept of 'alice'.\n"
    assert files_with(tmp_path, b"alice said") == []
    assert [path for path in files_of(tmp_path) if "alice" in str(path.relative_to(tmp_path))] == []
    with opened(tmp_path) as store:
        assert list(store.users()) == ["../bob\u2028"]
        assert store.handles.find("secret") is None


def test_a_purge_leaves_no_byte_of_the_users_handles(tmp_path: Path) -> None:
    furnish(tmp_path)
    with opened(tmp_path) as store:
        store.handles.put(a_handle("another", "alice"))
    greenroom(tmp_path, "purge", "alice", "--yes")
    assert files_with(tmp_path, b"alice") == []


def test_a_purge_of_somebody_unknown_says_so(tmp_path: Path) -> None:
    furnish(tmp_path / "data")
    for folder in (tmp_path / "data", tmp_path / "absent"):
        result = greenroom(folder, "purge", "alise", "--yes")
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"Nothing is kept of 'alise' in {folder}.\n"
    assert not (tmp_path / "absent").exists()


def test_forgetting_deletes_what_is_older_and_says_how_much(tmp_path: Path) -> None:
    now = round(time.time() * 1000)
    with opened(tmp_path) as store:
        converse(store, "alice", "old", now - 100 * DAY_MS)
        converse(store, "alice", "young", now - 80 * DAY_MS)
    result = greenroom(tmp_path, "forget", "--older-than", "90")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "Forgot what was older than 90 days: 1 conversation and 2 turns of 1 user.\n"
    with opened(tmp_path) as store:
        assert [each.id for each in store.user("alice").list_conversations().conversations] == ["young"]


def test_a_user_who_could_not_be_reached_makes_forgetting_fail_after_all_others(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for user_id in ("ann", "bob", "cid"):
            converse(store, user_id, "old", NOW - 1000 * DAY_MS)
    path = database_of(tmp_path, "bob")
    (path / "CURRENT").write_bytes(b"nonsense")
    result = greenroom(tmp_path, "forget", "--older-than", "1")
    assert result.returncode == 1
    assert result.stdout == "Forgot what was older than 1 day: 2 conversations and 4 turns of 2 users.\n"
    assert str(path) in result.stderr
    assert result.stderr.splitlines()[-1] == "1 user could not be reached; see above."
    assert "Traceback" not in result.stderr


def test_there_is_nothing_to_forget_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    result = greenroom(tmp_path / "absent", "forget", "--older-than", "1")
    assert result.returncode == 0
    assert not (tmp_path / "absent").exists()


# --- the doctor --------------------------------------------------------------------------------------------


def test_the_doctor_finds_a_healthy_folder_healthy(tmp_path: Path) -> None:
    furnish(tmp_path)
    result = greenroom(tmp_path, "doctor")
    assert (result.returncode, result.stderr) == (0, "")
    assert sorted(result.stdout.splitlines()) == [
        "sessions: 1 handle; healthy",
        "user '../bob\\u2028': 1 conversation, 3 turns; healthy",
        "user 'alice': 2 conversations, 4 turns; healthy",
    ]


@pytest.mark.parametrize(
    ("pattern", "left"), [("CURRENT", "2 conversations, 4 turns"), ("*.sst", "0 conversations, 0 turns")]
)
def test_the_doctor_finds_a_truncated_file_and_repairs_what_is_left(tmp_path: Path, pattern: str, left: str) -> None:
    furnish(tmp_path)
    path = database_of(tmp_path, "alice")
    for file in path.glob(pattern):
        file.write_bytes(file.read_bytes()[:-10])
    before = {each: each.read_bytes() for each in files_of(path)}

    looked = greenroom(tmp_path, "doctor")
    assert (looked.returncode, looked.stderr) == (1, "")
    line, problem, *_ = looked.stdout.splitlines()
    assert line == "user 'alice': 0 conversations, 0 turns; 1 problem"
    assert problem.startswith(f"  problem: {path}")
    assert len(looked.stdout.splitlines()) == 5
    assert "`greenroom doctor --repair`" in looked.stdout.splitlines()[-1]
    assert {each: each.read_bytes() for each in files_of(path)} == before

    mended = greenroom(tmp_path, "doctor", "--repair")
    assert (mended.returncode, mended.stderr) == (0, "")
    line, problem, note, *others = mended.stdout.splitlines()
    assert line == f"user 'alice': {left}; 1 problem, repaired"
    assert problem.startswith(f"  repaired: {path}")
    assert note.startswith("  note: ")
    assert others == [
        "user '../bob\\u2028': 1 conversation, 3 turns; healthy",
        "sessions: 1 handle; healthy",
        "Repaired everything that was wrong, in 1 database.",
    ]
    assert greenroom(tmp_path, "doctor").returncode == 0


def test_the_doctor_says_so_when_something_could_not_be_repaired(tmp_path: Path) -> None:
    furnish(tmp_path)
    newer = Changes({keys.conversation("later"): json.dumps({"schema": 9, "id": "later"}).encode()})
    with opened(tmp_path) as store:
        the_database(store, "alice").write(newer)
    (database_of(tmp_path, "../bob\u2028") / "CURRENT").unlink()
    mended = greenroom(tmp_path, "doctor", "--repair")
    assert mended.returncode == 1
    assert mended.stdout.splitlines()[-1] == "Repaired 1 of 2 databases with problems."


def test_the_doctor_has_nothing_to_say_against_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    for arguments in (["doctor"], ["doctor", "--repair"]):
        result = greenroom(tmp_path / "absent", *arguments)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout == f"There is no folder {tmp_path / 'absent'} yet, so nothing is kept.\n"
    assert not (tmp_path / "absent").exists()

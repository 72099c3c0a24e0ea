"""`install` on a real file: what it writes, where, and what it never does."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest

from greenroom.__main__ import main
from greenroom.commands.clients import CLIENTS, Machine
from greenroom.commands.installing import replace
from greenroom.commands.merging import CannotMerge
from greenroom.config.cli import clients as cli_clients
from tests.cli.running import ROOT, greenroom

URL = "http://127.0.0.1:8000/mcp"
LINUX = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
}


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def put(home: Path, client: str, content: bytes, mode: int = 0o640) -> Path:
    file = home / LINUX[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(mode)
    return file


def existing(client: str) -> dict[str, Any]:
    return {
        "theme": "dark",
        CLIENTS[client].key: {"other": {"command": "x", "env": {"A": "ä"}}},
        "last": [1, 2.5, None],
    }


# --- where -------------------------------------------------------------------------------------------------


def test_every_client_of_the_command_line_is_known() -> None:
    assert tuple(CLIENTS) == cli_clients.CLIENTS


@pytest.mark.parametrize(
    ("machine", "places"),
    [
        (Machine("linux", PurePosixPath("/home/a")), [f"/home/a/{place}" for place in LINUX.values()]),
        (
            Machine("linux", PurePosixPath("/home/a"), {"XDG_CONFIG_HOME": "/etc/a", "CLAUDE_CONFIG_DIR": "/c"}),
            [
                "/etc/a/Claude/claude_desktop_config.json",
                "/c/.claude.json",
                "/home/a/.cursor/mcp.json",
                "/etc/a/Code/User/mcp.json",
            ],
        ),
        (
            Machine("linux", PurePosixPath("/home/a"), {"XDG_CONFIG_HOME": "rel"}),
            [f"/home/a/{p}" for p in LINUX.values()],
        ),
        (
            Machine("darwin", PurePosixPath("/Users/a"), {"XDG_CONFIG_HOME": "/elsewhere"}),
            [
                "/Users/a/Library/Application Support/Claude/claude_desktop_config.json",
                "/Users/a/.claude.json",
                "/Users/a/.cursor/mcp.json",
                "/Users/a/Library/Application Support/Code/User/mcp.json",
            ],
        ),
        (
            Machine("win32", PureWindowsPath("C:/Users/a"), {"APPDATA": "D:/Roaming"}),
            [
                "D:/Roaming/Claude/claude_desktop_config.json",
                "C:/Users/a/.claude.json",
                "C:/Users/a/.cursor/mcp.json",
                "D:/Roaming/Code/User/mcp.json",
            ],
        ),
    ],
)
def test_the_file_is_where_the_client_looks_on_each_system(machine: Machine, places: list[str]) -> None:
    assert [client.file(machine).as_posix() for client in CLIENTS.values()] == places


# --- what --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", CLIENTS)
def test_a_dry_run_on_a_fresh_machine_prints_the_file_and_makes_nothing(client: str, tmp_path: Path) -> None:
    ran = greenroom("install", client, "--dry-run", HOME=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {CLIENTS[client].key: {"greenroom": CLIENTS[client].entry(URL)}}
    assert str(tmp_path / LINUX[client]) in ran.stderr
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_dry_run_on_an_existing_file_prints_what_it_would_be_and_changes_nothing(client: str, tmp_path: Path) -> None:
    file = put(tmp_path, client, json.dumps(existing(client)).encode())
    before = files_in(tmp_path)
    ran = greenroom("install", client, "--dry-run", "--name", "shop", "--url", "https://h/mcp", HOME=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    expected = existing(client)
    expected[CLIENTS[client].key]["shop"] = CLIENTS[client].entry("https://h/mcp")
    assert json.dumps(json.loads(ran.stdout)) == json.dumps(expected)
    assert files_in(tmp_path) == before
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("client", CLIENTS)
def test_the_entry_is_added_with_a_backup_and_the_same_mode(client: str, tmp_path: Path) -> None:
    raw = json.dumps(existing(client), indent=4).encode()
    file = put(tmp_path, client, raw)
    printed = greenroom("install", client, "--dry-run", HOME=str(tmp_path)).stdout
    ran = greenroom("install", client, HOME=str(tmp_path))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert file.read_text(encoding="utf-8") == printed.rstrip("\n")
    assert file.stat().st_mode & 0o777 == 0o640
    backup = file.with_name(f"{file.name}.backup")
    assert backup.read_bytes() == raw
    assert backup.stat().st_mode & 0o777 == 0o640
    assert {path.name for path in file.parent.iterdir() if path.is_file()} == {file.name, backup.name}

    again = greenroom("install", client, HOME=str(tmp_path))
    assert again.returncode == 0
    assert "nothing was changed" in again.stdout


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    assert greenroom("install", "cursor", HOME=str(tmp_path)).returncode == 0
    assert (tmp_path / LINUX["cursor"]).stat().st_mode & 0o777 == 0o600
    assert list(files_in(tmp_path)) == [LINUX["cursor"]]


def test_the_url_is_the_one_that_is_configured(tmp_path: Path) -> None:
    ran = greenroom(
        "install", "cursor", "--dry-run", HOME=str(tmp_path), GREENROOM_PUBLIC_URL="https://mcp.example.com"
    )
    assert json.loads(ran.stdout)["mcpServers"]["greenroom"] == {"url": "https://mcp.example.com/mcp"}


def test_another_entry_of_that_name_is_replaced_only_with_force(tmp_path: Path) -> None:
    raw = b'{"mcpServers": {"greenroom": {"url": "http://old/mcp"}}}'
    file = put(tmp_path, "cursor", raw)
    refused = greenroom("install", "cursor", HOME=str(tmp_path))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "--force" in refused.stderr
    assert files_in(tmp_path) == {LINUX["cursor"]: raw}
    forced = greenroom("install", "cursor", "--force", HOME=str(tmp_path))
    assert forced.returncode == 0
    assert json.loads(file.read_bytes()) == {"mcpServers": {"greenroom": {"url": URL}}}


def test_no_backup_is_ever_overwritten(tmp_path: Path) -> None:
    file = put(tmp_path, "cursor", b'{"generation": 1}')
    for name in ("a", "b", "c"):
        assert greenroom("install", "cursor", "--name", name, HOME=str(tmp_path)).returncode == 0
    assert file.with_name("mcp.json.backup").read_bytes() == b'{"generation": 1}'
    counts = [len(json.loads(content).get("mcpServers", {})) for _, content in sorted(files_in(tmp_path).items())]
    assert sorted(counts) == [0, 1, 2, 3]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "content",
    [
        b'{\n  // a comment\n  "servers": {}\n}\n',
        b'{"mcpServers": {}, }',
        b'{"mcpServers": 3, "servers": 3}',
        b"\xff\xfe{\x00}\x00",
        b'{"a": 1, "a": 2}',
        b"[]",
    ],
)
def test_a_file_that_cannot_be_kept_whole_is_left_byte_for_byte(
    client: str,
    content: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    file = put(tmp_path, client, content)
    stamp = file.stat().st_mtime_ns
    for flags in ([], ["--force"], ["--dry-run"]):
        assert main(["install", client, "--url", URL, *flags]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith(str(file))
        assert "Nothing was changed" in said.err
        assert files_in(tmp_path) == {LINUX[client]: content}
        assert file.stat().st_mtime_ns == stamp


def test_a_refusal_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    put(tmp_path, "vscode", b"{ // mine\n}")
    ran = greenroom("install", "vscode", HOME=str(tmp_path))
    assert (ran.returncode, ran.stdout) == (1, "")
    assert len(ran.stderr.splitlines()) == 1
    assert "has comments in it (line 1, column 3), which would be lost" in ran.stderr


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_bytes(b"{}")
    (tmp_path / ".cursor").mkdir()
    link = tmp_path / LINUX["cursor"]
    link.symlink_to(real)
    assert greenroom("install", "cursor", HOME=str(tmp_path)).returncode == 0
    assert link.is_symlink()
    assert json.loads(real.read_bytes())["mcpServers"]["greenroom"] == {"url": URL}


def test_a_folder_in_the_place_of_the_file_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / LINUX["cursor"]).mkdir(parents=True)
    ran = greenroom("install", "cursor", HOME=str(tmp_path))
    assert ran.returncode == 1
    assert len(ran.stderr.splitlines()) == 1
    assert "Nothing was changed" in ran.stderr


def test_a_file_that_somebody_else_writes_meanwhile_is_theirs(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(b'{"theirs": true}')
    with pytest.raises(CannotMerge, match="by somebody else"):
        replace(file, b"{}", b'{"ours": true}')
    assert files_in(tmp_path) == {"config.json": b'{"theirs": true}'}


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(b"{}")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace(file, b"{}", b'{"ours": true}')
    assert files_in(tmp_path) == {"config.json": b"{}"}


# --- the README --------------------------------------------------------------------------------------------


def test_the_readme_shows_the_entries_that_install_writes() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Connecting a client")[2].partition("\n## ")[0]
    shown = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)]
    for name in ("claude-desktop", "cursor", "vscode"):
        assert {CLIENTS[name].key: {"greenroom": CLIENTS[name].entry(URL)}} in shown, name
    assert f"claude mcp add --transport http greenroom {URL}" in section
    assert CLIENTS["claude-code"].entry(URL) == {"type": "http", "url": URL}
    assert all(f"greenroom install {name}" in section for name in CLIENTS)

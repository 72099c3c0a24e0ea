"""What the README tells a reader to paste is run here as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import trio

from tests.transport.process import ROOT, server_process

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [text for kind, text in found if kind == language]


async def test_the_first_session_in_the_readme_goes_as_it_says(tmp_path: Path) -> None:
    [tour] = blocks("python")
    async with server_process(["-m", "greenroom", "serve", "--workflow", "examples/bookshop"], tmp_path) as server:
        await server.ready()
        script = tmp_path / "tour.py"
        script.write_text(tour.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}"), encoding="utf-8")
        ran = await trio.run_process(
            [sys.executable, str(script)], capture_stdout=True, capture_stderr=True, check=False
        )
    assert ran.returncode == 0, ran.stderr.decode()
    listed, found, vague, opened, put, wrong, task = ran.stdout.decode().split("--- ")[1:]
    assert "find_books" in listed
    assert "EUR" in found
    assert "Bread Before Dawn" in opened.partition("\n")[2]
    assert "2" in put.partition("\n")[2]
    assert "It is not clear which command is meant" in vague
    assert "Write it like this: open_book <title>" in wrong
    assert "No language model is configured" in task
    assert task.count("Bread Before Dawn") >= 1


async def test_the_curl_command_in_the_readme_lists_the_tools(tmp_path: Path) -> None:
    [command] = [block for block in blocks("") if block.startswith("curl")]
    async with server_process(["-m", "greenroom", "serve"], tmp_path) as server:
        await server.ready()
        there = command.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}").replace("curl ", "curl -s ", 1)
        ran = await trio.to_thread.run_sync(
            lambda: subprocess.run(["bash", "-c", there], capture_output=True, text=True, check=False)
        )
    assert '"name":"initialize"' in ran.stdout

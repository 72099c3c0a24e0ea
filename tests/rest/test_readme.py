"""What the README tells a reader of REST to paste is run here as it stands."""

from __future__ import annotations

import json
from pathlib import Path

import trio

from greenroom.transport.rest.table import ROUTES
from tests.rest.calling import lines_of
from tests.test_readme import README, blocks
from tests.transport.process import server_process


async def test_the_commands_of_the_readme_open_a_session_run_a_command_and_stream_a_task(tmp_path: Path) -> None:
    [commands] = [block for block in blocks("") if block.startswith("BASE=")]
    async with server_process(["-m", "greenroom", "serve", "--workflow", "examples/bookshop"], tmp_path) as server:
        await server.ready()
        there = commands.replace("http://127.0.0.1:8000", server.base).replace(
            "curl -s $BASE/exec", "echo\ncurl -s $BASE/exec"
        )
        there = there.replace("curl -N", "echo\ncurl -sN")
        ran = await trio.run_process(["bash", "-ec", there], capture_stdout=True, capture_stderr=True)
    listed, found, *stream = ran.stdout.decode().split("\n")
    assert json.loads(listed)["commands"]
    assert json.loads(found)["success"] is True
    assert lines_of("\n".join(stream))[-1]["type"] == "output"


def test_the_readme_has_every_route() -> None:
    section = README.partition("\n## REST\n")[2].partition("\n## ")[0]
    for route in ROUTES:
        assert route.path.partition("{")[0] in section

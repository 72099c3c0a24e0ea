"""REST through the proxies of deploy/: `curl -N` sees a trace while the turn runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deploy import proxies
from tests.rest.calling import Held, desk_of
from tests.rest.curling import curl, until
from tests.transport.playhouse import Script, open_house


@pytest.mark.parametrize(
    ("accept", "trace", "output"),
    [
        ("application/x-ndjson", b'{"type":"trace"', b'{"type":"output"'),
        ("text/event-stream", b"event: trace\n", b"event: output\n"),
    ],
)
@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
async def test_a_trace_comes_through_nginx_before_the_turn_is_over(
    tmp_path: Path, accept: str, trace: bytes, output: bytes, version: str
) -> None:
    gate = Held()
    async with open_house(Script({"invoke_agent": gate.play})) as house:
        desk = await desk_of(house)
        async with proxies.nginx(tmp_path, house.base.removeprefix("http://")) as client:
            base = str(client.base_url).rstrip("/")
            trust = ["--cacert", str(tmp_path / "fullchain.pem"), version]
            async with curl(base, "/invoke_agent_stream", desk.handle, {}, accept, *trust) as process:
                assert output not in await until(process, trace)
                assert gate.ended == []
                gate.opened.set()
                assert b"through" in await until(process, output)

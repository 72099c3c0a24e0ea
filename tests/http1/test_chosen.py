"""Which connections serve is a setting, and it holds however the server is started."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
import trio

from tests.transport import paths
from tests.transport.process import free_port, server_process

ODD = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Odd: \x7f\r\nConnection: close\r\n\r\n"
"""Hypercorn takes this for a request; we do not."""

EXPECTED = {"own": b"HTTP/1.1 400", "stock": b"HTTP/1.1 200"}


async def first_line(port: int) -> bytes:
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(ODD)
        with trio.fail_after(10):
            return bytes(await stream.receive_some(12))


@pytest.mark.parametrize("command", ["greenroom", "hypercorn"])
async def test_the_chosen_connections_serve(command: str, tmp_path: Path) -> None:
    port = free_port()
    greenroom = ["-m", "greenroom", "serve"]
    hypercorn = ["-m", "hypercorn", "--config", "hypercorn.toml", "--bind", f"127.0.0.1:{port}"]
    words = greenroom if command == "greenroom" else [*hypercorn, "greenroom.transport.app:app"]
    async with server_process(words, tmp_path, port) as server:
        await server.ready()
        assert await first_line(port) == EXPECTED[paths.chosen]
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{server.base}/health")).status_code == 200

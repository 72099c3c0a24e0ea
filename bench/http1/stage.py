"""A bare ASGI callable with a small JSON answer, behind Hypercorn's Trio worker: `python -m bench.http1.stage own`."""

from __future__ import annotations

import gc
import sys
from functools import partial
from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.trio import serve

from greenroom.transport import connections

ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"' + b"x" * 120 + b'"}]}}'
ANSWER += b" " * (200 - len(ANSWER))
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]


async def answer(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        await _live(receive, send)
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": ANSWER, "more_body": False})


async def _live(receive: Any, send: Any) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def main(path: str) -> None:
    config = Config()
    config.bind = ["127.0.0.1:0"]
    config.keep_alive_timeout = 75
    config.keep_alive_max_requests = 10**9
    config.include_server_header = False
    config.loglevel = "WARNING"
    connections.install(path)
    async with trio.open_nursery() as nursery:
        binds = await nursery.start(partial(serve, answer, config))
        gc.collect()
        gc.freeze()
        print(binds[0].rpartition(":")[2], flush=True)


if __name__ == "__main__":
    trio.run(main, sys.argv[1])

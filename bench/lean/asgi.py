"""CPU time of one request from the ASGI scope to the last `send`, with everything switched on that ships.

Run `python -m bench.lean.asgi` from the project's folder; `--profile call-legacy` shows where one of them goes. There
is no socket and no HTTP here: the application is called as a connection would call it, by a few clients at once in
its own Trio loop, in the name of our own HTTP/1.1 connection. Every answer is checked. The
request log goes to a file, as JSON.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import logging
import pstats
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import trio

from greenroom.config.settings import Settings
from greenroom.transport import collector
from greenroom.transport.app import GreenroomApp, create_app
from greenroom.transport.logs import configure_logging
from greenroom.workflow.catalog import find_workflow
from tests.transport.playhouse import ACCEPT, LEGACY, initialize_request, modern_request

STEPS = 100
"""Notifications of one call in the scenarios that count them."""

YARDS = 5000

Raw = list[tuple[bytes, bytes]]


@attrs.frozen
class Shot:
    """A request that is ready to be sent, and what its answer must contain."""

    headers: Raw
    body: bytes
    expected: bytes
    status: int = 200


@attrs.define
class Heard:
    status: int = 0
    headers: Raw = attrs.Factory(list)
    body: bytes = b""
    sends: int = 0


def shot(headers: Mapping[str, str], body: Mapping[str, Any], expected: bytes, status: int = 200) -> Shot:
    data = json.dumps(body, separators=(",", ":")).encode()
    lines = {"host": "127.0.0.1:8000", "user-agent": "bench", "content-length": str(len(data)), **headers}
    return Shot([(name.encode(), value.encode()) for name, value in lines.items()], data, expected, status)


async def fire(app: GreenroomApp, given: Shot) -> Heard:
    """One request, as a connection delivers it. The client stays until it has been answered."""
    heard = Heard()
    unread = [{"type": "http.request", "body": given.body, "more_body": False}]

    async def receive() -> Any:
        if unread:
            return unread.pop()
        await trio.sleep_forever()

    async def send(message: Any) -> None:
        heard.sends += 1
        if message["type"] == "http.response.start":
            heard.status, heard.headers = message["status"], message["headers"]
        else:
            heard.body += message["body"]

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "headers": given.headers,
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
        "extensions": {"greenroom.http1": {}},
    }
    await app(scope, receive, send)
    assert heard.status == given.status, heard
    assert given.expected in heard.body, heard
    return heard


# --- the scenarios -----------------------------------------------------------------------------------------


async def handshake(app: GreenroomApp) -> dict[str, str]:
    heard = await fire(app, shot(ACCEPT, initialize_request(LEGACY, {}), b'"protocolVersion"'))
    session = next(value for name, value in heard.headers if name == b"mcp-session-id").decode()
    headers = {**ACCEPT, "mcp-session-id": session, "mcp-protocol-version": LEGACY}
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await fire(app, shot(headers, told, b"", 202))
    return headers


def call(name: str, arguments: Mapping[str, Any], **meta: Any) -> dict[str, Any]:
    more = {"_meta": meta} if meta else {}
    return {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": name, "arguments": dict(arguments), **more},
    }


async def legacy_session(app: GreenroomApp) -> dict[str, str]:
    headers = await handshake(app)
    await fire(app, shot(headers, call("initialize", {}), b'"session_id"'))
    return headers


async def modern_session(app: GreenroomApp) -> str:
    headers, body = modern_request("tools/call", {"name": "initialize", "arguments": {}})
    heard = await fire(app, shot(headers, body, b'"session_id"'))
    handle: str = json.loads(heard.body)["result"]["structuredContent"]["session_id"]
    return handle


Repeat = Callable[[], Awaitable[Any]]
Scenario = Callable[[GreenroomApp], Awaitable[Repeat]]


def _again(app: GreenroomApp, given: Shot) -> Repeat:
    async def repeat() -> Heard:
        return await fire(app, given)

    return repeat


def legacy_call(name: str, arguments: Mapping[str, Any], expected: bytes, **meta: Any) -> Scenario:
    async def prepare(app: GreenroomApp) -> Repeat:
        return _again(app, shot(await legacy_session(app), call(name, arguments, **meta), expected))

    return prepare


def modern_call(
    name: str, arguments: Mapping[str, Any], expected: bytes, *, alone: bool = False, **meta: Any
) -> Scenario:
    async def prepare(app: GreenroomApp) -> Repeat:
        session = {} if alone else {"session_id": await modern_session(app)}
        headers, body = modern_request("tools/call", {"name": name, "arguments": {**arguments, **session}}, **meta)
        return _again(app, shot(headers, body, expected))

    return prepare


async def set_up(app: GreenroomApp) -> Repeat:
    async def repeat() -> None:
        await handshake(app)

    return repeat


_NOTES = b'"structuredContent":{"notes":[]}'
_GREETING = b"Hello, whoever you are!"
_LIFT_OFF = b"100 steps, and lift-off!"
_COUNT = {"steps": STEPS, "seconds": 0}
_SHELF = b'"success":true'

DEMO: Mapping[str, tuple[Scenario, int]] = {
    "call-legacy": (legacy_call("recall", {}, _NOTES), 1),
    "call-modern": (modern_call("recall", {}, _NOTES), 1),
    "call-modern-alone": (modern_call("greet", {}, _GREETING, alone=True), 1),
    "set-up": (set_up, 1),
    "notes-legacy": (legacy_call("countdown", _COUNT, _LIFT_OFF, progressToken="p"), STEPS),
    "notes-modern": (modern_call("countdown", _COUNT, _LIFT_OFF, progressToken="p"), STEPS),
    "quiet-legacy": (legacy_call("countdown", _COUNT, _LIFT_OFF), STEPS),
}
"""Each with what its cost is divided by."""

BOOKSHOP: Mapping[str, tuple[Scenario, int]] = {
    "execute-legacy": (legacy_call("execute_command", {"command": "what_is_current_context"}, b'"isError":false'), 1),
    "execute-modern": (modern_call("execute_command", {"command": "what_is_current_context"}, b'"isError":false'), 1),
}


# --- measuring ---------------------------------------------------------------------------------------------


@asynccontextmanager
async def serving(workflow: str, folder: Path) -> AsyncIterator[GreenroomApp]:
    """The application between its start-up and its shutdown, as a server sees it."""
    settings = Settings(workflow=workflow, user_conversations_foldername=folder, max_sessions=100_000)
    app = create_app(settings, find_workflow(settings))
    to_app, from_server = trio.open_memory_channel[Any](1)
    to_server, from_app = trio.open_memory_channel[Any](1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app, {"type": "lifespan", "state": {}}, from_server.receive, to_server.send)
        await to_app.send({"type": "lifespan.startup"})
        assert (await from_app.receive())["type"] == "lifespan.startup.complete"
        collector.settle()
        yield app
        await to_app.send({"type": "lifespan.shutdown"})
        await from_app.receive()
        nursery.cancel_scope.cancel()


async def run_clients(repeat: Repeat, total: int, clients: int) -> None:
    async def client() -> None:
        for _ in range(total // clients):
            await repeat()

    async with trio.open_nursery() as nursery:
        for _ in range(clients):
            nursery.start_soon(client)


def yardstick() -> float:
    """A fixed piece of work, in µs: how fast the machine is at this moment, with whoever else is on it."""
    value = {"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "hello"}], "isError": False}}
    begun = time.process_time()
    for _ in range(YARDS):
        json.dumps(value, separators=(",", ":"))
    return (time.process_time() - begun) / YARDS * 1e6


async def cost(repeats: list[Repeat], total: int, rounds: int) -> tuple[float, float]:
    """The least of some rounds, in µs per request: what disturbs a round only ever adds to it. And in yardsticks."""
    best = relative = float("inf")
    for _ in range(rounds):
        gc.collect()
        before = yardstick()
        begun = time.process_time()
        async with trio.open_nursery() as nursery:
            for repeat in repeats:
                nursery.start_soon(run_clients, repeat, total // len(repeats), 1)
        taken = (time.process_time() - begun) / total * 1e6
        best = min(best, taken)
        relative = min(relative, taken / ((before + yardstick()) / 2))
    return best, relative


@contextmanager
def profiling(wanted: bool) -> Iterator[None]:
    if not wanted:
        yield
        return
    profile = cProfile.Profile()
    profile.enable()
    yield
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(45)


async def measure(arguments: argparse.Namespace, folder: Path) -> None:
    for workflow, scenarios in (("demo", DEMO), ("examples/bookshop", BOOKSHOP)):
        chosen = {name: each for name, each in scenarios.items() if not arguments.only or name in arguments.only}
        if chosen:
            async with serving(workflow, folder) as app:
                for name, (prepare, parts) in chosen.items():
                    await measure_one(app, name, prepare, parts, arguments)


async def measure_one(
    app: GreenroomApp, name: str, prepare: Scenario, parts: int, arguments: argparse.Namespace
) -> None:
    repeats = [await prepare(app) for _ in range(arguments.clients)]
    total = max(arguments.calls // parts, arguments.clients)
    await run_clients(repeats[0], min(total, 200), 1)
    with profiling(arguments.profile):
        each, yards = await cost(repeats, total, 1 if arguments.profile else arguments.rounds)
    print(f"{name:20} {each / parts:8.1f} µs {yards / parts:8.1f} yardsticks", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="scenarios; all of them if none is named")
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--log-level", default="INFO")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder, Path(folder, "log").open("w") as log:
        configure_logging("info", "json", log)
        logging.getLogger("greenroom.request").setLevel(arguments.log_level)
        trio.run(measure, arguments, Path(folder, "data"))


if __name__ == "__main__":
    main()

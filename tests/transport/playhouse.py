"""A real server on a real socket, in the test's own Trio loop, playing a workflow that the test scripts.

Not a mock of anything: Hypercorn's Trio worker, the Quart-Trio app, the actors, and httpx on the other side.
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import h11
import httpx
import trio
from hypercorn.trio import serve

from greenroom.config.errors import ResourceNotFound, UnknownName
from greenroom.config.settings import Settings
from greenroom.persistence.journal import Journal
from greenroom.transport.app import GreenroomApp, create_app
from greenroom.transport.serving import make_config
from greenroom.workflow.port import Caller, Part, Turn, WorkflowSession
from greenroom.workflow.values import (
    CallTool,
    Completions,
    GetPrompt,
    Prompt,
    PromptRef,
    PromptResult,
    ReadResource,
    Resource,
    ResourceResult,
    ResourceTemplate,
    SessionUse,
    TemplateRef,
    Text,
    TextContents,
    Tool,
    ToolResult,
)
from tests.transport import paths

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
ACCEPT = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

Play = Callable[[Mapping[str, Any], Turn], Awaitable[ToolResult | str]]


@attrs.define
class Script:
    """A workflow whose tools are functions of the test."""

    plays: dict[str, Play]
    uses: dict[str, SessionUse] = attrs.Factory(dict)
    schemas: dict[str, dict[str, Any]] = attrs.Factory(dict)
    outputs: dict[str, dict[str, Any]] = attrs.Factory(dict)
    parts: Sequence[Part] = ()
    name = "script"
    description = "Whatever the test needs."

    def tools(self) -> Sequence[Tool]:
        return [
            Tool(
                name,
                f"plays {name}",
                self.schemas.get(name, {"type": "object"}),
                self.outputs.get(name),
                session_use=self.uses.get(name, SessionUse.OPTIONAL),
            )
            for name in self.plays
        ]

    def prompts(self) -> Sequence[Prompt]:
        return []

    def resources(self) -> Sequence[Resource]:
        return [Resource("test://one", "one")]

    def resource_templates(self) -> Sequence[ResourceTemplate]:
        return []

    def complete(
        self, ref: PromptRef | TemplateRef, argument: str, value: str, context: Mapping[str, str]
    ) -> Completions:
        return Completions()

    def open_session(self, caller: Caller) -> WorkflowSession:
        return ScriptSession(self)


@attrs.define
class ScriptSession:
    script: Script

    async def call_tool(self, order: CallTool, turn: Turn) -> ToolResult:
        played = await self.script.plays[order.name](order.arguments, turn)
        return ToolResult([Text(played)]) if isinstance(played, str) else played

    async def get_prompt(self, order: GetPrompt, turn: Turn) -> PromptResult:
        raise UnknownName("prompt", order.name)

    async def read_resource(self, order: ReadResource, turn: Turn) -> ResourceResult:
        if order.uri != "test://one":
            raise ResourceNotFound(order.uri)
        return ResourceResult([TextContents(order.uri, "one")])


@attrs.define
class Wire:
    """A connection of our own, for what a well-behaved client library will not do: read half, stall, vanish."""

    stream: trio.SocketStream
    event_id: str | None = None
    _http: h11.Connection = attrs.Factory(lambda: h11.Connection(h11.CLIENT))
    _text: str = ""

    @classmethod
    @asynccontextmanager
    async def open(cls, address: tuple[str, int], receive_buffer: int | None = None) -> AsyncIterator[Wire]:
        sock = trio.socket.socket()
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await sock.connect(address)
        async with trio.SocketStream(sock) as stream:
            yield cls(stream)

    async def request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"", *, framing: bool = True
    ) -> None:
        """Send a request. Without `framing` the headers themselves say how long the body is."""
        if self._http.our_state is h11.DONE:
            self._http.start_next_cycle()
        host, port, *_ = self.stream.socket.getpeername()
        length = [("content-length", str(len(body)))] if framing else []
        lines = [("host", f"{host}:{port}"), *length, *headers.items()]
        data = self._http.send(h11.Request(method=method, target=path, headers=lines)) or b""
        data += (self._http.send(h11.Data(data=body)) or b"") if body else b""
        data += self._http.send(h11.EndOfMessage()) or b""
        await self.stream.send_all(data)

    async def response(self) -> dict[str, str]:
        """The response's headers, its status among them under "status"."""
        event = await self._event()
        assert isinstance(event, h11.Response)
        headers = {name.decode(): value.decode() for name, value in event.headers}
        return {**headers, "status": str(event.status_code)}

    async def rest(self) -> str:
        """What is left of the response's body."""
        while not isinstance(event := await self._event(), h11.EndOfMessage):
            self._text += bytes(event.data).decode()
        text, self._text = self._text, ""
        return text

    async def frame(self) -> str | None:
        """The next event or comment of the stream, as text; None at its end."""
        while "\n\n" not in self._text:
            event = await self._event()
            if isinstance(event, h11.EndOfMessage):
                return None
            assert isinstance(event, h11.Data)
            self._text += bytes(event.data).decode()
        frame, _, self._text = self._text.partition("\n\n")
        for line in frame.split("\n"):
            if line.startswith("id: "):
                self.event_id = line[4:]
        return frame

    async def message(self) -> dict[str, Any]:
        """The next JSON-RPC message of the stream."""
        while (frame := await self.frame()) is not None:
            for line in frame.split("\n"):
                if line.startswith("data: {"):
                    message: dict[str, Any] = json.loads(line[6:])
                    return message
        raise EOFError

    async def _event(self) -> Any:
        with trio.fail_after(10):
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await self.stream.receive_some(65536))
        return event


@attrs.frozen
class House:
    app: GreenroomApp
    base: str
    client: httpx.AsyncClient

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.base.removeprefix("http://").partition(":")
        return host, int(port)

    # --- the newer era -------------------------------------------------------------------------------------

    async def modern(self, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> httpx.Response:
        headers, body = modern_request(method, params, **meta)
        return await self.client.post(self.url, headers=headers, json=body)

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
        """The result of a tool call in the newer era, streamed or not."""
        response = await self.modern("tools/call", {"name": tool, "arguments": arguments or {}}, **meta)
        message = answer(response)
        result: dict[str, Any] = message["result"]
        return result

    async def open_session(self, **arguments: Any) -> str:
        result = await self.call("initialize", arguments)
        handle: str = result["structuredContent"]["session_id"]
        return handle

    # --- the older era -------------------------------------------------------------------------------------

    async def shake_hands(self, version: str = LEGACY, capabilities: Mapping[str, Any] | None = None) -> dict[str, str]:
        """Connect as an older client does. The headers for everything that follows."""
        response = await self.client.post(
            self.url, headers=ACCEPT, json=initialize_request(version, capabilities or {})
        )
        assert response.status_code == 200, response.text
        negotiated = answer(response)["result"]["protocolVersion"]
        headers = {
            **ACCEPT,
            "mcp-session-id": response.headers["mcp-session-id"],
            "mcp-protocol-version": negotiated,
        }
        told = await self.client.post(
            self.url, headers=headers, json={"jsonrpc": "2.0", "method": "notifications/initialized"}
        )
        assert told.status_code == 202
        return headers

    async def legacy(
        self, headers: Mapping[str, str], method: str, params: Mapping[str, Any] | None = None, request_id: Any = 1
    ) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
        return await self.client.post(self.url, headers=headers, json=body)


def initialize_request(version: str, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    params = {
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def modern_request(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    capabilities: Mapping[str, Any] | None = None,
    request_id: Any = 1,
    **meta: Any,
) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body as a client of the newer era sends them, mirrored arguments included."""
    params = dict(params or {})
    envelope = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities or {},
        **meta,
    }
    headers = {**ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": method}
    if (name := params.get("name") or params.get("uri")) is not None:
        headers["mcp-name"] = name
    session_id = (params.get("arguments") or {}).get("session_id")
    if session_id is not None:
        headers["mcp-param-session"] = session_id
    body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": envelope}}
    return headers, body


def events(text: str) -> list[dict[str, Any]]:
    """The JSON-RPC messages in a stream of server-sent events."""
    lines = [line for line in text.split("\n") if line.startswith("data: ") and line != "data: "]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def answer(response: httpx.Response) -> dict[str, Any]:
    """The JSON-RPC response in an HTTP response, whichever form it came in."""
    if response.headers["content-type"].startswith("text/event-stream"):
        return events(response.text)[-1]
    message: dict[str, Any] = response.json()
    return message


def error_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The error that a tool result carries for a model to react to."""
    assert result["isError"] is True
    error: dict[str, Any] = result["structuredContent"]["error"]
    assert result["content"][0]["text"] == error["message"]
    return error


async def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until something that no event announces has come about."""
    with trio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110
            await trio.sleep(0.01)


@asynccontextmanager
async def open_house(workflow: Any, journal: Journal | None = None, **settings: Any) -> AsyncIterator[House]:
    """Serve a workflow on a free port of loopback for as long as the block lasts."""
    keep_alive = settings.pop("keep_alive_timeout", 75)
    chosen = Settings(port=0, **{"http": paths.chosen, **settings})
    app = create_app(chosen, workflow, journal)
    config = make_config(chosen)
    config.keep_alive_timeout = keep_alive
    config.graceful_timeout = 0.1
    stop = trio.Event()

    async def run(*, task_status: trio.TaskStatus[list[str]]) -> None:
        await serve(app, config, shutdown_trigger=stop.wait, task_status=task_status)  # type: ignore[arg-type]

    async with trio.open_nursery() as nursery, httpx.AsyncClient(timeout=20) as client:
        binds = await nursery.start(run)
        try:
            yield House(app, binds[0], client)
        finally:
            stop.set()

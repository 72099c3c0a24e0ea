"""A chat completions endpoint on a real socket that does what a test tells it to.

Plain HTTP/1.1 on Trio, just enough for a well-behaved client. Each request takes the next act from `script`, or
`otherwise` when there is none left; `seen` has what was asked, `gone` counts the clients that left before their answer.
`python -m tests.llm.fake_openai <delay>` serves alone, for benchmarks, and prints its address.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

import attrs
import trio


@attrs.frozen
class Answer:
    """A whole answer, or its text in pieces if the client wants a stream. Held back for `delay` and until `gate`."""

    text: str = "hello"
    tool_calls: Sequence[tuple[str, str]] = ()
    """Names, and arguments as the text that a model would write."""
    pieces: Sequence[str] = ()
    delay: float = 0.0
    gate: trio.Event | None = None
    finish_reason: str = "stop"


@attrs.frozen
class Status:
    """An error as the provider would report it."""

    code: int
    retry_after: str | None = None
    message: str = "the provider is unhappy"


@attrs.frozen
class Drop:
    """The connection ends without an answer."""


@attrs.frozen
class Garbage:
    """A success that is not JSON."""


Act = Answer | Status | Drop | Garbage


class Gone(Exception):
    """The client has left."""


@attrs.define
class FakeOpenAI:
    script: deque[Act] = attrs.Factory(deque)
    otherwise: Act = Answer()
    seen: list[dict[str, Any]] = attrs.Factory(list)
    keys: list[str] = attrs.Factory(list)
    in_flight: int = 0
    most_in_flight: int = 0
    gone: int = 0
    base: str = ""
    _news: trio.Event = attrs.Factory(trio.Event)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.base = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/v1"
        task_status.started()
        await trio.serve_listeners(self._connection, listeners)

    async def until(self, *, in_flight: int | None = None, gone: int | None = None) -> None:
        """Wait until that many requests are being answered, or clients have left."""
        while (in_flight is not None and self.in_flight < in_flight) or (gone is not None and self.gone < gone):
            await self._news.wait()

    def _tell(self) -> None:
        self._news.set()
        self._news = trio.Event()

    # --- HTTP --------------------------------------------------------------------------------------------------------

    async def _connection(self, stream: trio.SocketStream) -> None:
        buffer = bytearray()
        try:
            async with stream:
                keep = True
                while keep:
                    head = await _until_blank_line(stream, buffer)
                    body = await _exactly(stream, buffer, int(head["content-length"]))
                    self.keys.append(head.get("authorization", ""))
                    keep = await self._request(stream, json.loads(body), buffer)
        except (Gone, trio.BrokenResourceError):
            pass

    async def _request(self, stream: trio.SocketStream, request: dict[str, Any], buffer: bytearray) -> bool:
        """Whether the connection may be used again."""
        self.seen.append(request)
        act = self.script.popleft() if self.script else self.otherwise
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self._tell()
        keep = None
        async with trio.open_nursery() as watched:  # a client that leaves cancels its answer
            watched.start_soon(self._watch, stream, buffer, watched.cancel_scope)
            with contextlib.suppress(trio.BrokenResourceError):
                keep = await self._perform(stream, act, request)
            watched.cancel_scope.cancel()
        # Both at once: whoever waits for the one may go on to wait for the other.
        self.in_flight -= 1
        self.gone += keep is None
        self._tell()
        return keep or False

    async def _watch(self, stream: trio.SocketStream, buffer: bytearray, answer: trio.CancelScope) -> None:
        try:
            chunk = await stream.receive_some(65536)
        except trio.BrokenResourceError:
            chunk = b""
        buffer += chunk
        if not chunk:
            answer.cancel()

    async def _perform(self, stream: trio.SocketStream, act: Act, request: dict[str, Any]) -> bool:
        match act:
            case Drop():
                return False
            case Garbage():
                await stream.send_all(_response(b"<html>sorry</html>"))
            case Status(code=code, retry_after=retry_after, message=message):
                error = {"error": {"message": message, "type": "error", "code": None}}
                extra = f"retry-after: {retry_after}\r\n" if retry_after is not None else ""
                await stream.send_all(_response(json.dumps(error).encode(), f"{code} Unhappy", extra))
            case Answer() if request.get("stream"):
                await self._stream(stream, act, request)
                return False
            case Answer():
                await self._wait(act)
                await stream.send_all(_response(json.dumps(_completion(act, request)).encode()))
        return True

    async def _stream(self, stream: trio.SocketStream, act: Answer, request: dict[str, Any]) -> None:
        await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for piece in act.pieces or [act.text]:
            await stream.send_all(_event(_chunk(request, {"role": "assistant", "content": piece})))
        await self._wait(act)
        for index, (name, arguments) in enumerate(act.tool_calls):
            for part in (arguments[:3], arguments[3:]):
                call = {"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": part}}
                await stream.send_all(_event(_chunk(request, {"tool_calls": [{"type": "function", **call}]})))
                name = ""
        await stream.send_all(_event(_chunk(request, {}, act.finish_reason)))
        if request.get("stream_options", {}).get("include_usage"):
            await stream.send_all(_event({**_chunk(request, {}), "choices": [], "usage": _USAGE}))
        await stream.send_all(b"data: [DONE]\n\n")

    async def _wait(self, act: Answer) -> None:
        if act.delay:
            await trio.sleep(act.delay)
        if act.gate is not None:
            await act.gate.wait()


_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def _completion(act: Answer, request: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": act.text}
    if act.tool_calls:
        message["tool_calls"] = [
            {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for index, (name, arguments) in enumerate(act.tool_calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": act.finish_reason}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request["model"]}
    return {**whole, "choices": [choice], "usage": _USAGE}


def _chunk(request: dict[str, Any], delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    part = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
    return {**part, "choices": [choice]}


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _response(body: bytes, status: str = "200 OK", extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{extra}content-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _until_blank_line(stream: trio.SocketStream, buffer: bytearray) -> dict[str, str]:
    while b"\r\n\r\n" not in buffer:
        await _more(stream, buffer)
    head, _, rest = bytes(buffer).partition(b"\r\n\r\n")
    buffer[:] = rest
    pairs = (line.partition(":") for line in head.decode().split("\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _exactly(stream: trio.SocketStream, buffer: bytearray, length: int) -> bytes:
    while len(buffer) < length:
        await _more(stream, buffer)
    body = bytes(buffer[:length])
    del buffer[:length]
    return body


async def _more(stream: trio.SocketStream, buffer: bytearray) -> None:
    if not (chunk := await stream.receive_some(65536)):
        raise Gone
    buffer += chunk


async def _serve_alone(delay: float) -> None:
    fake = FakeOpenAI(otherwise=Answer(delay=delay))
    async with trio.open_nursery() as serving:
        await serving.start(fake.run)
        print(fake.base, flush=True)


if __name__ == "__main__":
    trio.run(_serve_alone, float(sys.argv[1]))

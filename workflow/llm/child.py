"""The program of the language model process: asyncio and litellm behind a socket, one task per call.

Started as `python -m greenroom.workflow.llm.child <descriptor>` by `link`, which stands on the other side of the
socket. It knows nothing of purposes, retries or settings, keeps nothing between calls, and lives exactly as long as its
socket: when the server is gone, so is it. Whatever it prints ends up in the server's log.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from greenroom.workflow.llm.framing import FRAME_LIMIT, FrameTooLarge, Lines, encode

_CHUNK = 256 * 1024

ENVIRONMENT = {
    # The price list comes with the package; litellm would fetch a newer one on every start.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    # Anything below an error would print prompts.
    "LITELLM_LOG": "ERROR",
    # In its development mode litellm reads whatever .env file it finds. What we are told comes from the server alone.
    "LITELLM_MODE": "PRODUCTION",
}

CALL_DEFAULTS = {
    # Retries belong to the server, which knows the caller's deadline.
    "max_retries": 0,
    "num_retries": 0,
    # A model that has no temperature should answer all the same.
    "drop_params": True,
}


class Desk:
    """Takes messages from the socket and answers them; every call is a task that a cancel message can stop."""

    def __init__(self, litellm: Any, writer: asyncio.StreamWriter) -> None:
        self._litellm = litellm
        self._writer = writer
        self._calls: dict[int, asyncio.Task[None]] = {}

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Until the other side closes the socket."""
        lines = Lines()
        while chunk := await reader.read(_CHUNK):
            for message in lines.feed(chunk):
                self._handle(message)

    def _handle(self, message: Mapping[str, Any]) -> None:
        match message:
            case {"call": int(number), "arguments": dict(arguments)}:
                task = asyncio.create_task(self._call(number, arguments))
                self._calls[number] = task
                task.add_done_callback(lambda _: self._calls.pop(number, None))
            case {"cancel": int(number)}:
                if (running := self._calls.get(number)) is not None:
                    running.cancel()
            case {"ping": number}:
                self._writer.write(encode({"pong": number}))

    async def _call(self, number: int, arguments: dict[str, Any]) -> None:
        try:
            answer = await self._answer(number, arguments)
            frame = encode({"id": number, "answer": answer})
        except FrameTooLarge as error:
            frame = encode({"id": number, "error": {"kind": "FrameTooLarge", "text": str(error)}})
        except Exception as error:  # the border: whatever a provider's adapter raises is the answer to this call
            frame = encode({"id": number, "error": described(error)})
        await self._send(frame)

    async def _answer(self, number: int, arguments: dict[str, Any]) -> dict[str, Any]:
        if not arguments.get("stream"):
            return plain(await self._litellm.acompletion(**CALL_DEFAULTS, **arguments))
        chunks = []
        length = 0
        stream = await self._litellm.acompletion(**CALL_DEFAULTS, **arguments, stream_options={"include_usage": True})
        async for chunk in stream:
            chunks.append(chunk)
            if chunk.choices and (text := chunk.choices[0].delta.content):
                length += len(text)
                if length > FRAME_LIMIT:
                    raise FrameTooLarge("a streamed answer without end")
                await self._send(encode({"id": number, "delta": text}))
        return plain(self._litellm.stream_chunk_builder(chunks, messages=arguments["messages"]))

    async def _send(self, frame: bytes) -> None:
        self._writer.write(frame)
        await self._writer.drain()


def plain(response: Any) -> dict[str, Any]:
    """litellm's response as what the server wants of it."""
    choice = response.choices[0]
    usage = getattr(response, "usage", None)
    return {
        "text": choice.message.content or "",
        "tool_calls": [
            {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
            for call in choice.message.tool_calls or ()
        ],
        "model": response.model or "",
        "finish_reason": choice.finish_reason or "",
        "usage": {
            "prompt_tokens": getattr(usage, "prompt_tokens", None) or 0,
            "completion_tokens": getattr(usage, "completion_tokens", None) or 0,
        },
    }


def described(error: Exception) -> dict[str, Any]:
    """An exception as what the server wants of it."""
    status = getattr(error, "status_code", None)
    text = str(error)
    # Where the headers are depends on the provider's adapter; there are none if nobody answered.
    response = getattr(error, "response", None)
    headers = getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None) or {}
    # Some adapters report a key that was never given as a server's fault, which would be tried again and again.
    if status == 500 and not headers and any(words in text for words in ("Missing credentials", "API key")):
        status = 401
    return {
        "kind": type(error).__name__,
        "status": status,
        "retry_after": headers.get("retry-after"),
        "text": text[:10_000],
    }


def load() -> Any:
    os.environ.update(ENVIRONMENT)
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    litellm.telemetry = False
    return litellm


async def live(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    try:
        litellm = load()
    except Exception as error:  # not installed, or broken: the server knows what to say about it
        writer.write(encode({"unready": f"{type(error).__name__}: {error}"}))
        await writer.drain()
        return
    writer.write(encode({"ready": version("litellm")}))
    await Desk(litellm, writer).serve(reader)


def main() -> None:
    # Ctrl-C reaches the whole terminal, but stopping is the server's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.setblocking(False)
    code = 0
    try:
        asyncio.new_event_loop().run_until_complete(live(connection))
    except ConnectionError:
        pass  # the server went away in the middle of an answer
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # Neither a call that is slow to be cancelled nor a thread that a library left behind may keep an orphan alive.
    os._exit(code)


if __name__ == "__main__":
    main()

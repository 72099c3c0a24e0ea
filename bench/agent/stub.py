"""A model that takes its time and does as it is told: the other end of `bench.agent.turns`.

`python -m bench.agent.stub <delay>` serves the chat completions API on a free port of loopback, prints its base
address, and answers `GET /v1/calls` with the number of completions so far. It keeps no state of a conversation: what
it answers follows from the messages alone. `asking` writes the one kind of task that it understands.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import h11
import trio

_TASK = re.compile(r"\[(?P<mark>[^\]]+)\] Please run (?P<command>\S+) with (?P<parameters>.+)\.\Z", re.DOTALL)


def asking(mark: str, command: str, parameters: Mapping[str, str]) -> str:
    """A task of one command. The final answer begins with the mark, so that no two turns can be mistaken."""
    return f"[{mark}] Please run {command} with {'; '.join(f'{name}={each}' for name, each in parameters.items())}."


def step(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the agent is told to do next: the command if the last word is a task, the answer if it is a result."""
    last: str = messages[-1]["content"]
    if (task := _TASK.match(last)) is not None:
        pairs = (each.partition("=") for each in task["parameters"].split("; "))
        parameters = [{"name": name, "value": value} for name, _, value in pairs]
        return {"action": "run_command", "command": task["command"], "parameters": parameters, "message": ""}
    tasks = [task for each in messages if each["role"] == "user" and (task := _TASK.match(each["content"]))]
    message = f"[{tasks[-1]['mark']}] {last}" if tasks else "There is no task."
    return {"action": "answer", "command": "", "parameters": [], "message": message}


@attrs.define
class Stub:
    delay: float
    calls: int = 0

    async def serve(self, stream: trio.SocketStream) -> None:
        """One connection, for as many requests as the client likes."""
        wire = h11.Connection(h11.SERVER)
        try:
            async with stream:
                while (request := await _request(wire, stream)) is not None:
                    target, body = request
                    answer = {"calls": self.calls} if target == "/v1/calls" else await self._complete(json.loads(body))
                    await stream.send_all(_response(wire, answer))
                    wire.start_next_cycle()
        except (trio.BrokenResourceError, h11.RemoteProtocolError):
            pass  # the client left in the middle; nothing here is worth telling anybody

    async def _complete(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.calls += 1
        await trio.sleep(self.delay)
        message = {"role": "assistant", "content": json.dumps(step(request["messages"]))}
        return {
            "id": f"chatcmpl-{self.calls}",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


async def _request(wire: h11.Connection, stream: trio.SocketStream) -> tuple[str, bytes] | None:
    """Target and body of the next request; None if the client has closed the connection."""
    target, body = "", bytearray()
    while True:
        match wire.next_event():
            case h11.NEED_DATA:
                wire.receive_data(await stream.receive_some(65536))
            case h11.Request() as head:
                target = head.target.decode()
            case h11.Data() as part:
                body += part.data
            case h11.EndOfMessage():
                return target, bytes(body)
            case _:
                return None


def _response(wire: h11.Connection, answer: Mapping[str, Any]) -> bytes:
    body = json.dumps(answer).encode()
    headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
    head = wire.send(h11.Response(status_code=200, headers=headers)) or b""
    return head + (wire.send(h11.Data(data=body)) or b"") + (wire.send(h11.EndOfMessage()) or b"")


async def _serve(delay: float) -> None:
    stub = Stub(delay)
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=256)
    print(f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/v1", flush=True)
    await trio.serve_listeners(stub.serve, listeners)


if __name__ == "__main__":
    trio.run(_serve, float(sys.argv[1]))

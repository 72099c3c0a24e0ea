"""A child process that speaks our frames and knows no model: for what has to do with processes, and not with litellm.

What it does with a call is the text of the last message: say it back, stay silent, print, or die.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from greenroom.workflow.llm.framing import Lines, encode

ANSWER = {"tool_calls": [], "model": "stand-in", "finish_reason": "stop", "usage": {}}


def act(connection: socket.socket, number: int, text: str) -> None:
    match text.split(":"):
        case ["silence"]:
            return
        case ["die"]:
            os._exit(3)
        case ["garbage"]:
            connection.sendall(b"this is not JSON\n")
        case ["print", words]:
            print(words, flush=True)
        case ["deltas", count]:
            for index in range(int(count)):
                connection.sendall(encode({"id": number, "delta": f"{index} "}))
        case ["fail", status]:
            error = {"kind": "SomeError", "status": int(status), "retry_after": None, "text": f"said: {text}"}
            connection.sendall(encode({"id": number, "error": error}))
            return
    connection.sendall(encode({"id": number, "answer": {**ANSWER, "text": text}}))


def main() -> None:
    mode = sys.argv[1]
    connection = socket.socket(fileno=int(sys.argv[-1]))
    if mode == "unready":
        connection.sendall(encode({"unready": "ModuleNotFoundError: No module named 'litellm'"}))
        return
    if mode == "mute":
        connection.recv(1)
        return
    connection.sendall(encode({"ready": "0"}))
    lines = Lines()
    while chunk := connection.recv(65536):
        for message in lines.feed(chunk):
            handle(connection, message)


def handle(connection: socket.socket, message: dict[str, Any]) -> None:
    match message:
        case {"call": number, "arguments": {"messages": [*_, {"content": text}]}}:
            act(connection, number, text)
        case {"cancel": number}:
            print(f"cancelled {number}", flush=True)
        case {"ping": number}:
            connection.sendall(encode({"pong": number}))


if __name__ == "__main__":
    main()

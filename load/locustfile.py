"""Clients as they are: some call, some watch, some hang up, some come back, some hardly read, some are mistaken.

Each has a session of its own and makes one call at a time. It knows what the answer has to be, and an answer that is
not that is a failure: a wrong text, a 409 when nothing of its runs, no 409 when something does. What it was told is
written into a file, which `run` compares with what the server has executed.
"""

from __future__ import annotations

import itertools
import os
import secrets
import socket
from typing import Any
from urllib.parse import urlsplit

import gevent
from locust import FastHttpUser, between, events, task

from load import wire

USERS_OF_THE_STORE = 40
"""Sessions share so many users: each user is a database of its own, and a real server has far fewer at a time."""

TOLD = os.environ.get("LOAD_TOLD", os.devnull)
_numbers = itertools.count()
_told = open(TOLD, "a", buffering=1)  # noqa: SIM115 - for as long as the process lives


class Wrong(Exception):
    """An answer that is not what it has to be."""


@events.quitting.add_listener
def _flush(**_: Any) -> None:
    _told.close()


class Client(FastHttpUser):
    abstract = True
    wait_time = between(float(os.environ.get("LOAD_WAIT_MIN", "3")), float(os.environ.get("LOAD_WAIT_MAX", "9")))
    connection_timeout, network_timeout = 30.0, 60.0

    def on_start(self) -> None:
        self.number = next(_numbers)
        self.user_id = f"user-{self.number % USERS_OF_THE_STORE}"
        self.words = 0
        self.connect()
        opened = self.perform("initialize", {"user_id": self.user_id}, "initialize")
        self.handle = opened["structuredContent"]["session_id"]

    # --- one call ------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """What has to happen before the first call."""

    def request_of(self, tool: str, arguments: dict[str, Any], token: str | None) -> tuple[dict[str, str], str]:
        raise NotImplementedError

    def in_session(self, **arguments: Any) -> dict[str, Any]:
        return {"session_id": self.handle, **arguments}

    def new_word(self) -> str:
        self.words += 1
        return f"{self.number}-{self.words}-{secrets.token_hex(4)}"

    def perform(
        self,
        tool: str,
        arguments: dict[str, Any],
        name: str,
        *,
        token: str | None = None,
        steps: list[Any] | None = None,
    ) -> dict[str, Any]:
        """Make a call and return its result; what is said on the way goes into `steps`."""
        headers, body = self.request_of(tool, arguments, token)
        with self.client.post("/mcp", data=body, headers=headers, name=name, catch_response=True) as response:
            try:
                if response.status_code not in (200, 503):
                    raise Wrong(f"status {response.status_code}: {str(response.text)[:200]}")
                found = list(wire.messages(response.headers.get("content-type", ""), response.text))
                if steps is not None:
                    steps += [each["params"]["message"] for each in found if "method" in each]
                result: dict[str, Any] = found[-1]["result"]
                return result
            except (Wrong, KeyError, IndexError, ValueError, TypeError) as error:
                response.failure(f"{name}: {error!r}"[:300])
                raise Wrong(str(error)) from None

    def check(self, name: str, right: bool, seen: object) -> None:
        if not right:
            events.request.fire(
                request_type="CHECK", name=name, response_time=0, response_length=0, exception=Wrong(str(seen)[:300])
            )

    def told(self, word: str) -> None:
        _told.write(f"{word}\n")

    # --- what clients do -----------------------------------------------------------------------------------

    @task(10)
    def call(self) -> None:
        word = self.new_word()
        result = self.perform("execute_command", self.in_session(command=f"mark <word>{word}</word>"), "call")
        self.check("call", wire.said(result) == f"marked {word}", result)
        self.told(word)

    @task(4)
    def watch(self) -> None:
        word, steps = self.new_word(), list[Any]()
        arguments = self.in_session(command=f"walk <word>{word}</word>")
        result = self.perform("execute_command", arguments, "watch", token="t", steps=steps)
        self.check("watch", wire.said(result) == f"walked {word}" and _has_steps(steps), (steps, result))
        self.told(word)

    @task(2)
    def interrupt_itself(self) -> None:
        """A second turn is refused while the first runs, and names it; afterwards the first one's result is there."""
        word = self.new_word()
        begun = self.perform(
            "execute_command",
            self.in_session(
                command=f"walk <word>{word}</word> <seconds>1</seconds>", timeout_seconds=0.05, on_timeout="defer"
            ),
            "defer",
        )
        late = wire.error(begun)
        self.check("defer", late.get("code") == 504 and late.get("data", {}).get("deferred") is True, begun)
        turn_id = late["data"]["turn_id"]
        refused = wire.error(self.perform("execute_command", self.in_session(command="mark <word>no</word>"), "409"))
        self.check("409", refused.get("code") == 409 and refused["data"]["turn_id"] == turn_id, refused)
        result = self.perform("get_turn", self.in_session(turn_id=turn_id, wait_seconds=30), "get_turn")
        self.check("get_turn", wire.said(result) == f"walked {word}", result)
        self.told(word)

    @task(2)
    def call_twice(self) -> None:
        """The connection is lost before the answer comes; the same call again, with its key, is not a second one."""
        word = self.new_word()
        arguments = self.in_session(command=f"mark <word>{word}</word>", idempotency_key=word)
        self.lose(*self.request_of("execute_command", arguments, None))
        result = self.perform("execute_command", arguments, "again")
        self.check("again", wire.said(result) == f"marked {word}", result)
        self.told(word)

    @task(2)
    def hang_up(self) -> None:
        """In the middle of a stream. The session is free again, soon or at once."""
        word = self.new_word()
        arguments = self.in_session(command=f"walk <word>{word}</word> <seconds>2</seconds>")
        self.lose(*self.request_of("execute_command", arguments, "t"), after=200)
        for _ in range(100):
            free = self.perform("execute_command", self.in_session(command=f"mark <word>{word}-free</word>"), "free")
            if not wire.error(free):
                self.told(f"{word}-free")
                return
            self.check("free", wire.error(free)["code"] == 409, free)
            gevent.sleep(0.1)
        self.check("free", False, "the session is not free after ten seconds")

    @task(1)
    def hardly_read(self) -> None:
        """A stream that is read a few bytes at a time. Its turn is not held up by it."""
        word = self.new_word()
        arguments = self.in_session(command=f"walk <word>{word}</word> <steps>50</steps> <seconds>0.5</seconds>")
        text = self.read_slowly(*self.request_of("execute_command", arguments, "t"))
        self.check("hardly_read", f"walked {word}" in text, text[-300:])
        self.told(word)

    @task(1)
    def be_mistaken(self) -> None:
        arguments = {"session_id": "a-handle-that-was-never-given", "command": "mark <word>no</word>"}
        found = wire.error(self.perform("execute_command", arguments, "404"))
        self.check("404", found.get("code") == 404 and "initialize" in found["message"], found)
        wrong = wire.error(self.perform("execute_command", self.in_session(command="walk <nothing>x</nothing>"), "422"))
        self.check("422", wrong.get("code") == 422 and "<word>" in wrong["message"], wrong)

    @task(1)
    def look_back(self) -> None:
        result = self.perform("list_conversations", self.in_session(limit=3), "list")
        self.check("list", not wire.error(result) and "conversations" in result["structuredContent"], result)

    # --- connections that behave badly ---------------------------------------------------------------------

    def send_raw(self, headers: dict[str, str], body: str) -> socket.socket:
        address = urlsplit(self.host or "")
        connection = socket.create_connection((address.hostname, address.port or 80), timeout=30)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lines = [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join(
            [
                "POST /mcp HTTP/1.1",
                f"Host: {address.netloc}",
                *lines,
                f"Content-Length: {len(body)}",
                "Connection: close",
            ]
        )
        connection.sendall(f"{head}\r\n\r\n{body}".encode())
        return connection

    def lose(self, headers: dict[str, str], body: str, after: int = 0) -> None:
        connection = self.send_raw(headers, body)
        try:
            if after:
                connection.recv(after)
            else:
                gevent.sleep(0.005)
        finally:
            connection.close()

    def read_slowly(self, headers: dict[str, str], body: str) -> str:
        connection, parts = self.send_raw(headers, body), list[bytes]()
        try:
            while part := connection.recv(512):
                parts.append(part)
                gevent.sleep(0.02)
        finally:
            connection.close()
        return b"".join(parts).decode()


def _has_steps(messages: list[str]) -> bool:
    """All five, in their order, between whatever else was reported."""
    return [each for each in messages if each.startswith("step ")] == [f"step {number}" for number in range(1, 6)]


class NewerClient(Client):
    """MCP 2026-07-28: every request stands for itself."""

    weight = 1

    def request_of(self, tool: str, arguments: dict[str, Any], token: str | None) -> tuple[dict[str, str], str]:
        return wire.modern(tool, arguments, token)


class OlderClient(Client):
    """MCP 2025-11-25: a handshake first, and its session on every request."""

    weight = 1

    def connect(self) -> None:
        headers, body = wire.initialize()
        with self.client.post("/mcp", data=body, headers=headers, name="handshake", catch_response=True) as response:
            try:
                self.session = {
                    "Mcp-Session-Id": response.headers["mcp-session-id"],
                    "MCP-Protocol-Version": wire.LEGACY,
                }
            except (KeyError, TypeError) as error:
                response.failure(f"handshake: {error!r}")
                raise Wrong(str(error)) from None
        self.client.post("/mcp", data=wire.initialized(), headers={**wire.ACCEPT, **self.session}, name="initialized")

    def request_of(self, tool: str, arguments: dict[str, Any], token: str | None) -> tuple[dict[str, str], str]:
        return wire.legacy(self.session, tool, arguments, token)

    def on_stop(self) -> None:
        self.client.delete("/mcp", headers=self.session, name="goodbye")

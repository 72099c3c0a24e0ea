"""The clients that a chaos run is made of: each a user with a session, one call at a time, and a good memory.

A call that got no answer is made again, with the same key, as soon as there is a server again.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import attrs
import httpx
import trio

from greenroom.actors.asking import new_turn_id
from tests.chaos.findings import Findings, Kind, Seen
from tests.transport.playhouse import ACCEPT, LEGACY, answer, initialize_request, modern_request


@attrs.define
class Line:
    """To one server process, in one of the eras of the protocol."""

    client: httpx.AsyncClient
    url: str
    legacy: bool
    _headers: dict[str, str] = attrs.field(factory=dict)

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if self.legacy:
            headers = self._headers or await self._shake_hands()
            body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        else:
            headers, body = modern_request(method, params)
        message = answer(await self.client.post(self.url, headers=headers, json=body))
        result: dict[str, Any] = message.get("result", message)
        return result

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.request("tools/call", {"name": tool, "arguments": arguments})

    async def _shake_hands(self) -> dict[str, str]:
        response = await self.client.post(self.url, headers=ACCEPT, json=initialize_request(LEGACY, {}))
        response.raise_for_status()
        session = {"mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": LEGACY}
        self._headers = {**ACCEPT, **session}
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self.client.post(self.url, headers=self._headers, json=told)
        return self._headers


@attrs.define
class Call:
    tool: str
    arguments: dict[str, Any]
    attempts: int = 0
    repeats: Seen | None = None
    """A turn that was answered before."""


@attrs.define(eq=False)
class User:
    name: str
    legacy: bool
    random: Random
    findings: Findings
    handle: str | None = None
    conversation: str = ""
    seen: dict[str, Seen] = attrs.field(factory=dict)
    """By turn id, in the order of the answers."""
    touched: set[str] = attrs.field(factory=set)
    """Conversations in which something happened since they were last compared."""
    behind: int = 0
    """How often the workflow's own state knew less than had been answered."""
    _pending: Call | None = None
    _calls: int = 0
    _marks: int = 0

    async def perform(self, line: Line, killed: trio.Event) -> None:
        """One call after the other until the server dies."""
        try:
            while not killed.is_set():
                self._pending = call = self._pending or self._next_call()
                call.attempts += 1
                result = await line.call(call.tool, **call.arguments)
                self._pending = None
                self._acknowledge(call, result)
        except httpx.TransportError as error:
            if not killed.is_set():
                self.findings.add(Kind.OTHER, self.name, f"a server that was alive hung up: {error!r}")

    def repeat(self, seen: Seen) -> Call:
        """The very same call again, as a client makes it that has forgotten the answer."""
        return Call("execute_command", self._execute(seen.word), repeats=seen)

    def acknowledge_repeated(self, call: Call, result: Mapping[str, Any]) -> None:
        assert call.repeats is not None
        if _text(result) != call.repeats.text:
            sentence = f"was answered {call.repeats.text!r}, and when it was repeated {_text(result)!r}"
            self.findings.add(Kind.OTHER, call.repeats.word, sentence)

    # --- what to do next -----------------------------------------------------------------------------------

    def _next_call(self) -> Call:
        if self.handle is None:
            return Call("initialize", {"user_id": self.name})
        session = {"session_id": self.handle}
        latest = next(reversed(self.seen.values()), None)
        chance = self.random.random()
        if latest is not None and chance < 0.04:
            return Call("new_conversation", session)
        if latest is not None and latest.conversation_id == self.conversation and chance < 0.12:
            latest.offered = f"words {self._number()}"
            return Call("post_feedback", {**session, "nl_feedback": latest.offered})
        if latest is not None and chance < 0.18:
            return self.repeat(latest)
        return Call("execute_command", self._execute(f"{self.name}-{self._number()}"))

    def _execute(self, word: str) -> dict[str, Any]:
        return {"session_id": self.handle, "command": f"mark <word>{word}</word>", "idempotency_key": word}

    def _number(self) -> int:
        self._calls += 1
        return self._calls

    # --- what was answered ---------------------------------------------------------------------------------

    def _acknowledge(self, call: Call, result: Mapping[str, Any]) -> None:
        if result.get("isError", True):
            self.findings.add(Kind.OTHER, self.name, f"{call.tool} {call.arguments} was refused: {result}")
            return
        structured = result["structuredContent"]
        match call.tool:
            case "initialize":
                self.handle = structured["session_id"]
                self.conversation = structured["conversation"]["conversation_id"]
            case "new_conversation":
                self.conversation = structured["new_conversation_id"]
            case "post_feedback":
                rated = self.seen[structured["turn_id"]]
                rated.feedback = rated.offered = call.arguments["nl_feedback"]
                self.touched.add(rated.conversation_id)
            case _ if call.repeats is not None:
                self.acknowledge_repeated(call, result)
            case _:
                self._keep_in_mind(call, result)

    def _keep_in_mind(self, call: Call, result: Mapping[str, Any]) -> None:
        word = call.arguments["idempotency_key"]
        turn_id = new_turn_id(word, f"{self.handle} execute_command")
        seen = Seen(turn_id, self.conversation, word, _text(result), call.attempts)
        self.seen[seen.turn_id] = seen
        self.touched.add(self.conversation)
        restored = result["structuredContent"].get("session_restored")
        if restored is not None and restored["conversation"] != self.conversation:
            sentence = f"was in {self.conversation}, and came back in {restored['conversation']}"
            self.findings.add(Kind.OTHER, self.name, sentence)
        marks = int(seen.text.rpartition(" ")[2])
        if marks <= self._marks:
            self.behind += 1
            self.findings.add(Kind.OTHER, word, f"the workflow counted {marks} after it had answered {self._marks}")
        self._marks = max(marks, self._marks)


def _text(result: Mapping[str, Any]) -> str:
    content = result.get("content") or [{}]
    return str(content[0].get("text", result))

"""What is said to the servers, and what they must say back: the scripts of every scenario. Pure.

Everybody offers the same three tools, which are those of the built-in demo workflow: `recall` reads a notebook and
takes one text, `greet` takes nothing and answers with a text, `countdown` reports its progress a number of times.
A peer may phrase a result as its library does; what it means is checked in every response.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import attrs
import orjson

from bench import wire
from bench.load import Client, Script, Scripts, Wrong
from bench.wire import Response, Template

USER = "default_user"
EMPTY: Mapping[str, Any] = {"notes": []}
GREETING = "Hello"
PROGRESS_TOKEN = "bench"

Opening = Generator[bytes, Response, str]
"""A script that returns the id of the session it has opened."""

_FIRST_ID = 100_000_000
_ids = itertools.count(_FIRST_ID)


def answer(response: Response, number: int) -> Mapping[str, Any]:
    """The result that answers the request of that number, which must be the last thing said, and no error."""
    messages = _messages(response)
    last = messages[-1] if messages else {}
    if last.get("id") != number or "result" not in last:
        raise Wrong(f"request {number} was answered by {_cut(response)}")
    result: Mapping[str, Any] = last["result"]
    if result.get("isError"):
        raise Wrong(f"the tool failed: {_cut(response)}")
    return result


def _messages(response: Response) -> list[dict[str, Any]]:
    if response.status != 200:
        raise Wrong(f"status {response.status}: {_cut(response)}")
    return response.messages


def _cut(response: Response) -> str:
    return repr(response.body[:300])


def check_notebook(result: Mapping[str, Any], response: Response) -> None:
    structured = result.get("structuredContent")
    if structured is None:
        structured = orjson.loads(result["content"][0]["text"])
    if structured.get("notes") != []:
        raise Wrong(f"not an empty notebook: {_cut(response)}")


def check_greeting(result: Mapping[str, Any], response: Response) -> None:
    if GREETING not in result["content"][0]["text"]:
        raise Wrong(f"not a greeting: {_cut(response)}")


def check_countdown(messages: Sequence[Mapping[str, Any]], steps: int) -> None:
    """Every step was reported, once and in order, before the result."""
    told = [each["params"] for each in messages if each.get("method") == "notifications/progress"]
    if [each["progress"] for each in told] != list(range(1, steps + 1)):
        raise Wrong(f"{len(told)} of {steps} steps were reported: {str(told)[:200]}")
    if any(each["progressToken"] != PROGRESS_TOKEN for each in told):
        raise Wrong("progress of another call")


# --- sessions of the older era ---------------------------------------------------------------------------------


def shaking_hands(host: str) -> Opening:
    """Opens a session."""
    response = yield wire.handshake(host)
    session = response.header(b"mcp-session-id")
    result = answer(response, 0)
    if session is None or result.get("protocolVersion") != wire.LEGACY:
        raise Wrong(f"no session: {_cut(response)}")
    response = yield wire.initialized(host, session)
    if response.status not in (200, 202):
        raise Wrong(f"`initialized` got status {response.status}")
    return session


def moving_in(host: str, session: str) -> Script:
    """Ours alone: a session of the product, with its handle, bound to the session of the protocol."""
    number = next(_ids)
    params = {"name": "initialize", "arguments": {}}
    response = yield Template.of(host, wire.legacy_headers(session), "tools/call", params).fill(number)
    if "session_id" not in answer(response, number)["structuredContent"]:
        raise Wrong(f"no session handle: {_cut(response)}")


def leaving(host: str, session: str) -> Script:
    response = yield wire.farewell(host, session)
    if response.status not in (200, 202, 204):
        raise Wrong(f"DELETE got status {response.status}")


@attrs.frozen
class Stage:
    """One server, as the scripts see it."""

    host: str
    own_sessions: bool = False
    """Whether tools that keep something want a session of the product besides the protocol's."""

    def opening(self) -> Opening:
        session = yield from shaking_hands(self.host)
        if self.own_sessions:
            yield from moving_in(self.host, session)
        return session

    # --- scenarios ---------------------------------------------------------------------------------------------

    def calls(self, sessions: Sequence[str]) -> Scripts:
        params = {"name": "recall", "arguments": {"user_id": USER}}
        templates = [Template.of(self.host, wire.legacy_headers(each), "tools/call", params) for each in sessions]

        def script(line: int) -> Script:
            number = next(_ids)
            response = yield templates[line].fill(number)
            check_notebook(answer(response, number), response)

        return script

    def stateless_calls(self, *, legacy: bool = False) -> Scripts:
        if legacy:
            headers = {**wire.legacy_headers(), "Mcp-Protocol-Version": wire.LEGACY}
            params: dict[str, Any] = {"name": "greet", "arguments": {}}
        else:
            headers, params = wire.modern_headers("tools/call", "greet"), wire.modern_params("greet", {})
        template = Template.of(self.host, headers, "tools/call", params)

        def script(line: int) -> Script:
            number = next(_ids)
            response = yield template.fill(number)
            check_greeting(answer(response, number), response)

        return script

    def handle_calls(self, handles: Sequence[str]) -> Scripts:
        """The newer era, in a session of the product that is named by its handle."""
        templates = [
            Template.of(
                self.host,
                wire.modern_headers("tools/call", "recall", handle),
                "tools/call",
                wire.modern_params("recall", {"session_id": handle}),
            )
            for handle in handles
        ]

        def script(line: int) -> Script:
            number = next(_ids)
            response = yield templates[line].fill(number)
            check_notebook(answer(response, number), response)

        return script

    def set_ups(self) -> Scripts:
        def script(line: int) -> Script:
            session = yield from shaking_hands(self.host)
            yield from leaving(self.host, session)

        return script

    def own_set_ups(self) -> Scripts:
        def script(line: int) -> Script:
            session = yield from self.opening()
            yield from leaving(self.host, session)

        return script

    def countdowns(self, sessions: Sequence[str], steps: int, seconds: float) -> Scripts:
        params = {
            "name": "countdown",
            "arguments": {"steps": steps, "seconds": seconds},
            "_meta": {"progressToken": PROGRESS_TOKEN},
        }
        templates = [Template.of(self.host, wire.legacy_headers(each), "tools/call", params) for each in sessions]

        def script(line: int) -> Script:
            number = next(_ids)
            response = yield templates[line].fill(number)
            answer(response, number)
            check_countdown(response.messages, steps)

        return script

    def commands(self, sessions: Sequence[str], command: str, expected: str) -> Scripts:
        """Ours alone: a command of a workflow folder, whose response must contain what is expected."""
        params = {"name": "execute_command", "arguments": {"command": command}}
        templates = [Template.of(self.host, wire.legacy_headers(each), "tools/call", params) for each in sessions]

        def script(line: int) -> Script:
            number = next(_ids)
            response = yield templates[line].fill(number)
            if expected not in answer(response, number)["content"][0]["text"]:
                raise Wrong(f"{command} got {_cut(response)}")

        return script

    def arrivals(self, *, own: bool) -> Scripts:
        """Sessions that come to stay, each with one call that shows it to be alive."""

        def script(line: int) -> Script:
            session = yield from self.opening() if own else shaking_hands(self.host)
            tool, arguments = ("recall", {"user_id": USER}) if own == self.own_sessions else ("greet", {})
            params = {"name": tool, "arguments": arguments}
            number = next(_ids)
            response = yield Template.of(self.host, wire.legacy_headers(session), "tools/call", params).fill(number)
            answer(response, number)

        return script

    # --- before a scenario -------------------------------------------------------------------------------------

    def open_sessions(self, client: Client, *, own: bool) -> list[str]:
        """One session for each of the client's connections."""
        return [_through(each.ask, self.opening() if own else shaking_hands(self.host)) for each in client.lines]

    def open_handles(self, client: Client) -> list[str]:
        return [_through(line.ask, self._opening_by_handle()) for line in client.lines]

    def _opening_by_handle(self) -> Opening:
        number = next(_ids)
        headers, params = wire.modern_headers("tools/call", "initialize"), wire.modern_params("initialize", {})
        response = yield Template.of(self.host, headers, "tools/call", params).fill(number)
        handle: str = answer(response, number)["structuredContent"]["session_id"]
        return handle


def _through(ask: Callable[[bytes], Response], script: Opening) -> str:
    """Play a script to its end, and return what it returns."""
    data = next(script)
    while True:
        try:
            data = script.send(ask(data))
        except StopIteration as end:
            return str(end.value)

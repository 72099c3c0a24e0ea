"""A short way for the most common request: a plain `tools/call` that ends soon and well.

It reads a request that has nothing unusual about it, has its turn begun, and waits a moment. If all that comes is a
plain result, it answers, with the very bytes that the general way would have sent. In every other case it steps aside:
before the turn, as if nothing had been; after that, by handing over the turn that it has `Begun`, which the general way
then follows as if it had begun it. So there is one set of rules, the general one, and this is only ever a shortcut
through it: what it lets pass was judged by the same validators, and it never refuses anything itself.

A client that hangs up within that moment is noticed at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import mcp.types as t
import trio
from mcp.server import Server
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PARAM_HEADER_PREFIX,
    MCP_PROTOCOL_VERSION_HEADER,
    find_invalid_x_mcp_header,
    x_mcp_header_map,
)
from mcp.types.version import LATEST_MODERN_VERSION

from greenroom.actors.asking import EVENTS_KEPT, new_turn_id
from greenroom.actors.later import Later
from greenroom.actors.messages import Finished, Heard, TurnRequested
from greenroom.actors.reply import Reply
from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import GreenroomError
from greenroom.transport import plainjson
from greenroom.transport.bill import OPTION_NAMES, StageOptions
from greenroom.transport.http import session_header
from greenroom.transport.mcp import jsonrpc, wire
from greenroom.transport.mcp.answers import Incoming
from greenroom.transport.mcp.begun import Begun
from greenroom.transport.mcp.bill import Act
from greenroom.transport.mcp.envelopes import PROGRESS_TOKEN, Envelopes, is_plain_legacy
from greenroom.transport.mcp.handlers import HOUSE_NAMES, Handlers
from greenroom.transport.mcp.legacy import LegacyConnection
from greenroom.transport.mcp.legacy_http import MAX_IN_FLIGHT, Legacy
from greenroom.workflow.events import Progress, Trace
from greenroom.workflow.port import Caller
from greenroom.workflow.questions import Ability
from greenroom.workflow.values import CallTool, SessionUse, Text, ToolResult

MOMENT = 0.05
"""Seconds that an answer may take without anybody watching whether its client is still there."""

_CALL = "tools/call"
_PLAIN_OPTIONS = frozenset({"session_id", "user_id"})
_NOT_PLAIN_OPTIONS = OPTION_NAMES - _PLAIN_OPTIONS
_NO_OPTIONS = StageOptions()
_SENTINEL = "=?"
"""How a header value begins that is not what it says, but encoded."""

_QUIET = frozenset({Progress, Trace})
"""What nobody hears of who gave no progress token and asked for no log."""
_NO_KIND: frozenset[type] = frozenset()


@attrs.frozen(eq=False)
class Part:
    """A tool that can be called in the short way."""

    act: Act
    use: SessionUse
    mirrored: Sequence[tuple[str, str]]
    """Arguments that the newer era repeats in headers, and those."""
    takes_traces: bool

    @classmethod
    def of(cls, act: Act) -> Part | None:
        if act.tool.name in HOUSE_NAMES or "," in act.tool.name or act.tool.name.startswith(_SENTINEL):
            return None
        schema = act.input_schema
        positions = {} if find_invalid_x_mcp_header(schema) is not None else x_mcp_header_map(schema)
        if any(len(path) != 1 or schema["properties"][path[0]].get("type") != "string" for path in positions):
            return None
        headers = {path[0]: f"{MCP_PARAM_HEADER_PREFIX}{token}".lower() for path, token in positions.items()}
        return cls(act, act.tool.session_use, tuple(headers.items()), act.takes_traces)

    def mirrors(self, arguments: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
        """Whether headers and arguments say the same, letter by letter."""
        for name, header in self.mirrored:
            value, said = arguments.get(name), headers.get(header)
            if value != said or (said is not None and said.startswith(_SENTINEL)):
                return False
        return True


@attrs.frozen(eq=False)
class Call:
    """A request that has nothing unusual about it."""

    id: jsonrpc.Id
    part: Part
    arguments: dict[str, Any]
    abilities: frozenset[Ability]
    connection: LegacyConnection | None
    """The older era's, if it has one that is known; also None for a call of that era without any."""
    modern: bool
    loud: bool
    """Whether the client hears of a turn's steps."""


class _Stoppable:
    """What `notifications/cancelled` finds of a request that is on the short way."""

    __slots__ = ("begun",)

    def __init__(self, begun: Begun) -> None:
        self.begun = begun

    def cancel(self) -> None:
        self.begun.stopped = True
        self.begun.reply.nudge()


class Lean:
    def __init__(self, supervisor: Supervisor, handlers: Handlers, server: Server[Any], legacy: Legacy) -> None:
        self._supervisor = supervisor
        self._handlers = handlers
        self._legacy = legacy
        self._envelopes = Envelopes(LATEST_MODERN_VERSION)
        self._seal = {"_meta": {t.SERVER_INFO_META_KEY: server.server_info_stamp}}
        self._bill: Mapping[str, Act] = {}
        self._parts: dict[str, Part | None] = {}
        self.moment = Later(MOMENT, MOMENT / 4)

    # --- is it plain? --------------------------------------------------------------------------------------

    def recognise(self, headers: Mapping[str, str], value: Any, *, legacy: bool) -> Call | None:
        """The call that a body makes, if it is one that can be served here."""
        match value:
            case {
                "jsonrpc": "2.0",
                "id": int() | str() as request_id,
                "method": "tools/call",
                "params": dict() as params,
            }:
                pass
            case _:
                return None
        if len(value) != 4 or type(request_id) is bool or self._supervisor.draining:
            return None
        arguments, meta = params.get("arguments"), params.get("_meta")
        if type(arguments) is not dict or len(params) != (2 if meta is None else 3):
            return None
        part = self._part(params.get("name"))
        if part is None or not _NOT_PLAIN_OPTIONS.isdisjoint(arguments):
            return None
        if not plainjson.is_plain(arguments) or not part.act.surely_takes(arguments):
            return None
        if legacy:
            return self._recognise_legacy(headers, request_id, part, arguments, meta)
        return self._recognise_modern(headers, request_id, part, arguments, meta)

    def _recognise_modern(
        self, headers: Mapping[str, str], request_id: jsonrpc.Id, part: Part, arguments: dict[str, Any], meta: Any
    ) -> Call | None:
        if type(meta) is not dict or headers.get(MCP_PROTOCOL_VERSION_HEADER) != LATEST_MODERN_VERSION:
            return None
        if headers.get(MCP_METHOD_HEADER) != _CALL or headers.get(MCP_NAME_HEADER) != part.act.tool.name:
            return None
        abilities = self._envelopes.abilities(meta)
        if abilities is None or not part.mirrors(arguments, headers):
            return None
        return Call(request_id, part, arguments, abilities, None, modern=True, loud=PROGRESS_TOKEN in meta)

    def _recognise_legacy(
        self, headers: Mapping[str, str], request_id: jsonrpc.Id, part: Part, arguments: dict[str, Any], meta: Any
    ) -> Call | None:
        if meta is not None and (type(meta) is not dict or not is_plain_legacy(meta)):
            return None
        loud = meta is not None and PROGRESS_TOKEN in meta
        session_id = headers.get("mcp-session-id")
        if session_id is None:
            return Call(request_id, part, arguments, frozenset(), None, modern=False, loud=loud)
        connection = self._legacy.connections.find(session_id)
        if connection is None or connection.is_working_on(request_id) or connection.in_flight >= MAX_IN_FLIGHT:
            return None
        loud = loud or connection.log_level is not None
        return Call(request_id, part, arguments, connection.abilities, connection, modern=False, loud=loud)

    def _part(self, name: Any) -> Part | None:
        if self._bill is not self._handlers.bill:
            self._bill = self._handlers.bill
            self._parts = {name: Part.of(act) for name, act in self._bill.items()}
        return self._parts.get(name) if type(name) is str else None

    # --- then play it --------------------------------------------------------------------------------------

    async def serve(self, incoming: Incoming, call: Call) -> Begun | bool:
        """True if it has been answered. Else the general way goes on: with the turn that has begun, or from nothing."""
        begun = self._begin(call)
        if begun is None:
            return False
        body = await self._wait(call, begun)
        if body is None:
            return begun
        if begun.walk_on:
            self._supervisor.close(begun.actor)
        await incoming.respond(200, body, session_header(call.connection.id) if call.connection is not None else ())
        return True

    def _begin(self, call: Call) -> Begun | None:
        """Have the turn begun; None if there is anything in the way, which the general way will find again."""
        options, own = _split(call)
        try:
            actor, walk_on = self._handlers.conversation.cast(call.connection, call.abilities, options, call.part.use)
        except GreenroomError:
            return None
        reply = Reply(events=EVENTS_KEPT, ignoring=_NO_KIND if call.loud else _QUIET)
        begun = Begun(self._supervisor, actor, new_turn_id(), reply, walk_on)
        order = CallTool(call.part.act.tool.name, own)
        caller = Caller(actor.user_id, call.abilities)
        wait = self._supervisor.limits.turn_timeout
        try:
            actor.ask(TurnRequested(begun.turn_id, order, caller, reply, wait, fresh=True), reply)
        except GreenroomError:
            begun.let_go()
            return None
        return begun

    async def _wait(self, call: Call, begun: Begun) -> bytes | None:
        """The answer's bytes, if there is nothing but an answer, and that soon."""
        stoppable = _Stoppable(begun)
        if call.connection is not None:
            call.connection.take_on(call.id, stoppable)
        self.moment.put(begun.reply.nudge)
        try:
            heard = await begun.reply.prompt_answer()
        except BaseException:
            begun.let_go()
            raise
        finally:
            if call.connection is not None:
                call.connection.end(call.id, stoppable)
                self._legacy.connections.touch(call.connection.id, trio.current_time())
        return None if begun.stopped else self._bytes(call, heard)

    def _bytes(self, call: Call, heard: Heard | None) -> bytes | None:
        match heard:
            case Finished(ToolResult() as result):
                pass
            case _:
                return None
        kind: type = type(result.is_error)
        if kind is not bool:
            return None
        act = call.part.act
        if not result.is_error and not act.surely_gives(result.structured):
            return None
        content = []
        for each in result.content:
            if type(each) is not Text or type(each.text) is not str:
                return None
            content.append({"text": each.text, "type": "text"})
        shaped: dict[str, Any] = {"content": content, "isError": result.is_error}
        if call.modern:
            shaped["resultType"] = "complete"
        if result.structured is not None:
            structured = wire.structured(result, with_traces=call.part.takes_traces)
            if not plainjson.is_plain(structured):
                return None
            shaped["structuredContent"] = structured
        if call.modern:
            shaped |= self._seal
        return plainjson.write({"jsonrpc": "2.0", "id": call.id, "result": shaped})


def _split(call: Call) -> tuple[StageOptions, dict[str, Any]]:
    if call.part.use is SessionUse.NEVER or _PLAIN_OPTIONS.isdisjoint(call.arguments):
        return _NO_OPTIONS, call.arguments
    return call.part.act.split(call.arguments)

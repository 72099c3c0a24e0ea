"""The server's own tools, carried out for an MCP call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp.types as t

from greenroom.actors.messages import CancelRequested, Failed, Finished, TurnAwaited
from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import TurnCancelled
from greenroom.transport.bill import StageOptions
from greenroom.transport.house import CANCEL_TURN, GET_TURN, HOUSE_TOOLS, INITIALIZE, open_session
from greenroom.transport.mcp.conversation import Call, Conversation, is_deferred
from greenroom.workflow.values import Text, ToolResult

__all__ = ["CANCEL_TURN", "GET_TURN", "HOUSE_TOOLS", "INITIALIZE", "House"]


class House:
    def __init__(self, supervisor: Supervisor, conversation: Conversation) -> None:
        self._supervisor = supervisor
        self._conversation = conversation

    async def call(
        self, name: str, arguments: Mapping[str, Any], call: Call
    ) -> Finished | Failed | t.InputRequiredResult:
        match name:
            case INITIALIZE.name:
                return self._initialize(arguments, call)
            case GET_TURN.name:
                return await self._get_turn(arguments, call)
            case _:
                return await self._cancel_turn(arguments, call)

    def _initialize(self, arguments: Mapping[str, Any], call: Call) -> Finished:
        actor, structured = open_session(self._supervisor, arguments)
        connection = call.exchange.connection
        if connection is not None:
            connection.handle = actor.handle
        told = f"Session opened. Pass session_id {actor.handle} to every other tool of this workflow."
        return Finished(ToolResult([Text(told)], structured=structured))

    async def _get_turn(self, arguments: Mapping[str, Any], call: Call) -> Finished | Failed | t.InputRequiredResult:
        if call.request_state is not None:
            return await self._conversation.resume(call)
        turn_id = arguments["turn_id"]
        actor = self._conversation.find_session(call.exchange.connection, StageOptions(arguments.get("session_id")))
        heard = await self._conversation.attend(
            call,
            actor,
            turn_id,
            lambda reply: TurnAwaited(turn_id, reply),
            # Even without waiting the actor needs a moment to say how things stand.
            patience=max(float(arguments.get("wait_seconds", 0)), 0.05),
        )
        return Finished(_status(turn_id, "running")) if is_deferred(heard) else heard

    async def _cancel_turn(self, arguments: Mapping[str, Any], call: Call) -> Finished | Failed | t.InputRequiredResult:
        turn_id = arguments["turn_id"]
        actor = self._conversation.find_session(call.exchange.connection, StageOptions(arguments.get("session_id")))
        heard = await self._conversation.attend(
            call, actor, turn_id, lambda reply: CancelRequested(turn_id, reply), patience=10.0
        )
        match heard:
            case Failed(TurnCancelled()):
                return Finished(_status(turn_id, "cancelled"))
            case Finished():
                return Finished(_status(turn_id, "finished"))
            case _:
                return heard


def _status(turn_id: str, status: str) -> ToolResult:
    return ToolResult([Text(f"Turn {turn_id} is {status}.")], structured={"turn_id": turn_id, "status": status})

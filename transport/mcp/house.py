"""The server's own tools: opening a session, and looking after turns that outlive their call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp.types as t

from greenroom.actors.messages import CancelRequested, Failed, Finished, TurnAwaited
from greenroom.actors.supervisor import Supervisor
from greenroom.config.errors import TurnCancelled
from greenroom.transport.mcp.bill import StageOptions
from greenroom.transport.mcp.conversation import DEFAULT_USER, Call, Conversation, is_deferred
from greenroom.workflow.port import Caller
from greenroom.workflow.values import Text, Tool, ToolHints, ToolResult

_SESSION_ID = {
    "type": "string",
    "description": "The session_id that the tool `initialize` returned.",
    "x-mcp-header": "Session",
}
_TURN_ID = {"type": "string", "description": "The turn_id that came with the answer that the turn takes longer."}

INITIALIZE = Tool(
    name="initialize",
    title="Open a session",
    description="Open a session of this workflow. Pass the session_id that it returns to every other tool.",
    input_schema={
        "type": "object",
        "properties": {
            "user_id": {
                "type": "string",
                "minLength": 1,
                "maxLength": 256,
                "description": f"Whose session it is; {DEFAULT_USER} if left out.",
            },
            "conversation_id": {
                "type": ["string", "null"],
                "description": "The conversation to go on with; the last one if left out or unknown.",
            },
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "session_id": {"type": "string"},
            "workflow_info": {
                "type": "object",
                "properties": {"workflow_name": {"type": "string"}, "description": {"type": "string"}},
                "required": ["workflow_name", "description"],
            },
            "conversation": {"type": "object", "description": "The conversation that the session goes on with"},
        },
        "required": ["session_id", "workflow_info"],
    },
    hints=ToolHints(read_only=False, destructive=False, idempotent=False),
)

GET_TURN = Tool(
    name="get_turn",
    title="Fetch the result of a turn",
    description='The result of a turn that took longer than its call waited (on_timeout "defer").',
    input_schema={
        "type": "object",
        "properties": {
            "turn_id": _TURN_ID,
            "session_id": _SESSION_ID,
            "wait_seconds": {"type": "number", "minimum": 0, "maximum": 600, "default": 0},
        },
        "required": ["turn_id"],
        "additionalProperties": False,
    },
    hints=ToolHints(read_only=True),
)

CANCEL_TURN = Tool(
    name="cancel_turn",
    title="Stop a turn",
    description="Stop a turn that is running or waiting for an answer, so that the session is free again.",
    input_schema={
        "type": "object",
        "properties": {"turn_id": _TURN_ID, "session_id": _SESSION_ID},
        "required": ["turn_id"],
        "additionalProperties": False,
    },
    hints=ToolHints(read_only=False, destructive=True, idempotent=True),
)

HOUSE_TOOLS = (INITIALIZE, GET_TURN, CANCEL_TURN)


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
        actor = self._supervisor.open(
            Caller(arguments.get("user_id", DEFAULT_USER)), conversation_id=arguments.get("conversation_id")
        )
        connection = call.exchange.connection
        if connection is not None:
            connection.handle = actor.handle
        workflow = self._supervisor.workflow
        info = {"workflow_name": workflow.name, "description": workflow.description}
        told = f"Session opened. Pass session_id {actor.handle} to every other tool of this workflow."
        structured = {"session_id": actor.handle, "workflow_info": info, **self._supervisor.about(actor)}
        return Finished(ToolResult([Text(told)], structured=structured))

    async def _get_turn(self, arguments: Mapping[str, Any], call: Call) -> Finished | Failed | t.InputRequiredResult:
        if call.request_state is not None:
            return await self._conversation.resume(call)
        turn_id = arguments["turn_id"]
        actor = self._conversation.find_session(call, StageOptions(arguments.get("session_id")))
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
        actor = self._conversation.find_session(call, StageOptions(arguments.get("session_id")))
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

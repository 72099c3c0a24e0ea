"""The table of routes: what can be asked for over REST, and how. Pure.

A route stands on a tool of the bill, whose schemas it takes, or on what is kept of conversations, or on neither; it
exists where that exists. `binding` makes the rest of it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from greenroom.transport.house import GET_TURN, INITIALIZE
from greenroom.transport.rest import shapes
from greenroom.workflow.conversations import bill as conversing
from greenroom.workflow.engine.parameters import format_command
from greenroom.workflow.talk import bill as talking
from greenroom.workflow.values import Tool


class Streams(enum.Enum):
    NEVER = "never"
    ASKED = "asked"
    """When the Accept header asks for it."""
    ALWAYS = "always"


class Work(enum.Enum):
    """Who does the work of a route."""

    INITIALIZE = "initialize"
    TOOL = "tool"
    GET_TURN = "get_turn"
    CANCEL_PENDING = "cancel_pending"
    CONVERSATIONS = "conversations"
    CONVERSATION = "conversation"


@attrs.frozen
class Route:
    method: str
    path: str
    name: str
    summary: str
    description: str
    work: Work = Work.TOOL
    tool: Tool | None = None
    """Whose name, schemas and presence on the bill decide; the bill's own schemas count, not this one's."""
    properties: Mapping[str, Any] | None = None
    """The arguments, where they are not the tool's own."""
    more: Mapping[str, Any] = attrs.field(factory=dict)
    """Arguments beside those."""
    required: tuple[str, ...] | None = None
    answer: Mapping[str, Any] | None = None
    """The schema of the answer, where it is not the tool's own."""
    also: Mapping[int, str] = attrs.field(factory=dict)
    """Other good statuses, and what they mean."""
    arguments: Callable[[dict[str, Any]], dict[str, Any]] = dict
    """From the checked arguments to the tool's own."""
    streams: Streams = Streams.NEVER
    session: bool = True
    example: Mapping[str, Any] = attrs.field(factory=dict)
    answer_example: Mapping[str, Any] | None = None


def _action(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"command": format_command(arguments["command_name"], arguments.get("parameters", {}))}


_ID = {"type": "string", "minLength": 1, "maxLength": 256}
_SEARCH = {"type": "string", "minLength": 1, "maxLength": 200}
_USER = {"type": "string", "description": "Whose session it is, if /initialize was given a user_id."}
_STREAM_FORMAT = {
    "enum": ["ndjson", "sse"],
    "default": "ndjson",
    "description": "How this session's streams come where the Accept header leaves it open.",
}

_OUTPUT_EXAMPLE = {
    "response_text": "The basket is empty.",
    "success": True,
    "status": "completed",
    "workflow_name": "shop",
    "context": "shop",
    "command_name": "show_basket",
    "command_parameters": {},
    "command_responses": [{"response": "The basket is empty.", "success": True}],
}

_INVOKE_AGENT = Route(
    "POST",
    "/invoke_agent",
    "invoke_agent",
    "Hand over a whole task",
    "The workflow's agent plans and runs as many commands as it takes. The answer comes when it is done, with its "
    "traces. If its status is awaiting_user, the next call answers the question in response_text.",
    tool=talking.INVOKE_AGENT,
    example={"user_query": "What can I do here?"},
    answer_example=_OUTPUT_EXAMPLE,
)

ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/initialize",
        "initialize",
        "Open a session",
        "Open a session of the workflow. Every other call names it by its session_id. With an Accept header that asks "
        "for a stream, the workflow's startup runs at once and its traces are streamed; otherwise it runs with the "
        "first call.",
        work=Work.INITIALIZE,
        tool=INITIALIZE,
        more={"stream_format": _STREAM_FORMAT},
        streams=Streams.ASKED,
        session=False,
        example={"user_id": "alice", "stream_format": "ndjson"},
        answer_example={
            "session_id": "the-handle-of-the-session",
            "workflow_info": {"workflow_name": "shop", "description": "A small shop."},
        },
    ),
    _INVOKE_AGENT,
    attrs.evolve(
        _INVOKE_AGENT,
        path="/invoke_agent_stream",
        name="invoke_agent_stream",
        summary="Hand over a whole task and watch",
        description="The same as /invoke_agent, with every trace as it happens and the output at the end.",
        streams=Streams.ALWAYS,
    ),
    Route(
        "POST",
        "/invoke_assistant",
        "invoke_assistant",
        "Do one thing, said in words",
        "One instruction in plain words, carried out with one command and without planning.",
        tool=talking.INVOKE_ASSISTANT,
        streams=Streams.ASKED,
        example={"user_query": "what can I do here"},
        answer_example=_OUTPUT_EXAMPLE,
    ),
    Route(
        "POST",
        "/execute_command",
        "execute_command",
        "Run an exact command",
        "One command as it is written: its name, then each parameter as <name>value</name>. /commands lists them.",
        tool=talking.EXECUTE_COMMAND,
        streams=Streams.ASKED,
        example={"command": "what_can_i_do"},
        answer_example=_OUTPUT_EXAMPLE,
    ),
    Route(
        "POST",
        "/perform_action",
        "perform_action",
        "Run an action",
        "The same as /execute_command for those who have the parameters as JSON.",
        tool=talking.EXECUTE_COMMAND,
        properties={
            "command_name": {"type": "string", "pattern": r"^[^\s(<]+$", "maxLength": 256},
            "parameters": {
                "type": "object",
                "propertyNames": {"pattern": r"^[^\s<>/]+$"},
                "description": "By name; a null is a parameter that is not given.",
                "default": {},
            },
        },
        required=("command_name",),
        arguments=_action,
        streams=Streams.ASKED,
        example={"command_name": "what_can_i_do", "parameters": {}},
        answer_example=_OUTPUT_EXAMPLE,
    ),
    Route(
        "POST",
        "/new_conversation",
        "new_conversation",
        "Begin a new conversation",
        "The current conversation gets a topic and a summary and is put away.",
        tool=conversing.NEW_CONVERSATION,
        answer_example={"status": "ok", "new_conversation_id": "9f2c4b1a77d0e653"},
    ),
    Route(
        "POST",
        "/activate_conversation",
        "activate_conversation",
        "Go on with an earlier conversation",
        "The session goes on with one of its user's conversations.",
        tool=conversing.ACTIVATE_CONVERSATION,
        example={"conversation_id": "9f2c4b1a77d0e653"},
        answer_example={"status": "ok"},
    ),
    Route(
        "POST",
        "/post_feedback",
        "post_feedback",
        "Rate an answer",
        "A score, words or both, for the latest turn of the conversation or for the one that turn_id names.",
        tool=conversing.POST_FEEDBACK,
        example={"binary_or_numeric_score": True, "nl_feedback": "Just what I needed."},
        answer_example={"status": "ok", "turn_id": "turn-5f0c6d7e8f901234"},
    ),
    Route(
        "POST",
        "/cancel_pending",
        "cancel_pending",
        "Stop what is running",
        "Stop the session's turn, running or waiting for an answer; nothing of it is kept and the session is free. "
        "With a turn_id that turn and no other.",
        work=Work.CANCEL_PENDING,
        properties={"turn_id": _ID, "user_id": _USER},
        required=(),
        answer=shapes.CANCELLED,
        answer_example={"status": "idle", "turn_id": None},
    ),
    Route(
        "GET",
        "/conversations",
        "list_conversations",
        "List the user's conversations",
        "The newest first. Pass next_cursor as cursor for more. With q, those that have it in topic or summary.",
        work=Work.CONVERSATIONS,
        tool=conversing.LIST_CONVERSATIONS,
        more={"q": _SEARCH},
        answer=shapes.CONVERSATIONS,
        answer_example={"conversations": []},
    ),
    Route(
        "GET",
        "/conversations/{conversation_id}",
        "get_conversation",
        "Read a conversation",
        "The newest turns of a conversation, in the order in which they were. Pass next_cursor as cursor for those "
        "before. With q, the turns that have it in their words.",
        work=Work.CONVERSATION,
        properties={
            "conversation_id": _ID,
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            "cursor": {"type": "string", "description": "The next_cursor of an earlier answer."},
            "q": _SEARCH,
            "user_id": _USER,
        },
        required=("conversation_id",),
        answer=shapes.CONVERSATION_WITH_TURNS,
        example={"conversation_id": "9f2c4b1a77d0e653"},
    ),
    Route(
        "GET",
        "/commands",
        "get_commands",
        "What can be done here",
        "The commands of the session's current context, with their parameters and an example each.",
        tool=talking.GET_COMMANDS,
        answer_example={"display_text": "Commands available: …", "commands": []},
    ),
    Route(
        "GET",
        "/workflow_info",
        "get_workflow_info",
        "What this workflow is for",
        "Its name and purpose, and the contexts that it has.",
        tool=talking.GET_WORKFLOW_INFO,
        answer_example={
            "workflow_name": "shop",
            "description": "A small shop.",
            "purpose": "A small shop.",
            "available_contexts": ["shop"],
        },
    ),
    Route(
        "GET",
        "/turns/{turn_id}",
        "get_turn",
        "Fetch the result of a turn",
        'A turn that took longer than its call waited (on_timeout "defer"). A turn that failed is answered with its '
        "error.",
        work=Work.GET_TURN,
        tool=GET_TURN,
        more={"user_id": _USER},
        answer=shapes.TURN,
        also={202: "The turn is still running, or waits for an answer"},
        example={"turn_id": "turn-5f0c6d7e8f901234"},
        answer_example={"turn_id": "turn-5f0c6d7e8f901234", "status": "running"},
    ),
)

"""The tools and prompts of a workflow folder, described for a model that has never seen one. Pure values."""

from __future__ import annotations

from typing import Any

from greenroom.workflow.talk.outputs import OUTPUT_SCHEMA
from greenroom.workflow.values import Prompt, PromptArgument, Tool, ToolHints

_NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

_PARAMETER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "type": {"type": "string"},
        "required": {"type": "boolean"},
        "description": {"type": "string"},
    },
    "required": ["name", "type", "required", "description"],
}

_COMMAND: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "parameters": {"type": "array", "items": _PARAMETER},
        "examples": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "description", "parameters", "examples"],
}


def _query_schema(description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"user_query": {"type": "string", "minLength": 1, "description": description}},
        "required": ["user_query"],
        "additionalProperties": False,
    }


GET_WORKFLOW_INFO = Tool(
    name="get_workflow_info",
    title="What this workflow is for",
    description="What this workflow is for and which contexts it has. Call it once to decide whether the workflow can "
    "help; then call get_commands to see what can be done.",
    input_schema=_NOTHING,
    output_schema={
        "type": "object",
        "properties": {
            "workflow_name": {"type": "string"},
            "description": {"type": "string"},
            "purpose": {"type": "string"},
            "available_contexts": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["workflow_name", "description", "purpose", "available_contexts"],
    },
    hints=ToolHints(read_only=True, idempotent=True, open_world=False),
)

GET_COMMANDS = Tool(
    name="get_commands",
    title="What can be done here",
    description="The commands that can be run in the session's current context, with their parameters and an example "
    "of each. Call it before execute_command, and again after a command has changed the context.",
    input_schema=_NOTHING,
    output_schema={
        "type": "object",
        "properties": {"display_text": {"type": "string"}, "commands": {"type": "array", "items": _COMMAND}},
        "required": ["display_text", "commands"],
    },
    hints=ToolHints(read_only=True, idempotent=True, open_world=False),
)

EXECUTE_COMMAND = Tool(
    name="execute_command",
    title="Run an exact command",
    description="Run one command exactly as written: its name, then each parameter as <name>value</name>, as "
    "get_commands shows it. No model is involved. In a value write &lt; &gt; &amp; where < > & could be taken for a "
    "tag. A command that does not fit is refused with the correct form, and nothing is run.",
    input_schema={
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "minLength": 1,
                "description": "For example: add_two_numbers <first_num>2</first_num> <second_num>3</second_num>",
            }
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    output_schema=OUTPUT_SCHEMA,
    hints=ToolHints(read_only=False, destructive=True, open_world=True),
)

INVOKE_ASSISTANT = Tool(
    name="invoke_assistant",
    title="Do one thing, said in words",
    description="Carry out one instruction in plain words with one command, without planning. If it is not clear which "
    "command is meant, the likeliest ones come back as candidates; if a parameter is missing, it is named. For several "
    "steps at once use invoke_agent; if you know the command, execute_command is exact.",
    input_schema=_query_schema("One instruction, for example: add 2 and 3"),
    output_schema=OUTPUT_SCHEMA,
    hints=ToolHints(read_only=False, destructive=True, open_world=True),
)

INVOKE_AGENT = Tool(
    name="invoke_agent",
    title="Hand over a whole task",
    description="Hand a task in plain words to the workflow's own agent, which plans and runs as many commands as it "
    "takes. If the status is awaiting_user, put the question in response_text to the user and call invoke_agent again "
    "with the answer.",
    input_schema=_query_schema("The task, or the answer to the agent's question"),
    output_schema=OUTPUT_SCHEMA,
    hints=ToolHints(read_only=False, destructive=True, open_world=True),
)

TOOLS = (GET_WORKFLOW_INFO, GET_COMMANDS, EXECUTE_COMMAND, INVOKE_ASSISTANT, INVOKE_AGENT)

FORMAT_COMMAND = Prompt(
    name="format-command",
    title="Format a command",
    description="Turn an intent into a single command that execute_command takes.",
    arguments=(
        PromptArgument("intent", "What the user wants, in words"),
        PromptArgument("metadata", "The commands to choose from, as get_commands returned them"),
    ),
)

CLARIFY_PARAMS = Prompt(
    name="clarify-params",
    title="Ask for what is missing",
    description="Put together one short question for the parameters that a command still needs.",
    arguments=(
        PromptArgument("error_message", "What execute_command answered"),
        PromptArgument("metadata", "The command, as get_commands returned it"),
    ),
)

PROMPTS = (FORMAT_COMMAND, CLARIFY_PARAMS)


def format_command_text(intent: str, metadata: str) -> str:
    return (
        "Write exactly one command for this workflow and nothing else: no explanation, no quotes, no code fence.\n"
        "A command is its name, then each parameter as <name>value</name>. Leave optional parameters out unless the "
        "intent gives a value for them. Write &lt; &gt; &amp; inside a value where < > & could be taken for a tag.\n\n"
        f"What is wanted: {intent}\n\nThe commands:\n{metadata}"
    )


def clarify_params_text(error_message: str, metadata: str) -> str:
    return (
        "A command could not be run because something is missing or wrong. Ask the user one short, friendly question "
        "that names everything that is still needed, with an example where that helps. Do not ask for what is already "
        f"known.\n\nWhat was wrong: {error_message}\n\nThe command:\n{metadata}"
    )

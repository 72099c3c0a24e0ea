"""What a client is told about the commands it can run: as structure, and as text that a model can act on.

The text shows the tags themselves, what may stand in them, and one example of the whole command; a model that has
read it needs no other page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from greenroom.workflow.engine.definition import CommandDef, ParameterDef, WorkflowDefinition, shown
from greenroom.workflow.engine.parameters import format_command
from greenroom.workflow.engine.plain import jsonable
from greenroom.workflow.engine.whereabouts import Found, SessionWorkflow

_TOLD_ALREADY = frozenset({"what_can_i_do", "what_is_current_context"})
"""What these would answer is in the listing itself; a small model runs them all the same."""
_PLACEHOLDERS = {
    "string": "text",
    "integer": "1",
    "number": "1.5",
    "boolean": "true",
    "object": "{}",
    "date": "2030-01-31",
    "datetime": "2030-01-31T18:30:00",
    "time": "18:30:00",
    "decimal": "1.5",
    "uuid": "00000000-0000-0000-0000-000000000000",
}


def workflow_info(definition: WorkflowDefinition) -> dict[str, Any]:
    return {
        "workflow_name": definition.name,
        "description": definition.description,
        "purpose": definition.purpose,
        "available_contexts": list(definition.context_names),
    }


def commands_metadata(workflow: SessionWorkflow) -> list[dict[str, Any]]:
    """The commands that can be run where the session stands now, hidden ones left out."""
    return [_command_metadata(found) for found in _visible(workflow)]


def display_text(workflow: SessionWorkflow) -> str:
    """The same for reading."""
    visible = _visible(workflow)
    lines = [f"The context is '{workflow.current_command_context_displayname}'. These commands can be run in it:"]
    for found in visible:
        lines += ["", *_command_lines(found)]
    lines += [
        "",
        "Write a command as its name, then each parameter as <name>value</name>. In a value, write &lt; &gt; &amp; "
        "where < > & could be taken for a tag.",
    ]
    return "\n".join(lines)


def listing(workflow: SessionWorkflow) -> str:
    """The same for an agent, which gives parameters by name and never writes the explicit form."""
    lines = [f"The context is '{workflow.current_command_context_displayname}'. These commands can be run in it:"]
    for found in _visible(workflow):
        command = found.command
        if command.is_core and command.name in _TOLD_ALREADY:
            continue
        lines.append(f"- {command.qualified_name}: {' '.join(description_of(command).split())}")
        lines += [f"  - {parameter.name} {_parameter_in_words(parameter)}" for parameter in command.parameters]
    return "\n".join(lines)


def correct_form(command: CommandDef) -> str:
    """The command with a word for what belongs into each tag."""
    tags = [f"<{one.name}>{_what_belongs_in(one)}</{one.name}>" for one in command.parameters]
    return " ".join([command.qualified_name, *tags])


def example_of(command: CommandDef) -> str:
    """The command with values that could be real."""
    return format_command(command.qualified_name, {one.name: _example_value(one) for one in command.parameters})


def description_of(command: CommandDef) -> str:
    """The author's words; failing that, the name and an utterance, which say more than nothing."""
    if command.description:
        return command.description
    spoken = command.name.replace("_", " ").capitalize()
    return f'{spoken}, as in: "{command.plain_utterances[0]}"' if command.plain_utterances else spoken


def _visible(workflow: SessionWorkflow) -> list[Found]:
    return [found for found in workflow.reachable() if not found.command.hidden]


def _command_metadata(found: Found) -> dict[str, Any]:
    command = found.command
    return {
        "name": command.qualified_name,
        "description": description_of(command),
        "context": shown(found.context_name),
        "parameters": [_parameter_metadata(parameter) for parameter in command.parameters],
        "examples": [example_of(command)],
    }


def _parameter_metadata(parameter: ParameterDef) -> dict[str, Any]:
    facts: Mapping[str, Any] = {
        "default": parameter.default if parameter.has_default else None,
        "examples": [jsonable(example) for example in parameter.examples] or None,
        "enum": list(parameter.enum) or None,
        "pattern": parameter.pattern,
        "available_from": list(parameter.available_from) or None,
    }
    return {
        "name": parameter.name,
        "type": parameter.type,
        "required": parameter.required,
        "description": parameter.description,
        **{key: value for key, value in facts.items() if value is not None},
    }


def _command_lines(found: Found) -> list[str]:
    command = found.command
    summary = " ".join(description_of(command).split())
    lines = [f"{command.qualified_name}: {summary}"]
    lines += [f"  <{parameter.name}> {_parameter_in_words(parameter)}" for parameter in command.parameters]
    if command.parameters:
        lines.append(f"  Example: {example_of(command)}")
    return lines


def _parameter_in_words(parameter: ParameterDef) -> str:
    facts = [parameter.type, "required" if parameter.required else "optional"]
    if parameter.enum:
        facts.append("one of: " + ", ".join(str(choice) for choice in parameter.enum))
    if parameter.pattern:
        facts.append(f"matching {parameter.pattern}")
    if parameter.has_default:
        facts.append(f"default {parameter.default}")
    if parameter.available_from:
        facts.append(f"told by {' or '.join(parameter.available_from)}")
    about = f": {parameter.description}" if parameter.description else ""
    return f"({'; '.join(facts)}){about}"


def _what_belongs_in(parameter: ParameterDef) -> str:
    word = "|".join(str(choice) for choice in parameter.enum) or parameter.type
    return word if parameter.required else f"{word}, optional"


def _example_value(parameter: ParameterDef) -> Any:
    if parameter.examples:
        return jsonable(parameter.examples[0])
    if parameter.enum:
        return [parameter.enum[0]] if parameter.is_list else parameter.enum[0]
    if parameter.has_default:
        return parameter.default
    single = _PLACEHOLDERS.get(parameter.type.removeprefix("list of ").split(" or ")[0], parameter.name)
    return f"{single}, {single}" if parameter.is_list else single

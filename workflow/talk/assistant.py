"""The assistant: one instruction, one command, no planning.

Exact names first, then names that are nearly right, then meaning. What the rules cannot read out of the sentence one
call to a language model may fill in, if there is one; what is still missing then is asked for by name. When it is
not clear what is meant, the candidates are offered, and what the workflow cannot do is said to be so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from greenroom.workflow.engine.definition import CommandDef, ParameterDef
from greenroom.workflow.engine.errors import InvalidParameters
from greenroom.workflow.engine.metadata import correct_form, description_of
from greenroom.workflow.engine.parameters import command_name
from greenroom.workflow.llm.errors import LlmError
from greenroom.workflow.llm.port import JsonSchema, LanguageModel, Message, Purpose, Request
from greenroom.workflow.questions import Ability, Elicit, Elicited
from greenroom.workflow.routing.extract import extract
from greenroom.workflow.routing.parameters import Kind, Parameter
from greenroom.workflow.routing.reading import words_of
from greenroom.workflow.routing.values import Candidates, Command, How, OutOfScope, Routed
from greenroom.workflow.talk.outputs import Said, of_command
from greenroom.workflow.talk.performing import Performer
from greenroom.workflow.talk.routers import Routers

_KINDS: Mapping[str, Kind] = {"integer": "int", "number": "float", "boolean": "bool"}


class Assistant:
    def __init__(self, routers: Routers, llm: LanguageModel | None) -> None:
        self._routers = routers
        self._llm = llm

    async def say(self, sentence: str, performer: Performer) -> Said:
        sentence = sentence.strip().removeprefix("/").strip()
        if _is_explicit(sentence):
            return of_command(await performer.run_text(sentence))
        commands = _by_name(performer)
        self._refuse_names_of_elsewhere(sentence, performer, commands)
        known = [Command(name, description_of(each), each.plain_utterances) for name, each in commands.items()]
        match await self._routers.route(sentence, known, performer.turn):
            case Routed(command=command) as routed:
                return await self._run(commands[command.name], routed, sentence, performer)
            case Candidates(candidates):
                return _offer(candidates, commands)
            case OutOfScope():
                return _out_of_scope(performer)

    def _refuse_names_of_elsewhere(
        self, sentence: str, performer: Performer, commands: Mapping[str, CommandDef]
    ) -> None:
        """A name that lives in another context is never guessed here: `find` raises, and says where it lives."""
        first = command_name(sentence.replace("(", " "))
        if not isinstance(first, str):
            return
        here = {each.name.casefold() for each in commands.values()}
        everywhere = {each.name.casefold() for each in performer.instance.definition.commands if "_" in each.name}
        if "/" in first or (first.casefold() in everywhere and first.casefold() not in here):
            performer.instance.find(first)

    # --- parameters ----------------------------------------------------------------------------------------

    async def _run(self, command: CommandDef, routed: Routed, sentence: str, performer: Performer) -> Said:
        found = extract(
            routed.rest,
            [_described(each) for each in command.parameters],
            command.qualified_name,
            vocabulary=_vocabulary(command) if routed.how is How.MEANING else None,
        )
        values: dict[str, Any] = {name: _plain(value) for name, value in found.values.items()}
        missing = list(found.missing)
        if missing:
            values = {**await self._from_model(command, sentence), **values}
            missing = [name for name in missing if name not in values]
        if missing:
            values |= await _from_user(command, missing, performer)
            missing = [name for name in missing if name not in values]
        if missing:
            return _ask_for(command, missing)
        try:
            return of_command(await performer.run(command.qualified_name, values, said=sentence))
        except InvalidParameters as refused:
            return Said(refused.message, success=False, status="failed")

    async def _from_model(self, command: CommandDef, sentence: str) -> dict[str, Any]:
        """What a language model reads out of the sentence, if there is one; nothing if it fails."""
        if self._llm is None or not self._llm.configured(Purpose.PARAM_EXTRACTION):
            return {}
        lines = [f"- {each.name} ({each.type}): {each.description}" for each in command.parameters]
        asked = "\n".join(
            [
                f"The user said: {sentence}",
                f"The command {command.qualified_name} ({description_of(command)}) takes:",
                *lines,
                "Give the value of each parameter that the sentence states, and null for the others. Invent nothing.",
            ]
        )
        request = Request(
            Purpose.PARAM_EXTRACTION,
            [Message("user", asked)],
            json_schema=JsonSchema("parameters", _values_schema(command)),
            temperature=0,
        )
        try:
            parsed = (await self._llm.complete(request)).parsed
        except LlmError:
            return {}
        return {name: value for name, value in parsed.items() if value is not None}


async def _from_user(command: CommandDef, missing: list[str], performer: Performer) -> dict[str, Any]:
    """Ask the human, where the client can pass a question on."""
    if Ability.ELICIT not in performer.turn.caller.abilities:
        return {}
    wanted = {each.name: _form_field(each) for each in command.parameters if each.name in missing}
    form = {"type": "object", "properties": wanted, "required": list(wanted)}
    question = f"{command.qualified_name} needs {_listed(missing)}."
    answer = (await performer.turn.ask({"parameters": Elicit(question, form)}))["parameters"]
    accepted = isinstance(answer, Elicited) and answer.action == "accept"
    return dict(answer.content) if accepted and isinstance(answer, Elicited) else {}


def _is_explicit(sentence: str) -> bool:
    """Whether this is a command in its explicit form: a name, then a tag."""
    name = command_name(sentence)
    if not isinstance(name, str):
        return False
    rest = sentence[len(name) :].lstrip()
    return rest.startswith("<") and "</" in rest


def _by_name(performer: Performer) -> dict[str, CommandDef]:
    reachable = performer.instance.workflow.reachable()
    return {found.command.qualified_name: found.command for found in reachable if not found.command.hidden}


def _described(parameter: ParameterDef) -> Parameter:
    kind: Kind = _KINDS.get(parameter.type, "str")
    if parameter.is_list:
        kind = "list"
    elif parameter.enum:
        kind = "enum"
    return Parameter(
        name=parameter.name,
        type=kind,
        required=parameter.required,
        pattern=parameter.pattern,
        examples=tuple(str(example) for example in parameter.examples),
        choices=tuple(str(choice) for choice in parameter.enum),
        description=parameter.description,
    )


def _vocabulary(command: CommandDef) -> str:
    """The words that belong to the command itself, and are therefore no values of its parameters.

    An utterance may hold a value too; those that the parameters give as examples do not belong to the command.
    """
    parameters = [word for each in command.parameters for word in (each.name, each.description)]
    values = {
        word for each in command.parameters for value in (*each.examples, *each.enum) for word in words_of(str(value))
    }
    words = words_of(" ".join([command.name, description_of(command), *command.plain_utterances, *parameters]))
    return " ".join(word for word in words if word not in values)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _values_schema(command: CommandDef) -> dict[str, Any]:
    properties = {
        each.name: {"type": ["string", "null"], "description": each.description} for each in command.parameters
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _form_field(parameter: ParameterDef) -> dict[str, Any]:
    field: dict[str, Any] = {"title": parameter.name.replace("_", " "), "description": parameter.description}
    if parameter.enum:
        return {**field, "type": "string", "enum": [str(choice) for choice in parameter.enum]}
    kind = parameter.type if parameter.type in ("integer", "number", "boolean") else "string"
    return {**field, "type": kind}


# --- what to say when nothing was run ----------------------------------------------------------------------


def _ask_for(command: CommandDef, missing: list[str]) -> Said:
    text = (
        f"To run {command.qualified_name} I also need {_listed(missing)}. Say it again with "
        f"{'that' if len(missing) == 1 else 'those'}, or run it exactly: {correct_form(command)}"
    )
    return Said(text, success=False, status="awaiting_user", missing=missing)


def _offer(candidates: Any, commands: Mapping[str, CommandDef]) -> Said:
    offered = [{"name": each.name, "description": description_of(commands[each.name])} for each in candidates]
    lines = "\n".join(f"- {each['name']}: {' '.join(each['description'].split())}" for each in offered)
    text = f"It is not clear which command is meant. These come closest:\n{lines}\nSay which one, and what it needs."
    return Said(text, success=False, status="awaiting_user", candidates=offered)


def _out_of_scope(performer: Performer) -> Said:
    place = performer.instance.workflow.current_command_context_displayname
    text = f"Nothing in the context '{place}' does that. Ask what_can_i_do, or call get_commands, to see what there is."
    return Said(text, success=False, status="failed")


def _listed(names: list[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"

"""The agent: a task in words, as many commands as it takes.

With a language model, a loop: the model is shown what it can do where the session stands, and answers with one of
three things, to run a command, to answer, or to ask the user. A task of one command takes two calls. Without one, the
task is taken apart into its clauses, and each goes through the assistant.

LLM calls are awaited in the turn's own task: they hold no lock and no worker thread, and are cancelled with the turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from greenroom.config.errors import GreenroomError
from greenroom.workflow.engine.definition import CommandDef
from greenroom.workflow.engine.metadata import listing
from greenroom.workflow.llm.port import JsonSchema, LanguageModel, Message, Purpose, Request
from greenroom.workflow.questions import Ability, Elicit, Elicited
from greenroom.workflow.talk.assistant import Assistant
from greenroom.workflow.talk.outputs import Said
from greenroom.workflow.talk.performing import Performer

MAX_STEPS = 12
"""Calls to the model in one turn. A model that runs in circles is stopped here."""

MAX_STEP_TOKENS = 1024
"""Of one answer of the model. A small model may otherwise write for ever."""

MAX_RESPONSE = 4000
"""Characters of a command's response that the model is shown."""

_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"enum": ["run_command", "answer", "ask_user"]},
        "command": {"type": "string", "description": "run_command: the name of the command; else empty"},
        "parameters": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
                "required": ["name", "value"],
                "additionalProperties": False,
            },
        },
        "message": {"type": "string", "description": "answer, ask_user: what to tell or ask the user; else empty"},
    },
    "required": ["action", "command", "parameters", "message"],
    "additionalProperties": False,
}

_RULES = """You carry out tasks with the commands of the workflow "{name}". {purpose}
Reply with one JSON object at a time:
- to run a command: {{"action": "run_command", "command": "<name>", "parameters": [{{"name": "...", "value": "..."}}], \
"message": ""}}
- when the whole task is done: {{"action": "answer", "command": "", "parameters": [], "message": "<what you tell the \
user>"}}
- only when something is missing that no command can tell: {{"action": "ask_user", "command": "", "parameters": [], \
"message": "<one question>"}}
Run one command at a time, in the order of the task, and look at its result before the next. Use only the commands \
below and only values that the user or a result gave you. Do not run a command again that has succeeded. If a command \
is refused, mend it as the refusal says."""

_CLAUSES = re.compile(r"[;\n]|\.\s|,?\s+(?:and\s+)?(?:then|afterwards|after that)\s+", re.IGNORECASE)


@attrs.define
class Memory:
    """What the agent of one session remembers: what was said, and the task that waits for the user."""

    said: list[Message] = attrs.field(factory=list)
    pending: list[Message] | None = None

    @classmethod
    def of(cls, exchanges: Sequence[Exchange]) -> Memory:
        memory = cls()
        for exchange in exchanges:
            memory.remember(exchange.asked, exchange.answered)
        return memory

    def remember(self, query: str, answer: str) -> None:
        self.said += [Message("user", query), Message("assistant", answer)]
        while len(self.said) > 2 and sum(len(str(each.content)) for each in self.said) > MAX_REMEMBERED:
            del self.said[:2]


class Exchange(Protocol):
    """Something that was said, and what was answered."""

    @property
    def asked(self) -> str: ...

    @property
    def answered(self) -> str: ...


MAX_REMEMBERED = 16_000
"""Characters of earlier turns that the model is shown, about four thousand tokens; the oldest go first."""


class Agent:
    def __init__(self, llm: LanguageModel | None, assistant: Assistant) -> None:
        self._llm = llm
        self._assistant = assistant

    async def say(self, query: str, performer: Performer, memory: Memory) -> Said:
        query = query.strip().removeprefix("/").strip()
        if self._llm is None or not self._llm.configured(Purpose.AGENT):
            return await self._clause_by_clause(query, performer)
        messages = memory.pending or [_instructions(performer), *memory.said]
        memory.pending = None
        messages = [*messages, Message("user", query)]
        said, messages = await self._loop(self._llm, messages, performer)
        if said.status == "awaiting_user":
            memory.pending = messages
        else:
            memory.remember(query, said.text)
        return said

    # --- with a language model -----------------------------------------------------------------------------

    async def _loop(
        self, llm: LanguageModel, messages: list[Message], performer: Performer
    ) -> tuple[Said, list[Message]]:
        shown = performer.instance.workflow.current_command_context_displayname
        for _ in range(MAX_STEPS):
            request = Request(
                Purpose.AGENT,
                messages,
                json_schema=JsonSchema("step", _STEP),
                temperature=0,
                max_tokens=MAX_STEP_TOKENS,
            )
            completion = await llm.complete(request)
            step = completion.parsed
            messages = [*messages, Message("assistant", completion.text)]
            match step["action"]:
                case "answer":
                    return _answered(step["message"], performer), messages
                case "ask_user":
                    reply = await _ask(step["message"], performer)
                    if reply is None:
                        return _question(step["message"], performer), messages
                case _:
                    reply = await _run(step, performer)
                    now = performer.instance.workflow.current_command_context_displayname
                    if now != shown:
                        shown = now
                        reply = f"{reply}\n\n{listing(performer.instance.workflow)}"
            messages = [*messages, Message("user", reply)]
        text = f"I stopped after {MAX_STEPS} steps without reaching the end of the task. {_so_far(performer)}"
        return Said(text, success=False, status="failed", last=_last(performer)), messages

    # --- without one ---------------------------------------------------------------------------------------

    async def _clause_by_clause(self, query: str, performer: Performer) -> Said:
        clauses = [clause.strip(" .,") for clause in _CLAUSES.split(query) if clause and clause.strip(" .,")]
        lines = ["No language model is configured, so each part of the task was taken by its meaning alone."]
        said = Said("", success=False, status="failed")
        for number, clause in enumerate(clauses or [query], 1):
            said = await self._assistant.say(clause, performer)
            lines.append(said.text)
            if not said.success:
                left = len(clauses) - number
                lines += [f"The {left} part(s) after this were not tried."] if left > 0 else []
                break
        return attrs.evolve(said, text="\n".join(lines))


def _instructions(performer: Performer) -> Message:
    definition = performer.instance.definition
    rules = _RULES.format(name=definition.name, purpose=definition.purpose)
    return Message("system", f"{rules}\n\n{listing(performer.instance.workflow)}")


async def _run(step: Mapping[str, Any], performer: Performer) -> str:
    """Run what the model asked for, and tell it how that went."""
    try:
        command = performer.instance.find(step["command"]).command
        result = await performer.run(step["command"], _parameters(step, command))
    except GreenroomError as error:
        return f"Refused: {error.message[:MAX_RESPONSE]}"
    state = "succeeded" if result.success else "failed"
    return f"{result.command_name} {state}: {result.text[:MAX_RESPONSE]}"


def _parameters(step: Mapping[str, Any], command: CommandDef) -> dict[str, Any]:
    """By name. A list is what was given under its name, each value whole: a sentence is one item, not its words."""
    given: dict[str, list[str]] = {}
    for each in step["parameters"]:
        given.setdefault(each["name"], []).append(each["value"])
    lists = {each.name for each in command.parameters if each.is_list}
    return {
        name: values if name in lists and not values[0].startswith("[") else values[-1]
        for name, values in given.items()
    }


async def _ask(question: str, performer: Performer) -> str | None:
    """The user's answer, if the client can pass the question on now; None if the turn has to end for it."""
    if Ability.ELICIT not in performer.turn.caller.abilities:
        return None
    form = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    answer = (await performer.turn.ask({"answer": Elicit(question, form)}))["answer"]
    if isinstance(answer, Elicited) and answer.action == "accept":
        return f"The user answers: {answer.content['answer']}"
    return "The user did not want to answer. Go on without it, or end with what you have."


def _answered(text: str, performer: Performer) -> Said:
    failed = bool(performer.results) and not performer.results[-1].success
    return Said(text, success=not failed, status="failed" if failed else "completed", last=_last(performer))


def _question(text: str, performer: Performer) -> Said:
    return Said(text, success=True, status="awaiting_user", last=_last(performer))


def _last(performer: Performer) -> Any:
    return performer.results[-1] if performer.results else None


def _so_far(performer: Performer) -> str:
    done = [result.command_name for result in performer.results if result.success]
    return f"Done so far: {', '.join(done)}." if done else "Nothing was done."

"""The tools that put questions to the client. A round of questions is one `ask`; two rounds are two of them."""

from __future__ import annotations

import json
from typing import TypeVar

from greenroom.workflow.conformance.entries import ToolTable, entry, required_string, said, table
from greenroom.workflow.conformance.forms import CONFIRM, CONTACT, DEFAULTS, ENUMS, form
from greenroom.workflow.events import Progress
from greenroom.workflow.port import Turn
from greenroom.workflow.questions import Ability, Elicit, Elicited, ListRoots, Question, Roots, Sample, Sampled
from greenroom.workflow.values import Json, ToolResult

A = TypeVar("A", Elicited, Sampled, Roots)

NAME = Elicit("What is your name?", form("name"))


async def ask_one(turn: Turn, key: str, question: Question, expected: type[A]) -> A:
    """Ask one question. The port promises an answer of the question's kind; this is where we rely on it."""
    answer = (await turn.ask({key: question}))[key]
    if not isinstance(answer, expected):
        raise TypeError(f"asked {key} for {expected.__name__}, got {type(answer).__name__}")
    return answer


def outcome(answer: Elicited) -> str:
    return f"action={answer.action}, content={json.dumps(dict(answer.content))}"


def field(answer: Elicited, name: str) -> str:
    return str(answer.content.get(name, f"<{answer.action}>"))


async def sampling(arguments: Json, turn: Turn) -> ToolResult:
    if Ability.SAMPLE not in turn.caller.abilities:
        return said("This client did not declare sampling.")
    answer = await ask_one(turn, "sample", Sample(arguments["prompt"], max_tokens=100), Sampled)
    return said(f"LLM response: {answer.text}")


async def elicit_if_able(turn: Turn, question: Elicit, saying: str) -> ToolResult:
    if Ability.ELICIT not in turn.caller.abilities:
        return said("This client did not declare elicitation.")
    return said(f"{saying}: {outcome(await ask_one(turn, 'elicit', question, Elicited))}")


async def elicitation(arguments: Json, turn: Turn) -> ToolResult:
    return await elicit_if_able(turn, Elicit(arguments["message"], CONTACT), "User response")


async def elicitation_defaults(arguments: Json, turn: Turn) -> ToolResult:
    question = Elicit("Please look over the values that are filled in", DEFAULTS)
    return await elicit_if_able(turn, question, "Elicitation completed")


async def elicitation_enums(arguments: Json, turn: Turn) -> ToolResult:
    question = Elicit("Please choose from each of the lists", ENUMS)
    return await elicit_if_able(turn, question, "Elicitation completed")


async def streaming_elicitation(arguments: Json, turn: Turn) -> ToolResult:
    turn.report(Progress(50, 100, "Half way: there is a question"))
    answer = await ask_one(turn, "user_name", NAME, Elicited)
    turn.report(Progress(100, 100, "The question is answered"))
    return said(f"Streaming complete: {outcome(answer)}")


async def one_elicitation(arguments: Json, turn: Turn) -> ToolResult:
    answer = await ask_one(turn, "user_name", NAME, Elicited)
    return said(f"Hello, {field(answer, 'name')}!")


async def one_sampling(arguments: Json, turn: Turn) -> ToolResult:
    question = Sample("What is the capital of France?", max_tokens=100)
    answer = await ask_one(turn, "capital_question", question, Sampled)
    return said(f"The model said: {answer.text}")


async def one_list_of_roots(arguments: Json, turn: Turn) -> ToolResult:
    answer = await ask_one(turn, "client_roots", ListRoots(), Roots)
    return said(f"The client's roots: {', '.join(root.uri for root in answer.roots) or 'none'}")


async def confirmation(arguments: Json, turn: Turn) -> ToolResult:
    """That this coroutine goes on after the question is the proof that the request's state came back whole."""
    answer = await ask_one(turn, "confirm", Elicit("Please confirm", CONFIRM), Elicited)
    return said(f"state-ok: {outcome(answer)}")


async def several_questions(arguments: Json, turn: Turn) -> ToolResult:
    answers = await turn.ask(
        {
            "user_name": NAME,
            "greeting": Sample("Generate a greeting", max_tokens=50),
            "client_roots": ListRoots(),
        }
    )
    return said(f"All inputs received: {', '.join(sorted(answers))}")


async def two_rounds(arguments: Json, turn: Turn) -> ToolResult:
    name = await ask_one(turn, "step1", Elicit("Step 1: What is your name?", form("name")), Elicited)
    color = await ask_one(turn, "step2", Elicit("Step 2: What is your favorite color?", form("color")), Elicited)
    return said(f"{field(name, 'name')} likes {field(color, 'color')}")


async def what_the_client_can(arguments: Json, turn: Turn) -> ToolResult:
    wanted: dict[str, Question] = {
        "elicit_input": NAME,
        "sample_input": Sample("Say hello", max_tokens=50),
        "roots_input": ListRoots(),
    }
    possible = {key: question for key, question in wanted.items() if question.needs in turn.caller.abilities}
    if not possible:
        return said("This client declared nothing that could be asked of it.")
    answers = await turn.ask(possible)
    return said(f"capabilities-ok: {', '.join(sorted(answers))}")


ROUNDS = "test_input_required_result"

ASKING_TOOLS: ToolTable = table(
    entry("test_sampling", "Asks the client's model.", sampling, required_string("prompt", "What to ask the model.")),
    entry(
        "test_elicitation", "Asks the user.", elicitation, required_string("message", "The question to show the user.")
    ),
    entry("test_elicitation_sep1034_defaults", "Asks the user, with defaults for every field.", elicitation_defaults),
    entry("test_elicitation_sep1330_enums", "Asks the user to choose from lists of every form.", elicitation_enums),
    entry("test_streaming_elicitation", "Reports progress, then asks the user.", streaming_elicitation),
    entry(f"{ROUNDS}_elicitation", "Asks the user for a name.", one_elicitation),
    entry(f"{ROUNDS}_sampling", "Asks the client's model for a capital.", one_sampling),
    entry(f"{ROUNDS}_list_roots", "Asks for the client's roots.", one_list_of_roots),
    entry(f"{ROUNDS}_request_state", "Asks once and remembers that it did.", confirmation),
    entry(f"{ROUNDS}_tampered_state", "Asks once; a forged answer must not get through.", confirmation),
    entry(f"{ROUNDS}_multiple_inputs", "Asks three things at once.", several_questions),
    entry(f"{ROUNDS}_multi_round", "Asks twice, one after the other.", two_rounds),
    entry(f"{ROUNDS}_capabilities", "Asks only what the client can answer.", what_the_client_can),
)

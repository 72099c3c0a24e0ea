"""The prompts, and the suggestions for their arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import attrs

from greenroom.config.errors import InvalidPromptArguments, UnknownName
from greenroom.workflow.conformance.asking import ask_one, field
from greenroom.workflow.conformance.forms import form
from greenroom.workflow.conformance.samples import IMAGE
from greenroom.workflow.port import Turn
from greenroom.workflow.questions import Elicit, Elicited
from greenroom.workflow.values import (
    Content,
    Embedded,
    GetPrompt,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptResult,
    Text,
    TextContents,
)

PromptHandler = Callable[[Mapping[str, str], Turn], Awaitable[PromptResult]]


@attrs.frozen
class PromptEntry:
    prompt: Prompt
    handler: PromptHandler


def from_user(*contents: Content) -> PromptResult:
    return PromptResult([PromptMessage("user", content) for content in contents])


async def simple(arguments: Mapping[str, str], turn: Turn) -> PromptResult:
    return from_user(Text("This is a simple prompt for testing."))


async def with_arguments(arguments: Mapping[str, str], turn: Turn) -> PromptResult:
    return from_user(Text(f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"))


async def with_embedded_resource(arguments: Mapping[str, str], turn: Turn) -> PromptResult:
    resource = TextContents(arguments["resourceUri"], "Embedded resource content for testing.")
    return from_user(Embedded(resource), Text("Please process the embedded resource above."))


async def with_image(arguments: Mapping[str, str], turn: Turn) -> PromptResult:
    return from_user(IMAGE, Text("Please analyze the image above."))


async def with_question(arguments: Mapping[str, str], turn: Turn) -> PromptResult:
    question = Elicit("What context should the prompt use?", form("context"))
    answer = await ask_one(turn, "user_context", question, Elicited)
    return from_user(Text(f"Use the following context: {field(answer, 'context')}"))


def entry(name: str, description: str, handler: PromptHandler, *arguments: tuple[str, str]) -> PromptEntry:
    return PromptEntry(Prompt(name, description, tuple(PromptArgument(*one) for one in arguments)), handler)


PROMPTS: Mapping[str, PromptEntry] = {
    one.prompt.name: one
    for one in (
        entry("test_simple_prompt", "One message, no arguments.", simple),
        entry(
            "test_prompt_with_arguments",
            "One message that repeats its arguments.",
            with_arguments,
            ("arg1", "First test argument"),
            ("arg2", "Second test argument"),
        ),
        entry(
            "test_prompt_with_embedded_resource",
            "A message with an embedded resource.",
            with_embedded_resource,
            ("resourceUri", "URI of the resource to embed"),
        ),
        entry("test_prompt_with_image", "A message with an image.", with_image),
        entry("test_input_required_result_prompt", "Asks the user before it answers.", with_question),
    )
}

SUGGESTIONS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("test_prompt_with_arguments", "arg1"): ("paris", "park", "party", "test", "testValue1"),
    ("test_prompt_with_arguments", "arg2"): ("test", "testValue2", "world"),
}


async def get_prompt(order: GetPrompt, turn: Turn) -> PromptResult:
    found = PROMPTS.get(order.name)
    if found is None:
        raise UnknownName("prompt", order.name)
    missing = [one.name for one in found.prompt.arguments if one.required and one.name not in order.arguments]
    if missing:
        raise InvalidPromptArguments(f"The prompt {order.name} needs the arguments: {', '.join(missing)}")
    return await found.handler(order.arguments, turn)


def suggest(name: str, argument: str, value: str) -> list[str]:
    """What an argument that begins with `value` may become, whatever the case of the letters."""
    if name not in PROMPTS:
        raise UnknownName("prompt", name)
    return [one for one in SUGGESTIONS.get((name, argument), ()) if one.lower().startswith(value.lower())]

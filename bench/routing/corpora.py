"""Sentences whose command is known, from three sources that nobody wrote for this product.

- CLINC150 (Larson et al. 2019, CC BY 3.0): 150 intents and sentences outside all of them. Its `data_full.json` is in
  no package, so the file has to be brought along.
- Home Assistant's intents (Apache-2.0): 42 commands of a house, with descriptions and example sentences.
- FastWorkflow's example workflows (Apache-2.0): the commands' own utterances.
"""

from __future__ import annotations

import ast
import json
import random
import re
from pathlib import Path
from typing import Any

import attrs

from bench.routing.wheels import open_wheel
from greenroom.workflow.routing import Command

HOME_ASSISTANT = "home-assistant-intents==2026.10.27"
FASTWORKFLOW = "fastworkflow==2.30.1"

Labelled = list[tuple[str, str]]
"""Sentences, each with the name of its command."""


@attrs.frozen
class Corpus:
    name: str
    commands: tuple[Command, ...]
    tests: Labelled
    strangers: list[str]
    """Sentences that mean none of the commands."""


@attrs.frozen
class Clinc:
    train: dict[str, list[str]]
    validation: dict[str, list[str]]
    test: dict[str, list[str]]
    strangers_validation: list[str]
    strangers_test: list[str]


def read_clinc(path: Path) -> Clinc:
    stored: dict[str, list[list[str]]] = json.loads(path.read_text("utf-8"))

    def by_intent(part: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for sentence, intent in stored[part]:
            found.setdefault(intent, []).append(sentence)
        return {intent: found[intent] for intent in sorted(found)}

    def sentences(part: str) -> list[str]:
        return [sentence for sentence, _ in stored[part]]

    return Clinc(by_intent("train"), by_intent("val"), by_intent("test"), sentences("oos_val"), sentences("oos_test"))


def clinc(path: Path, examples: int, seed: int, named: bool = False) -> Corpus:
    """All 150 intents with some examples each, and with their names or without."""
    data, chance = read_clinc(path), random.Random(seed)
    # A name of dots has no words in it, and so is no example.
    names = {intent: intent if named else "." * at for at, intent in enumerate(data.train, start=1)}
    commands = tuple(
        Command(names[intent], utterances=tuple(chance.sample(sentences, examples)))
        for intent, sentences in data.train.items()
    )
    tests = [(sentence, names[intent]) for intent, part in data.test.items() for sentence in part]
    title = f"CLINC150, {examples} examples" + (" and the name" if named else "")
    return Corpus(title, commands, tests, data.strangers_test)


def home_assistant(strangers: list[str]) -> Corpus:
    """Descriptions alone: a command that came without utterances."""
    with open_wheel(HOME_ASSISTANT) as wheel:
        intents: dict[str, Any] = json.loads(wheel.read("home_assistant_intents/intents.json"))
    commands, tests = [], []
    for name, intent in intents.items():
        commands.append(Command(name.removeprefix("Hass"), intent["description"]))
        for combination in intent.get("slot_combinations", {}).values():
            example = combination.get("example", [])
            tests += [(text, commands[-1].name) for text in ([example] if isinstance(example, str) else example)]
    return Corpus("Home Assistant, descriptions only", tuple(commands), tests, strangers)


def fastworkflow(strangers: list[str], seed: int | None = None) -> Corpus:
    """All commands of all examples at once. With a seed, half of the utterances are examples and the rest the test;
    without, all are the test, and the commands have their descriptions alone."""
    commands, tests = [], []
    for name, description, utterances in _fastworkflow_commands():
        half = 0
        if seed is not None:
            random.Random(f"{seed} {name}").shuffle(utterances)
            half = len(utterances) // 2
        commands.append(Command(name, description, tuple(utterances[:half])))
        tests += [(sentence, name) for sentence in utterances[half:]]
    title = "descriptions only" if seed is None else "half of the utterances"
    return Corpus(f"FastWorkflow, {title}", tuple(commands), tests, strangers)


def home_assistant_sentences() -> list[str]:
    return [sentence for sentence, _ in home_assistant([]).tests]


def fastworkflow_sentences() -> list[str]:
    return [sentence for _, _, utterances in _fastworkflow_commands() for sentence in utterances]


def _fastworkflow_commands() -> list[tuple[str, str, list[str]]]:
    """Read from the source text, as data: no code of the package runs."""
    found: dict[str, tuple[str, str, list[str]]] = {}
    with open_wheel(FASTWORKFLOW) as wheel:
        for path in sorted(wheel.namelist()):
            if re.search(r"/examples/.*/_commands/.*\.py$", path) and not Path(path).name.startswith("_"):
                entry = _signature(Path(path).stem, wheel.read(path).decode())
                if entry is not None:
                    found.setdefault(entry[0], entry)
    return list(found.values())


def _signature(name: str, source: str) -> tuple[str, str, list[str]] | None:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and node.name == "Signature":
            for statement in node.body:
                if (
                    isinstance(statement, ast.Assign | ast.AnnAssign)
                    and "plain_utterances" in ast.unparse(statement)[:16]
                ):
                    texts = [item.value for item in ast.walk(statement) if isinstance(item, ast.Constant)]
                    utterances = dict.fromkeys(text for text in texts if isinstance(text, str))
                    return name, ast.get_docstring(node) or "", list(utterances)
    return None

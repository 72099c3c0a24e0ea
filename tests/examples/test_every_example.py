"""What holds for each of the example workflows."""

from __future__ import annotations

from collections import Counter

import pytest

from greenroom.workflow.engine import CommandDef, WorkflowDefinition, build_input, example_of, load_workflow
from greenroom.workflow.engine.parameters import CommandText, parse_command
from tests.examples.sessions import FOLDER, NAMES


@pytest.fixture(params=NAMES)
def definition(request: pytest.FixtureRequest) -> WorkflowDefinition:
    return load_workflow(FOLDER / request.param)


def shown(definition: WorkflowDefinition) -> list[CommandDef]:
    return [command for command in definition.commands if not command.hidden and not command.is_core]


def test_it_loads_without_problems_and_says_what_it_is_for(definition: WorkflowDefinition) -> None:
    assert definition.purpose.endswith(".")
    assert definition.purpose != definition.description
    assert shown(definition)


def test_every_folder_of_examples_is_tested() -> None:
    assert sorted(each.name for each in FOLDER.iterdir() if (each / "_commands").is_dir()) == sorted(NAMES)


def test_a_start_up_action_names_a_hidden_command(definition: WorkflowDefinition) -> None:
    hidden = {command.name for command in definition.commands if command.hidden and not command.is_core}
    startup = definition.startup_action
    assert hidden == ({startup.command_name} if startup else set())


def test_every_command_is_described_in_one_sentence(definition: WorkflowDefinition) -> None:
    for command in shown(definition):
        assert command.description.endswith("."), command.qualified_name
        assert command.description.count(". ") == 0, command.qualified_name
        assert "\n" not in command.description, command.qualified_name


def test_every_parameter_is_described_and_has_an_example(definition: WorkflowDefinition) -> None:
    for command in shown(definition):
        for parameter in command.parameters:
            assert parameter.description, f"{command.qualified_name} {parameter.name}"
            assert parameter.examples, f"{command.qualified_name} {parameter.name}"


def test_every_command_says_where_a_value_comes_from_if_it_is_looked_up(definition: WorkflowDefinition) -> None:
    names = {command.name for command in shown(definition)}
    for command in shown(definition):
        for parameter in command.parameters:
            assert set(parameter.available_from) <= names
            assert bool(parameter.available_from) == parameter.db_lookup


def test_the_example_that_discovery_shows_is_accepted_as_it_stands(definition: WorkflowDefinition) -> None:
    for command in shown(definition):
        parsed = parse_command(example_of(command), command.parameters)
        assert isinstance(parsed, CommandText), parsed
        _, errors = build_input(command, parsed.parameters)
        assert not errors, example_of(command)


def test_there_are_enough_utterances_to_route_by(definition: WorkflowDefinition) -> None:
    for command in shown(definition):
        assert 4 <= len(command.plain_utterances) <= 8, command.qualified_name


def test_no_utterance_means_two_commands(definition: WorkflowDefinition) -> None:
    spoken = Counter(
        " ".join(utterance.casefold().split())
        for command in shown(definition)
        for utterance in command.plain_utterances
    )
    assert [utterance for utterance, count in spoken.items() if count > 1] == []


def test_utterances_are_generated_from_the_name_and_the_plain_ones(definition: WorkflowDefinition) -> None:
    for command in shown(definition):
        assert command.signature is not None
        generated = command.signature.generate_utterances(None, command.qualified_name)  # type: ignore[attr-defined]
        assert generated == [command.name.replace("_", " "), *command.plain_utterances]

"""The same workflow in both formats gives the same answers: there is one engine, and it does not know which it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from greenroom.config.errors import GreenroomError
from greenroom.config.settings import Settings
from greenroom.workflow.catalog import find_workflow, load_definition
from greenroom.workflow.engine import Instance, commands_metadata, display_text, workflow_info
from tests.plain import twins
from tests.transport.playhouse import open_house

Twins = tuple[Instance, Instance]


@pytest.fixture
def both(tmp_path: Path) -> Twins:
    definitions = (load_definition(str(make(tmp_path))) for make in (twins.as_folder, twins.as_python))
    folder, python = map(Instance, definitions)
    return folder, python


def heard(instance: Instance, command: str) -> Any:
    """Everything that a client hears of a command, but for the time it took."""
    try:
        said = instance.execute_text(command).as_json()
    except GreenroomError as error:
        return error.code, error.name, error.message, error.data
    return {key: value for key, value in said.items() if key not in ("started_at", "duration_ms")}


WALK = [
    "list_rooms",
    "go_up",
    "what_is_current_context",
    "add_guest <guest>Ada</guest>",
    "enter_room",
    "enter_room <name>green</name>",
    "enter_room <nam>blue</nam>",
    "list_guests",
    "add_guest <guest>Ada</guest> <nights>3</nights> <since>2026-01-02</since> <wishes>tea, towels</wishes>",
    "add_guest <guest>Bob</guest>",
    "add_guest <guest>Cyd</guest> <nights>0</nights>",
    "add_guest <guest>Cyd</guest> <nights>many</nights>",
    "add_guest <guest>Cyd</guest> <since>soon</since>",
    "add_guest <guest>Cyd",
    "add_guest <nobody>Cyd</nobody>",
    'add_guest <guest>D</guest> <wishes>["a b"]</wishes>',
    "Room/list_guests",
    "LIST_GUESTS",
    "lst_guests",
    "list_rooms",
    "what_can_i_do",
    "what_is_current_context",
    "enter_room <name>red</name>",
    "list_guests",
    "you_misunderstood",
    "go_up",
    "go_up",
    "enter_room <name>blue</name>",
    "list_guests",
    "reset_context",
    "what_is_current_context",
]


def test_every_command_of_a_walk_is_answered_alike(both: Twins) -> None:
    folder, python = both
    answers = [(command, heard(folder, command), heard(python, command)) for command in WALK]
    assert [one for one in answers if one[1] != one[2]] == []
    assert sum(isinstance(one, dict) for _, one, _ in answers) > 15
    assert sum(isinstance(one, tuple) for _, one, _ in answers) > 6


def test_clients_are_told_the_same_about_the_commands(both: Twins) -> None:
    folder, python = both
    assert workflow_info(folder.definition) == workflow_info(python.definition)
    for command in ("what_can_i_do", "enter_room <name>red</name>"):
        for each in both:
            each.execute_text(command)
        assert commands_metadata(folder.workflow) == commands_metadata(python.workflow)
        assert display_text(folder.workflow) == display_text(python.workflow)
    assert folder.definition.contexts["Room"].description == python.definition.contexts["Room"].description


SENTENCES = [
    "which rooms do you have?",
    "please walk into the room with the name red",
    "enter_room blue",
    "who stays in this room?",
    "check in the guest Ada",
    "listguests",
    "what is the weather like in Paris",
    "add_guest <guest>Bob</guest> <nights>2</nights>",
    "read me the names in the book",
]


async def test_the_assistant_understands_the_same_sentences(tmp_path: Path) -> None:
    answers: list[list[Any]] = []
    for make in (twins.as_folder, twins.as_python):
        path = make(tmp_path)
        settings = Settings(workflow=str(path), speeddict_foldername=tmp_path / path.parent.name)
        async with open_house(find_workflow(settings)) as house:
            handle = await house.open_session()
            said = [
                await house.call("invoke_assistant", {"user_query": sentence, "session_id": handle})
                for sentence in SENTENCES
            ]
        answers.append([_without_times(each) for each in said])
    folder, python = answers
    assert folder == python
    run = [each["structuredContent"].get("command_name") for each in python]
    assert {"list_rooms", "enter_room", "Room/list_guests", "Room/add_guest"} <= set(run)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        times = ("started_at", "duration_ms", "timestamp", "turn_id", "conversation_id")
        return {key: _without_times(each) for key, each in value.items() if key not in times}
    return [_without_times(each) for each in value] if isinstance(value, list) else value

"""One session: finding commands, refusing them, and running them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from greenroom.workflow.engine import (
    Instance,
    InvalidParameters,
    MalformedCommand,
    UnknownCommand,
    load_workflow,
)
from tests.engine.folders import command, instance, write

ROOMS = {
    "application/rooms.py": """
        class House:
            name = "house"
        class Room:
            def __init__(self, house, name):
                self.house, self.name = house, name
            def __len__(self):
                return 0
        class Cellar(Room):
            pass
    """,
    "_commands/enter.py": command(
        "workflow.root_command_context = House(); return 'in the house'",
        imports="from ..application.rooms import House",
    ),
    "_commands/shout.py": command("return 'heard by ' + str(workflow.command_context_for_response_generation)"),
    "_commands/House/_House.py": "class Context:\n    @classmethod\n    def get_parent(cls, house): return None\n",
    "_commands/House/go_into.py": command(
        "workflow.current_command_context = Room(workflow.command_context_for_response_generation, p.room)\n"
        "return workflow.current_command_context_name",
        fields="room: str",
        imports="from ...application.rooms import Room",
    ),
    "_commands/House/look.py": command("return workflow.command_context_for_response_generation.name"),
    "_commands/Room/_Room.py": """
        class Context:
            @classmethod
            def get_parent(cls, room): return room.house
            @classmethod
            def get_displayname(cls, room): return f"Room {room.name}"
    """,
    "_commands/Room/dust.py": command("return 'dusted ' + workflow.command_context_for_response_generation.name"),
    "_commands/Cellar/drink.py": command(),
    "_commands/context_inheritance_model.json": '{"Cellar": {"base": ["Room"]}}',
}


@pytest.fixture
def house(tmp_path: Path) -> Instance:
    one = instance(tmp_path / "house", ROOMS)
    one.execute("enter")
    return one


@pytest.fixture
def hall(house: Instance) -> Instance:
    house.execute("go_into", {"room": "hall"})
    return house


def test_a_result_is_a_plain_value(tmp_path: Path) -> None:
    files = {"_commands/add.py": command("return str(p.a + p.b)", fields="a: int\nb: float = 0.5")}
    one = Instance(load_workflow(write(tmp_path / "sums", files)), wall_clock=lambda: 1_700_000_000.25)
    result = one.execute("add", {"a": "1"})
    assert result.duration_ms >= 0
    assert {**result.as_json(), "duration_ms": 0} == {
        "success": True,
        "workflow_name": "sums",
        "context": "global",
        "command_name": "add",
        "command_parameters": {"a": 1, "b": 0.5},
        "command_responses": [
            {"response": "1.5", "success": True, "artifacts": {}, "next_actions": [], "recommendations": []}
        ],
        "started_at": 1_700_000_000_250,
        "duration_ms": 0,
    }


@pytest.mark.parametrize("name", ["dust", "DUST", "Room/dust", "room/Dust"])
def test_a_name_may_be_simple_or_qualified_in_any_case(hall: Instance, name: str) -> None:
    assert hall.execute(name).text == "dusted hall"


def test_a_command_of_an_enclosing_context_runs_there(hall: Instance) -> None:
    result = hall.execute("look")
    assert (result.command_name, result.text, result.context) == ("House/look", "house", "Room hall")


def test_a_global_command_can_be_reached_from_everywhere(hall: Instance) -> None:
    for name in ("shout", "global/shout", "*/shout"):
        assert hall.execute(name).text == "heard by None"


def test_a_name_that_lives_elsewhere_is_not_guessed(hall: Instance) -> None:
    with pytest.raises(UnknownCommand) as refusal:
        hall.execute("drink")
    assert refusal.value.code == 422
    assert refusal.value.message == (
        "There is no command 'drink' in the context 'Room hall'. It belongs to 'Cellar': go there first, then run it."
    )
    assert refusal.value.data["lives_in"] == ["Cellar"]


def test_an_unknown_command_is_the_callers_mistake_and_offers_candidates(hall: Instance) -> None:
    with pytest.raises(UnknownCommand) as refusal:
        hall.execute("dustt")
    assert (refusal.value.code, refusal.value.name) == (422, "unknown_command")
    assert refusal.value.data["candidates"] == ["Room/dust"]
    with pytest.raises(UnknownCommand, match="The command what_can_i_do lists what there is"):
        hall.execute("xyzzy")


def test_a_very_long_name_is_refused_briefly_and_at_once(hall: Instance) -> None:
    with pytest.raises(UnknownCommand) as refusal:
        hall.execute("x" * 1_000_000)
    assert len(refusal.value.message) < 300


def test_a_context_that_nobody_defined_still_has_the_core_commands(house: Instance) -> None:
    house.workflow.current_command_context = 5
    assert house.execute("what_is_current_context").text == "Current context is 'int'"
    assert house.execute("shout").text == "heard by None"
    assert house.execute("go_up").text == "Context is now 'global'"


def test_parents_that_go_round_in_a_circle_end_the_search(tmp_path: Path) -> None:
    one = instance(
        tmp_path / "circle",
        {
            "_commands/Thing/_Thing.py": "class Context:\n    @staticmethod\n    def get_parent(o): return o.other\n",
            "_commands/Thing/touch.py": command(),
        },
    )
    thing = type("Thing", (), {})
    left, right = thing(), thing()
    left.other, right.other = right, left
    one.workflow.current_command_context = left
    with pytest.raises(UnknownCommand):
        one.execute("nothing")


def test_the_core_commands_move_through_the_contexts(hall: Instance) -> None:
    assert hall.execute("what_is_current_context").text == "Current context is 'Room'"
    assert hall.execute("what_is_current_context").context == "Room hall"
    up = hall.execute("go_up")
    assert (up.text, up.context) == ("Context is now 'House'", "House")
    assert hall.execute("go_up").text == "Already at the top-level 'global' context."
    hall.execute("go_into", {"room": "attic"})
    assert hall.execute("IntentDetection/reset_context").text == "Context is now 'House'"
    assert hall.execute("abort").text == "command aborted"


def test_the_global_context_is_called_global(tmp_path: Path) -> None:
    one = instance(tmp_path / "plain", {"_commands/a.py": command()})
    assert one.execute("what_is_current_context").text == "Current context is 'global'"
    assert one.execute("reset_context").text == "Context is now 'global'"
    assert one.workflow.current_command_context_name == "*"


def test_a_misunderstanding_lists_what_there_is(hall: Instance) -> None:
    result = hall.execute("you_misunderstood")
    assert result.responses[0].artifacts["valid_command_names"] == sorted(
        {"dust", "go_into", "look", "enter", "shout"}
        | {"what_can_i_do", "what_is_current_context", "go_up", "reset_context"}
    )


def test_a_refused_command_leaves_no_state_behind(hall: Instance) -> None:
    for text in ("go_into", "go_into <room>x", "nothing", "dust <a>b</a>"):
        with pytest.raises((InvalidParameters, MalformedCommand, UnknownCommand)):
            hall.execute_text(text)
        assert hall.execute_text("dust").text == "dusted hall"
    assert hall.execute_text("go_up").text == "Context is now 'House'"


def test_a_malformed_text_is_refused_with_the_correct_form_of_that_command(house: Instance) -> None:
    with pytest.raises(MalformedCommand) as refusal:
        house.execute_text("go_into <room>hall")
    assert (refusal.value.code, refusal.value.name) == (422, "malformed_command")
    assert refusal.value.data == {
        "errors": [{"problem": "The tag <room> is never closed with </room>", "position": 8}],
        "correct_form": "House/go_into <room>string</room>",
    }


def test_wrong_types_are_the_callers_mistake(tmp_path: Path) -> None:
    one = instance(tmp_path / "sums", {"_commands/add.py": command(fields="a: int\nb: int")})
    with pytest.raises(InvalidParameters) as refusal:
        one.execute_text("add <a>one</a>")
    assert (refusal.value.code, refusal.value.name) == (422, "invalid_parameters")
    assert [error["parameter"] for error in refusal.value.data["errors"]] == ["a", "b"]
    assert refusal.value.data["correct_form"] == "add <a>integer</a> <b>integer</b>"


def test_a_value_is_looked_up_before_it_is_validated_and_both_may_change_it(tmp_path: Path) -> None:
    signature = """
        @staticmethod
        def db_lookup(workflow, field, value):
            workflow.context.setdefault("order", []).append((field, value))
            if value == "?":
                return (False, None, ["Bob", "Bert"])
            return (value == "bob", "Bob", [])

        @staticmethod
        def validate_extracted_parameters(workflow, command, parameters):
            workflow.context["order"].append((command, parameters.who))
            parameters.who += "!"
            return (parameters.who != "Eve!", "not her")
    """
    fields = "who: str = Field(json_schema_extra={'db_lookup': True})\nage: Optional[int] = None"
    one = instance(
        tmp_path / "people", {"_commands/greet.py": command("return p.who", fields=fields, signature=signature)}
    )
    assert one.execute("greet", {"who": "bob"}).text == "Bob!"
    assert one.workflow.context["order"] == [("who", "bob"), ("greet", "Bob")]
    assert one.execute("greet", {"who": "unknown"}).parameters == {"who": "unknown!", "age": None}
    with pytest.raises(InvalidParameters, match="not her"):
        one.execute("greet", {"who": "Eve"})
    with pytest.raises(InvalidParameters) as refusal:
        one.execute("greet", {"who": "?"})
    assert refusal.value.data["errors"][0]["suggestions"] == ["Bob", "Bert"]


def test_the_command_is_told_the_text_that_called_it(tmp_path: Path) -> None:
    one = instance(tmp_path / "echo", {"_commands/echo.py": command("return command", fields="x: int = 1")})
    assert one.execute_text("echo <x>2</x>").text == "echo <x>2</x>"
    assert one.execute("echo").text == ""


def test_what_a_session_starts_with_is_its_own(tmp_path: Path) -> None:
    folder = write(tmp_path / "bag", {"_commands/put.py": command("workflow.context['bag'].append(1); return 'ok'")})
    definition = load_workflow(folder)
    start: dict[str, Any] = {"bag": []}
    one, other = Instance(definition, context=start), Instance(definition, context=start)
    one.execute("put")
    assert (one.workflow.context, other.workflow.context, start) == ({"bag": [1]}, {"bag": []}, {"bag": []})
    assert one.workflow.id != other.workflow.id
    assert one.workflow.folderpath == str(folder.resolve())


def test_a_command_may_report_progress_whether_or_not_anybody_listens(tmp_path: Path) -> None:
    one = instance(tmp_path / "far", {"_commands/go.py": command("workflow.report_progress(1, total=2); return 'ok'")})
    assert one.execute("go").text == "ok"
    told: list[tuple[float, float | None, str | None]] = []
    one.workflow.report_progress = lambda progress, total=None, message=None: told.append((progress, total, message))
    one.execute("go")
    assert told == [(1, 2, None)]


def test_a_hidden_command_runs_when_it_is_named(tmp_path: Path) -> None:
    hidden = (
        "from fastworkflow import CommandOutput, CommandResponse\n"
        "class ResponseGenerator:\n    def __call__(self, workflow, command):\n"
        "        return CommandOutput(command_response=CommandResponse(response='started'))\n"
    )
    one = instance(tmp_path / "quiet", {"_commands/startup.py": hidden})
    assert one.execute("startup").text == "started"


def test_the_engine_needs_neither_a_web_server_nor_a_model(tmp_path: Path) -> None:
    folder = write(tmp_path / "small", {"_commands/a.py": command()})
    code = (
        "import sys; from greenroom.workflow.engine import Instance, load_workflow; "
        f"print(Instance(load_workflow({str(folder)!r})).execute('a').text, "
        "sorted({'mcp', 'quart', 'hypercorn', 'trio', 'litellm', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "done []\n"

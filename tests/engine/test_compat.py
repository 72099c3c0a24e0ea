"""What `import fastworkflow` gives to a command file."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from greenroom.workflow import compat
from greenroom.workflow.compat import environment
from greenroom.workflow.compat.finder import MODULES
from greenroom.workflow.compat.matching import DatabaseValidator, distance, find_best_matches
from greenroom.workflow.compat.types import EPHEMERAL, CommandOutput, CommandResponse, UnsupportedStateVersion
from greenroom.workflow.engine import Instance, load_workflow
from tests.engine.folders import command, instance, write


@pytest.fixture(autouse=True)
def stand_in() -> None:
    compat.install()


def test_every_name_that_command_files_use_can_be_imported() -> None:
    for module, names in MODULES.items():
        found = importlib.import_module(module)
        assert all(getattr(found, name) is value for name, value in names.items())
    assert set(MODULES["fastworkflow"]) >= {
        "Action",
        "CommandOutput",
        "CommandResponse",
        "EPHEMERAL",
        "Recommendation",
        "RoutingRegistry",
        "TurnStatus",
        "UnsupportedStateVersion",
        "Workflow",
        "get_env_var",
    }


def test_it_is_installed_once_and_answers_for_no_other_name() -> None:
    compat.install()
    assert len([finder for finder in sys.meta_path if type(finder).__name__ == "StandIn"]) == 1
    for name in ("fastworkflow.chat_session", "fastworkflow.examples", "fastworkflows"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)


def test_it_steps_aside_for_the_real_package(tmp_path: Path) -> None:
    write(
        tmp_path / "site",
        {
            "fastworkflow/__init__.py": """
                class CommandResponse:
                    def __init__(self, response): self.response = "the real one: " + response
                class CommandOutput:
                    def __init__(self, command_responses): self.command_responses = command_responses
            """
        },
    )
    folder = write(tmp_path / "plain", {"_commands/a.py": command()})
    code = (
        "from greenroom.workflow.engine import Instance, load_workflow; "
        f"print(Instance(load_workflow({str(folder)!r})).execute('a').text); "
        "import sys; print([f for f in sys.meta_path if type(f).__name__ == 'StandIn'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path / "site")},
        check=False,
    )
    assert (done.stdout, done.stderr) == ("the real one: done\n[]\n", "")


def test_a_command_output_takes_one_response_or_several() -> None:
    one, two = CommandResponse(response="a"), CommandResponse(response="b", success=False)
    given = {"command_response": one}
    assert CommandOutput.model_validate(given).command_responses == [one]
    assert given == {"command_response": one}
    output = CommandOutput(command_responses=[one, two], context="x")
    assert (output.command_response, output.success) == (one, False)
    with pytest.raises(ValidationError):
        CommandOutput()  # type: ignore[call-arg]


def test_a_command_may_subclass_what_it_returns(tmp_path: Path) -> None:
    own = "class Mine(CommandOutput):\n    colour: str = 'red'\n"
    body = "return Mine(command_response=CommandResponse(response='x'))"
    assert instance(tmp_path / "sub", {"_commands/a.py": command(body, imports=own)}).execute("a").text == "x"


def test_variables_come_from_the_files_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_given", {})
    environment.init({"COLOUR": "red", "EMPTY": None, "COUNT": "3", "ON": "True"})
    monkeypatch.setenv("COLOUR", "blue")
    monkeypatch.setenv("SHAPE", "round")
    assert environment.get_env_var("COLOUR") == "red"
    assert environment.get_env_var("SHAPE") == "round"
    assert environment.get_env_var("SHAPE", default="square") == "square"
    assert environment.get_env_var("COUNT", int) == 3
    assert environment.get_env_var("ON", bool) is True
    assert environment.get_env_var("NOT_FOUND") == "NOT_FOUND"
    assert environment.get_env_var("NOWHERE") is None
    with pytest.raises(ValueError, match="COLOUR is set to something that is not a float"):
        environment.get_env_var("COLOUR", float)


@pytest.mark.parametrize(
    ("value", "keys", "answer"),
    [
        ("mary jane", ["Fred", "Mary Jane"], (True, "Mary Jane", [])),
        ("mary", ["Fred Smith", "Mary Jane"], (True, "Mary Jane", [])),
        ("Fred", ["Fred Smith", "Fred Smythe"], (False, None, ["Fred Smith", "Fred Smythe"])),
        ("zzzz", ["Fred", "Bob"], (False, None, [])),
        ("x", [], (False, None, [])),
        ("", ["x"], (False, None, [])),
        ("NOT_FOUND", ["x"], (False, None, [])),
    ],
)
def test_a_value_is_matched_against_the_known_ones(
    value: str, keys: list[str], answer: tuple[bool, str | None, list[str]]
) -> None:
    assert DatabaseValidator.fuzzy_match(value, keys) == answer


def test_a_very_long_value_is_matched_at_once() -> None:
    assert DatabaseValidator.fuzzy_match("x" * 1_000_000, ["Fred", "Bob"]) == (False, None, [])


def test_the_distance_of_two_texts() -> None:
    assert (distance("", ""), distance("ab", "ab"), distance("ab", "xy")) == (0, 0, 1)
    assert distance("kitten", "sitting") == pytest.approx(3 / 7)
    assert find_best_matches("add usr", ["add_user", "drop_user"], 0.3)[0] == ["add_user"]
    assert find_best_matches("x", []) == ([], None)


def test_a_command_can_ask_about_its_own_workflow(tmp_path: Path) -> None:
    body = """
        from fastworkflow.utils.context_utils import list_context_names
        own = fastworkflow.RoutingRegistry.get_definition(workflow.folderpath)
        names = list_context_names(workflow.folderpath)
        return str((own.get_command_utterances("ask").plain_utterances, names))
    """
    one = instance(
        tmp_path / "curious",
        {
            "_commands/ask.py": command(body, signature='plain_utterances = ["who am I"]'),
            "_commands/Room/look.py": command(),
        },
    )
    assert one.execute("ask").text == "(['who am I'], ['Room'])"


def test_sentinels_and_refusals_have_the_shape_that_hooks_expect() -> None:
    assert not EPHEMERAL
    assert repr(EPHEMERAL) == "fastworkflow.EPHEMERAL"
    assert UnsupportedStateVersion(3).state_version == 3


def test_the_workflow_object_is_what_annotations_say_it_is(tmp_path: Path) -> None:
    body = "return str(isinstance(workflow, fastworkflow.Workflow))"
    folder = write(tmp_path / "typed", {"_commands/a.py": command(body)})
    assert Instance(load_workflow(folder)).execute("a").text == "True"

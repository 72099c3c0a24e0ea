"""From a folder to a definition, or to everything that is wrong with the folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import attrs
import pytest

from greenroom.config.problems import ConfigurationError
from greenroom.workflow.engine import Instance, WorkflowProblems, load_workflow
from tests.engine.folders import command, instance, write
from tests.engine.wheels import examples


def problems(folder: Path, files: dict[str, str]) -> list[str]:
    """As sentences, with paths relative to the folder."""
    with pytest.raises(WorkflowProblems) as found:
        load_workflow(write(folder, files))
    return [problem.replace(f"{folder.resolve()}/", "") for problem in found.value.problems]


def test_a_definition_describes_the_whole_folder(tmp_path: Path) -> None:
    definition = load_workflow(
        write(
            tmp_path / "shop",
            {
                "_commands/open.py": command(signature='"""Open the\n   shop."""\nplain_utterances = ["open up"]'),
                "_commands/_helper.py": "raise RuntimeError('not a command')",
                "_commands/startup.py": "class ResponseGenerator:\n    def __call__(self, workflow, command): ...",
                "_commands/Till/_Till.py": """
                    class Context:
                        '''Where the money is.'''
                        state_version = 2
                        @classmethod
                        def get_parent(cls, till): ...
                        @classmethod
                        def get_state(cls, till): ...
                """,
                "_commands/Till/count.py": command(),
                "context_hierarchy_model.json": '{"Till": {"parent": ["Shop"]}}',
                "startup_action.json": '{"command_name": "startup"}',
                "workflow_description.txt": "Sells things.\n\nMany of them.\n",
            },
        )
    )
    assert (definition.name, definition.description, definition.purpose) == (
        "shop",
        "Sells things.\n\nMany of them.",
        "Sells things.",
    )
    assert definition.context_names == ("global", "Till")
    till = definition.contexts["Till"]
    assert (till.description, till.parents, till.state_version, till.state_hooks) == (
        "Where the money is.",
        ("Shop",),
        2,
        frozenset({"get_state"}),
    )
    opening = definition.contexts["*"].commands["open"]
    assert (opening.qualified_name, opening.description, opening.plain_utterances) == (
        "open",
        "Open the\nshop.",
        ("open up",),
    )
    assert definition.contexts["*"].commands["startup"].hidden
    assert till.commands["count"].qualified_name == "Till/count"
    assert not till.commands["count"].hidden
    assert definition.startup_action is not None


def test_a_definition_cannot_be_changed(tmp_path: Path) -> None:
    definition = load_workflow(write(tmp_path / "shop", {"_commands/open.py": command()}))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        definition.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        definition.contexts["*"] = definition.contexts["*"]  # type: ignore[index]
    with pytest.raises(TypeError):
        definition.contexts["*"].commands["x"] = definition.contexts["*"].commands["open"]  # type: ignore[index]


def test_every_problem_is_told_at_once_with_file_and_line(tmp_path: Path) -> None:
    found = problems(
        tmp_path / "shop",
        {
            "_commands/a.py": "#\nimport nothing_like_this\n",
            "_commands/b.py": "def broken(:\n    pass\n",
            "_commands/c.py": "from ..application.tools import thing\n",
            "application/tools.py": "#\n#\nraise ValueError('not today')\n",
            "_commands/d.py": "x = 1\n",
            "_commands/f.py": "#\n#\nclass Signature:\n    class Input:\n        x = 1\n\n"
            "class ResponseGenerator:\n    def __call__(self, workflow, command): ...\n",
            "_commands/g.py": "import sys\nsys.exit(3)\n",
            "_commands/h.py": command(fields="x: str = Field(json_schema_extra={'db_lookup': True})"),
            "_commands/Empty/_Empty.py": "class Context: pass\n",
            "_commands/Till/_Till.py": "y = 2\n",
            "_commands/Till/count.py": command(),
            "_commands/context_inheritance_model.json": '{\n  "Till": {"base": ["Nowhere"]},\n  "X": ["Till"]\n}',
            "context_hierarchy_model.json": '{\n  "Till": {"parent": "Shop"}}',
            "startup_action.json": '{"command_name": }',
            "workflow_inheritance_model.json": '{\n  "base": ["./nowhere", "no.such.package"]\n}',
        },
    )
    assert found == [
        "workflow_inheritance_model.json:2: the base './nowhere' is no workflow that could be found",
        "workflow_inheritance_model.json:2: the base 'no.such.package' is no workflow that could be found",
        "_commands/Empty: this context has no command; add one, or remove the folder",
        "_commands/a.py:2: does not import: ModuleNotFoundError: No module named 'nothing_like_this'",
        "_commands/b.py:1: does not import: SyntaxError: invalid syntax",
        "application/tools.py:3: does not import: ValueError: not today",
        "_commands/d.py:1: there is no class ResponseGenerator with a __call__ in it",
        "_commands/f.py:4: Signature.Input must be a pydantic model, a subclass of BaseModel",
        "_commands/g.py:2: does not import: SystemExit: 3",
        "_commands/h.py:10: a field asks for db_lookup, but Signature has no function of that name",
        "_commands/Till/_Till.py:1: there is no class Context in it",
        "_commands/context_inheritance_model.json:3: the entry of 'X' must be of the form "
        '{"base": ["NameOfAContext"]}',
        'context_hierarchy_model.json:2: the entry of \'Till\' must be of the form {"parent": ["NameOfAContext"]}',
        "_commands/context_inheritance_model.json:2: the base 'Nowhere' of the context 'Till' does not exist",
        "startup_action.json:1: is not valid JSON: Expecting value",
    ]


def test_the_problems_are_a_configuration_error_that_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"The workflow in .*nowhere has a problem:\n  - .*there is no such"):
        load_workflow(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="there is no folder _commands"):
        load_workflow(tmp_path)


def test_contexts_that_inherit_in_a_circle_are_refused(tmp_path: Path) -> None:
    model = '{\n "A": {"base": ["B"]},\n "B": {"base": ["C"]},\n "C": {"base": ["A"]},\n "D": {"base": ["A"]}\n}'
    found = problems(
        tmp_path / "shop", {"_commands/x.py": command(), "_commands/context_inheritance_model.json": model}
    )
    assert found == [
        "_commands/context_inheritance_model.json:2: the context 'A' inherits from itself: A -> B -> C -> A",
        "_commands/context_inheritance_model.json:3: the context 'B' inherits from itself: B -> C -> A -> B",
        "_commands/context_inheritance_model.json:4: the context 'C' inherits from itself: C -> A -> B -> C",
    ]


def test_workflows_that_are_based_on_each_other_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "one", {"_commands/x.py": command(), "workflow_inheritance_model.json": '{"base": ["../two"]}'})
    found = problems(
        tmp_path / "two", {"_commands/x.py": command(), "workflow_inheritance_model.json": '{"base": ["../one"]}'}
    )
    assert len(found) == 1
    assert "the base '../two' is based on this workflow in turn" in found[0]


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ('{"command_name": "close"}', "there is no command 'close' in the global context"),
        ('{"command_name": "open", "parameters": {"x": "abc"}}', 'x is "abc", but it must be integer.'),
        (
            '{"command_name": "open", "parameters": {"x": 1, "y": 2}}',
            "There is no parameter 'y'; the parameters are: x.",
        ),
        ('["open"]', 'must be of the form {"command_name": "name", "parameters": {}}'),
    ],
)
def test_a_start_up_action_that_cannot_succeed_is_told_before_anybody_comes(
    tmp_path: Path, action: str, problem: str
) -> None:
    files = {"_commands/open.py": command(fields="x: int"), "startup_action.json": action}
    assert problems(tmp_path / "shop", files) == [f"startup_action.json:1: {problem}"]


def test_own_commands_win_over_inherited_ones_and_the_first_base_over_the_second(tmp_path: Path) -> None:
    definition = load_workflow(
        write(
            tmp_path / "shop",
            {
                "_commands/A/x.py": command(),
                "_commands/A/y.py": command(),
                "_commands/B/x.py": command(),
                "_commands/B/z.py": command(),
                "_commands/C/z.py": command(),
                "_commands/hello.py": command(),
                "_commands/context_inheritance_model.json": '{"C": {"base": ["A", "B"]}, "D": {"base": ["C", "*"]}}',
            },
        )
    )
    names = {name: one.qualified_name for name, one in definition.contexts["D"].commands.items()}
    assert names == {"x": "A/x", "y": "A/y", "z": "C/z", "hello": "hello"}


def test_a_base_workflow_lends_its_commands_contexts_and_inheritance(tmp_path: Path) -> None:
    write(
        tmp_path / "base",
        {
            "_commands/open.py": command('return "base opens"'),
            "_commands/close.py": command('return "base closes"'),
            "_commands/Till/_Till.py": "class Context:\n    @classmethod\n    def get_displayname(cls, o): return 'T'",
            "_commands/Till/count.py": command(),
            "_commands/context_inheritance_model.json": '{"BigTill": {"base": ["Till"]}}',
        },
    )
    middle = {
        "_commands/close.py": command('return "middle closes"'),
        "workflow_inheritance_model.json": '{"base": ["base"]}',
    }
    write(tmp_path / "middle", middle)
    top = instance(
        tmp_path / "top",
        {
            "_commands/open.py": command(
                'return "top and " + Base()._answer(workflow, command)',
                imports="from middle._commands.close import ResponseGenerator as Base",
            ),
            "workflow_inheritance_model.json": '{"base": ["../middle"]}',
        },
    )
    assert top.execute("open").text == "top and middle closes"
    assert top.execute("close").text == "middle closes"
    assert set(top.definition.contexts["BigTill"].commands) == {"count"}
    assert top.definition.contexts["Till"].context_class is not None


def test_a_workflow_that_does_not_load_leaves_nothing_behind(tmp_path: Path) -> None:
    before, path = set(sys.modules), list(sys.path)
    problems(tmp_path / "leaves_nothing", {"_commands/a.py": command(), "_commands/b.py": "1 / 0\n"})
    assert set(sys.modules) - before <= {"fastworkflow", "fastworkflow.utils"}
    assert sys.path == path
    write(tmp_path / "leaves_nothing", {"_commands/b.py": command('return "mended"')})
    assert Instance(load_workflow(tmp_path / "leaves_nothing")).execute("b").text == "mended"


def test_loading_adds_nothing_but_the_workflow_to_the_process(tmp_path: Path) -> None:
    write(tmp_path / "own_name", {"_commands/a.py": command()})
    load_workflow(write(tmp_path / "first", {"_commands/a.py": command()}))
    before, path = set(sys.modules), list(sys.path)
    load_workflow(tmp_path / "own_name")
    assert set(sys.modules) - before == {"own_name", "own_name._commands", "own_name._commands.a"}
    assert sys.path == path


SAYS_WHERE = {
    "application/where.py": "WHERE = {here!r}\n",
    "_commands/relative.py": command("return WHERE", imports="from ..application.where import WHERE"),
    "_commands/by_name.py": command("return WHERE", imports="from twins.application.where import WHERE"),
    "_commands/whole.py": command("return twins.application.where.WHERE", imports="import twins.application.where"),
    "_commands/inside.py": command("return where.WHERE", imports="from application import where"),
    "_commands/bare.py": command("return application.where.WHERE", imports="import application.where"),
    "_commands/late.py": command("from ..application.where import WHERE\nreturn WHERE"),
    "_commands/late_by_name.py": command("from twins.application.where import WHERE\nreturn WHERE"),
    "_commands/beside.py": command("return beside_twins.WHERE", imports="import beside_twins"),
}


def test_two_workflows_of_the_same_name_are_not_confused(tmp_path: Path) -> None:
    instances = {}
    for here in ("left", "right"):
        files = {name: text.replace("{here!r}", repr(here)) for name, text in SAYS_WHERE.items()}
        write(tmp_path / here, {"beside_twins.py": f"WHERE = {here!r}\n"})
        instances[here] = instance(tmp_path / here / "twins", files)
    for here, one in instances.items():
        names = [found.command.name for found in one.workflow.reachable() if not found.command.is_core]
        assert {name: one.execute(name).text for name in names} == dict.fromkeys(names, here)
        assert len(names) == 8


def test_a_workflow_whose_name_is_taken_by_a_library_does_not_replace_it(tmp_path: Path) -> None:
    one = instance(
        tmp_path / "json",
        {
            "application/data.py": "import json\nTEXT = json.dumps([1])\n",
            "_commands/a.py": command("return TEXT", imports="from ..application.data import TEXT"),
        },
    )
    assert one.execute("a").text == "[1]"
    assert sys.modules["json"] is json


def test_examples_of_two_versions_each_find_their_own_base() -> None:
    for version in ("3.6.0", "2.30.1"):
        definition = load_workflow(examples(version) / "extended_workflow_example")
        file = definition.contexts["WorkItem"].commands["add_child_workitem"].file
        assert file is not None
        assert f"fastworkflow-{version}" in str(file)
        [base] = definition.contexts["WorkItem"].commands["get_status"].signature.__bases__  # type: ignore[union-attr]
        assert f"fastworkflow-{version}" in str(sys.modules[base.__module__].__file__)


def test_an_example_beside_the_workflow_can_be_imported_in_every_way(tmp_path: Path) -> None:
    write(tmp_path / "lender", {"_commands/x.py": command(), "application/word.py": "WORD = 'lent'\n"})
    module = "fastworkflow.examples.lender.application.word"
    one = instance(
        tmp_path / "borrower",
        {
            "_commands/a.py": command("return WORD", imports=f"from {module} import WORD"),
            "_commands/b.py": command(
                f"return {module}.WORD + fastworkflow.TurnStatus.FAILED", imports=f"import {module}"
            ),
            "_commands/c.py": command("return word.WORD", imports=f"import {module} as word"),
            "workflow_inheritance_model.json": '{"base": ["fastworkflow.examples.lender"]}',
        },
    )
    assert [one.execute(name).text for name in "abcx"] == ["lent", "lentfailed", "lent", "done"]


def test_what_a_file_prints_while_it_is_loaded_goes_to_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    load_workflow(write(tmp_path / "loud", {"_commands/a.py": "print('hello')\n" + command()}))
    assert capsys.readouterr().out == ""
    assert "loud printed: hello" in caplog.text

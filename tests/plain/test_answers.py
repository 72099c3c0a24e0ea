"""What a client is told about what a function returned or raised."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from greenroom import progress
from greenroom.workflow.engine import CommandFailed
from greenroom.workflow.plain.answers import answer_of
from tests.plain.apps import artifacts, says, session


def text_of(value: Any) -> str:
    [response] = answer_of(value).command_responses
    return str(response.response)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, "Done."),
        (7, "7"),
        (2.5, "2.5"),
        (True, "yes"),
        ([], "Nothing."),
        ({}, "Nothing."),
        (["a", "b"], "- a\n- b"),
        ({"a": 1, "b": None}, "a: 1\nb: none"),
        ({"a": {"b": [1, 2]}, "c": []}, "a:\n  b:\n    - 1\n    - 2\nc: nothing"),
        ([{"a": 1, "b": 2}, {"a": 3, "b": 4}], "- a: 1, b: 2\n- a: 3, b: 4"),
        ([[1, 2], {"a": [3]}], "- - 1\n  - 2\n- a:\n    - 3"),
        ({1: "one"}, "1: one"),
        (float("inf"), "inf"),
    ],
)
def test_values_are_said_in_lines(value: Any, text: str) -> None:
    assert text_of(value) == text


def test_objects_with_fields_are_lines_and_artifacts(tmp_path: Path) -> None:
    text = """
        class Model(BaseModel):
            name: str = "a"
            day: date = date(2026, 1, 2)
        @dataclass
        class Data:
            name: str = "b"
            inner: Model = field(default_factory=Model)
        @attrs.define
        class Attrs:
            name: str = "c"
            inner: Any = attrs.Factory(Data)
        class Loose:
            pass
        class Spoken:
            def __str__(self): return "spoken"

        def model() -> Model: return Model()
        def data() -> Data: return Data()
        def attrs_() -> Attrs: return Attrs()
        def many() -> list[Attrs]: return [Attrs(inner=1)]
        def loose() -> list[Any]: return [Loose(), Spoken(), {3}]
        def number() -> int: return 3
        def steps() -> Iterator[int]:
            yield from range(3)
    """
    instance = session(tmp_path, text)
    model = {"name": "a", "day": "2026-01-02"}
    assert artifacts(instance, "model") == model
    assert artifacts(instance, "data") == {"name": "b", "inner": model}
    assert artifacts(instance, "attrs_") == {"name": "c", "inner": {"name": "b", "inner": model}}
    assert artifacts(instance, "many") == {"result": [{"name": "c", "inner": 1}]}
    assert artifacts(instance, "loose") == {"result": ["Loose", "spoken", [3]]}
    assert artifacts(instance, "number") == {"result": 3}
    assert artifacts(instance, "steps") == {"result": [0, 1, 2]}
    assert says(instance, "data") == ["name: b\ninner:\n  name: a\n  day: 2026-01-02"]


def test_a_generator_without_end_is_cut(tmp_path: Path) -> None:
    text = "import itertools\ndef forever() -> Iterator[int]:\n    yield from itertools.count()\n"
    assert len(artifacts(session(tmp_path, text), "forever")["result"]) == 1000


def test_a_command_output_has_the_last_word(tmp_path: Path) -> None:
    text = """
        from fastworkflow import CommandOutput, CommandResponse
        def whole() -> CommandOutput:
            return CommandOutput(command_responses=[CommandResponse(response="a"), CommandResponse(response="b")])
        def half() -> CommandResponse:
            return CommandResponse(response="no", success=False)
    """
    instance = session(tmp_path, text)
    assert says(instance, "whole") == ["a\nb"]
    assert instance.execute_text("half").success is False


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_value_is_too_strange_to_say(value: Any) -> None:
    [response] = answer_of(value).command_responses
    assert response.success
    assert isinstance(response.artifacts, dict)


# --- failing -----------------------------------------------------------------------------------------------

FAILING = """
    def told(why: str) -> str: raise ValueError(why)
    def silent() -> str: raise RuntimeError
    def lookup() -> str: return {}["missing"]
    def long() -> str: raise ValueError("x" * 5000)
    def leave() -> str: raise SystemExit(3)
    async def later() -> str: raise ValueError("too late")
"""


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("told <why>There is no tea.</why>", "There is no tea."),
        ("silent", "silent failed with RuntimeError."),
        ("lookup", "KeyError: 'missing'"),
    ],
)
def test_an_exception_is_a_failed_command_with_its_message(tmp_path: Path, command: str, text: str) -> None:
    result = session(tmp_path, FAILING).execute_text(command)
    assert (result.success, result.text) == (False, text)


def test_the_log_has_what_the_client_does_not_get(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        result = session(tmp_path, FAILING).execute_text("told <why>no</why>")
    assert "app.py" not in str(result.as_json())
    assert "Traceback" in caplog.text
    assert "app.py" in caplog.text


def test_a_long_message_is_cut_and_an_exit_ends_nothing_but_the_command(tmp_path: Path) -> None:
    instance = session(tmp_path, FAILING)
    assert len(instance.execute_text("long").text) < 2100
    with pytest.raises(CommandFailed):
        instance.execute_text("leave")
    assert says(instance, "silent") == ["silent failed with RuntimeError."]


async def test_an_async_function_is_awaited_and_fails_alike(tmp_path: Path) -> None:
    text = (
        FAILING
        + """
    import trio
    async def now(a: int) -> int:
        await trio.lowlevel.checkpoint()
        return a + 1
    """
    )
    instance = session(tmp_path, text)
    call = instance.prepare("now", {"a": 1})
    assert call.is_async
    assert (await call.run_async()).text == "2"
    failed = await instance.prepare("later").run_async()
    assert (failed.success, failed.text) == (False, "too late")


# --- progress ----------------------------------------------------------------------------------------------


async def test_progress_reaches_whoever_waits_for_this_command(tmp_path: Path) -> None:
    text = """
        import threading
        from greenroom import progress
        def work() -> str:
            progress(1, 2, "half")
            return "ok"
        async def later() -> str:
            progress(2)
            return "ok"
    """
    heard: list[tuple[Any, ...]] = []
    instance = session(tmp_path, text)
    instance.workflow.report_progress = lambda progress, total=None, message=None: heard.append(
        (progress, total, message)
    )
    await trio.to_thread.run_sync(instance.execute, "work")
    await instance.prepare("later").run_async()
    progress(3, 4, "nobody's")
    assert heard == [(1, 2, "half"), (2, None, None)]

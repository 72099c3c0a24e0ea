"""Commands that fail, print, exit, or return what they should not: each harms nothing but its own call."""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from greenroom.workflow.engine import CommandFailed, Instance, WrongAnswer
from tests.engine.folders import command, instance

BAD = {
    "raises": command("raise RuntimeError('secret')"),
    "exits": command("sys.exit(1)"),
    "returns_none": command("return None"),
    "returns_dict": command("return {'response': 'x'}"),
    "forgets_await": command("async def later(): ...\nreturn later()"),
    "wanders_off": command("workflow.current_command_context = object()\nraise ValueError"),
    "takes_root": command("workflow.root_command_context = object()\nraise ValueError"),
    "bad_validator": command(
        fields="x: int = 1",
        signature="@staticmethod\ndef validate_extracted_parameters(w, c, p):\n    return True",
    ),
    "bad_lookup": command(
        fields="x: str = Field('a', json_schema_extra={'db_lookup': True})",
        signature="@staticmethod\ndef db_lookup(w, f, v):\n    raise KeyError(v)",
    ),
}


@pytest.fixture
def bad(tmp_path: Path) -> Instance:
    files = {f"_commands/{name}.py": text for name, text in BAD.items()}
    return instance(tmp_path / "bad", {**files, "_commands/good.py": command("return 'good'")})


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_command_that_misbehaves_harms_nothing_but_its_own_call(bad: Instance, name: str) -> None:
    place = bad.workflow.place()
    for _ in range(2):
        with pytest.raises(CommandFailed) as failure:
            bad.execute(name)
        assert failure.value.code == 500
        assert "secret" not in str(failure.value)
        assert bad.workflow.place() == place
    assert bad.execute("good").text == "good"


@pytest.mark.parametrize(
    ("name", "found"),
    [("returns_none", "type NoneType"), ("returns_dict", "type dict"), ("forgets_await", "a coroutine")],
)
def test_a_wrong_answer_is_named_for_what_it_is(bad: Instance, name: str, found: str) -> None:
    with pytest.raises(WrongAnswer, match=found):
        bad.execute(name)


def test_a_keyboard_interrupt_is_nobodys_but_ours(tmp_path: Path) -> None:
    one = instance(tmp_path / "stop", {"_commands/stop.py": command("raise KeyboardInterrupt")})
    with pytest.raises(KeyboardInterrupt):
        one.execute("stop")


def test_a_command_that_changes_its_input_changes_nobody_elses(tmp_path: Path) -> None:
    fields = "items: list[str]\nmore: list[str] = Field(default_factory=lambda: ['x'])\nbox: dict = {'a': []}"
    body = "p.items.append('z'); p.more.append('z'); p.box['a'].append('z'); return str((p.items, p.more, p.box))"
    one = instance(tmp_path / "greedy", {"_commands/grow.py": command(body, fields=fields)})
    given: dict[str, Any] = {"items": ["a"]}
    for _ in range(2):
        result = one.execute("grow", given)
        assert result.text == "(['a', 'z'], ['x', 'z'], {'a': ['z']})"
        assert result.parameters == {"items": ["a"], "more": ["x"], "box": {"a": []}}
    assert given == {"items": ["a"]}


def test_what_a_command_prints_goes_to_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    body = "print('one', end=''); print(' line'); sys.stdout.write('two'); sys.stdout.flush(); return 'ok'"
    one = instance(tmp_path / "loud", {"_commands/talk.py": command(body)})
    one.execute("talk")
    print("ours")
    assert capsys.readouterr().out == "ours\n"
    assert [record.message for record in caplog.records] == ["talk printed: one line", "talk printed: two"]


def test_a_command_that_prints_without_end_does_not_fill_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    one = instance(tmp_path / "flood", {"_commands/talk.py": command("print('x\\n' * 5000 + 'y' * 9000); return 'ok'")})
    one.execute("talk")
    assert len(caplog.records) == 201
    assert caplog.records[-1].message == "talk printed 4801 more lines, which are not shown"


def test_printing_in_one_thread_does_not_touch_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = instance(
        tmp_path / "slow", {"_commands/talk.py": command("workflow.context['gate'](); print('hidden'); return 'ok'")}
    )
    started, go_on = threading.Event(), threading.Event()

    def gate() -> None:
        started.set()
        assert go_on.wait(10)

    one.workflow.context["gate"] = gate
    worker = threading.Thread(target=one.execute, args=("talk",))
    worker.start()
    assert started.wait(10)
    print("ours")
    go_on.set()
    worker.join(10)
    assert capsys.readouterr().out == "ours\n"


def test_responses_of_either_version_are_accepted(tmp_path: Path) -> None:
    single = "return CommandOutput(command_response=CommandResponse(response='one', success=False))"
    several = "return CommandOutput(command_responses=[CommandResponse(response=t) for t in 'ab'])"
    foreign = """
        class Answer:
            command_response = type("R", (), {"response": "theirs"})()
        return Answer()
    """
    one = instance(
        tmp_path / "both",
        {
            "_commands/single.py": command(single),
            "_commands/several.py": command(several),
            "_commands/foreign.py": command(foreign),
        },
    )
    assert (one.execute("single").text, one.execute("single").success) == ("one", False)
    assert [response.response for response in one.execute("several").responses] == ["a", "b"]
    assert one.execute("foreign").text == "theirs"


def test_artifacts_become_json_whatever_they_are(tmp_path: Path) -> None:
    body = """
        loop = {}
        loop["self"] = loop
        class Odd:
            def __repr__(self): raise ValueError
        artifacts = {"a": {1, }, "b": float("inf"), "c": Odd(), "d": b"x", "e": Input(x=1)}
        return CommandOutput(command_responses=[
            CommandResponse(response="x", artifacts=artifacts,
                            next_actions=[fastworkflow.Action(command_name="y")],
                            recommendations=[fastworkflow.Recommendation(summary="z")]),
            CommandResponse(response="y", artifacts=loop)])
    """
    one = instance(tmp_path / "odd", {"_commands/x.py": command(body, imports="class Input(BaseModel):\n    x: int\n")})
    first, second = one.execute("x").responses
    assert first.artifacts == {"a": [1], "b": "inf", "c": "<Odd>", "d": "eA==", "e": {"x": 1}}
    assert first.next_actions == ({"command_name": "y", "command": "", "parameters": {}, "workflow_id": None},)
    assert first.recommendations == ({"summary": "z", "suggested_actions": []},)
    assert list(second.artifacts) == ["artifacts"]


async def test_an_async_command_can_be_awaited(tmp_path: Path) -> None:
    one = instance(
        tmp_path / "later",
        {
            "_commands/later.py": command("return p.x", fields="x: str", call="async def"),
            "_commands/fails.py": command("raise ValueError", call="async def"),
            "_commands/now.py": command(),
        },
    )
    call = one.prepare("later", {"x": "done"})
    assert call.is_async
    assert (await call.run_async()).text == "done"
    assert not one.prepare("now").is_async
    with pytest.raises(CommandFailed):
        await one.prepare("fails").run_async()
    with pytest.raises(WrongAnswer):
        one.execute("later", {"x": "done"})


def test_a_log_on_standard_output_does_not_go_round_in_circles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = instance(tmp_path / "round", {"_commands/talk.py": command("print('hello'); return 'ok'")})
    one.execute("talk")
    handler = logging.StreamHandler(sys.stdout)
    logger = logging.getLogger("greenroom.command")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    try:
        one.execute("talk")
    finally:
        logger.removeHandler(handler)
        logger.setLevel("NOTSET")
    assert capsys.readouterr().out == "talk printed: hello\n"


def test_standard_output_stays_a_stream_for_everybody_else(tmp_path: Path) -> None:
    instance(tmp_path / "quiet", {"_commands/a.py": command()}).execute("a")
    assert sys.stdout.encoding
    sys.stdout.writelines(["ours\n"])
    sys.stdout.flush()

"""The child's program: what it takes to start it, how it ends, and what it makes of litellm's values."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio

from greenroom.workflow.llm import link
from greenroom.workflow.llm.child import described, plain
from greenroom.workflow.llm.errors import LlmUnavailable
from greenroom.workflow.llm.port import Message, Purpose, Request
from greenroom.workflow.llm.process import LlmProcess
from greenroom.workflow.llm.routes import Routes
from tests.llm.waiting import is_gone, until


async def test_the_child_imports_nothing_of_ours_but_its_framing() -> None:
    script = "import sys, greenroom.workflow.llm.child; print(*sys.modules)"
    ended = await trio.run_process([sys.executable, "-c", script], capture_stdout=True, env=link.environment())
    modules = ended.stdout.decode().split()
    assert not {"trio", "mcp", "attrs", "quart", "jsonschema", "litellm"} & set(modules)
    assert {name for name in modules if name.startswith("greenroom")} == {
        "greenroom",
        "greenroom.workflow",
        "greenroom.workflow.llm",
        "greenroom.workflow.llm.child",
        "greenroom.workflow.llm.framing",
    }


@pytest.mark.parametrize("moment", ["while it loads", "when it is ready"])
async def test_a_child_whose_server_was_killed_leaves_too(moment: str) -> None:
    wait = "ours.recv(1000)" if moment == "when it is ready" else "pass"
    server = (
        "import os, socket, subprocess, sys\n"
        "ours, theirs = socket.socketpair()\n"
        "fd = theirs.fileno()\n"
        "child = subprocess.Popen([*sys.argv[1:], str(fd)], pass_fds=[fd], stdout=subprocess.DEVNULL)\n"
        f"theirs.close(); {wait}; print(child.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", server, *link.COMMAND]
    ended = await trio.run_process(command, capture_stdout=True, check=False, env=link.environment())
    pid = int(ended.stdout)
    await until(lambda: is_gone(pid))


async def test_a_child_that_cannot_load_litellm_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "litellm.py").write_text("raise ModuleNotFoundError(\"No module named 'litellm'\")")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    llm = LlmProcess(Routes({"LLM_AGENT": "some/model"}))
    async with trio.open_nursery() as nursery:
        await nursery.start(llm.run)
        with pytest.raises(LlmUnavailable, match="pip install litellm"):
            await llm.complete(Request(Purpose.AGENT, [Message("user", "hello")]))
        nursery.cancel_scope.cancel()


class Complaint(Exception):
    def __init__(self, text: str, status_code: int, **more: object) -> None:
        super().__init__(text)
        self.status_code = status_code
        vars(self).update(more)


def test_a_retry_after_is_found_wherever_the_adapter_left_it() -> None:
    headers = {"retry-after": "7"}
    for error in (
        Complaint("slow down", 429, litellm_response_headers=headers),
        Complaint("slow down", 429, response=SimpleNamespace(headers=headers)),
    ):
        assert described(error) == {"kind": "Complaint", "status": 429, "retry_after": "7", "text": "slow down"}


def test_a_key_that_was_never_given_is_not_the_servers_fault() -> None:
    assert described(Complaint("Missing credentials. Please pass an `api_key`", 500))["status"] == 401
    answered = SimpleNamespace(headers={"server": "x"})
    assert described(Complaint("the API key service is down", 500, response=answered))["status"] == 500


def test_an_exception_of_any_other_kind_has_no_status() -> None:
    assert described(KeyError("choices"))["status"] is None


def test_an_answer_without_text_usage_or_reason_is_still_an_answer() -> None:
    message = SimpleNamespace(content=None, tool_calls=None)
    response = SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason=None)], model=None, usage=None)
    assert plain(response) == {
        "text": "",
        "tool_calls": [],
        "model": "",
        "finish_reason": "",
        "usage": {"prompt_tokens": 0, "completion_tokens": 0},
    }

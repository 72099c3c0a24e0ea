"""A language model that says what the test wrote down, and remembers what it was asked.

The real one, a child process with litellm, is tested on its own; this stands in for it behind the same port.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import trio

from greenroom.workflow.llm.port import Completion, Delta, Purpose, Request


class ScriptedModel:
    def __init__(self, *answers: Any, purposes: Sequence[Purpose] = tuple(Purpose)) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []
        self.cancelled = 0
        self._purposes = purposes

    def configured(self, purpose: Purpose) -> bool:
        return purpose in self._purposes

    async def complete(self, request: Request, *, on_delta: Callable[[Delta], None] | None = None) -> Completion:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            try:
                await trio.sleep_forever()
            except trio.Cancelled:
                self.cancelled += 1
                raise
        await trio.lowlevel.checkpoint()
        return Completion(json.dumps(answer), parsed=answer)


class Together(ScriptedModel):
    """Answers nobody before everybody has asked."""

    def __init__(self, expected: int) -> None:
        super().__init__()
        self.most = 0
        self._expected = expected
        self._all_here = trio.Event()

    async def complete(self, request: Request, *, on_delta: Callable[[Delta], None] | None = None) -> Completion:
        self.most += 1
        if self.most == self._expected:
            self._all_here.set()
        with trio.fail_after(10):
            await self._all_here.wait()
        done = answer("We are all here.")
        return Completion(json.dumps(done), parsed=done)


def run(command: str, **parameters: str) -> dict[str, Any]:
    listed = [{"name": name, "value": value} for name, value in parameters.items()]
    return {"action": "run_command", "command": command, "parameters": listed, "message": ""}


def answer(message: str) -> dict[str, Any]:
    return {"action": "answer", "command": "", "parameters": [], "message": message}


def ask(message: str) -> dict[str, Any]:
    return {"action": "ask_user", "command": "", "parameters": [], "message": message}

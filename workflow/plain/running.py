"""Calls a plain function as the command that it is.

In the engine's eyes this is a command file's `ResponseGenerator`. The function gets its parameters by name and nothing
else; what it returns becomes the answer, or the context that the session is in next. What it raises is a command that
failed, with the author's message: the rest is in the log.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
from pydantic import BaseModel

from greenroom.config.errors import GreenroomError
from greenroom.workflow.compat.types import CommandOutput
from greenroom.workflow.engine.whereabouts import SessionWorkflow
from greenroom.workflow.plain.answers import answer_of, failure_of
from greenroom.workflow.plain.progress import told_to
from greenroom.workflow.plain.schema import Own
from greenroom.workflow.plain.session import PlainSession

log = logging.getLogger(__name__)

Target = Callable[[PlainSession, object], Callable[..., Any]]
"""What to call, for a session and for the object in which the command was found."""


@attrs.frozen
class Runner:
    command: str
    target: Target
    own: Mapping[str, Own]
    openable: frozenset[type]

    def __call__(self, workflow: SessionWorkflow, text: str, parameters: BaseModel | None = None) -> Any:
        with told_to(workflow.report_progress):
            try:
                return self._answer(workflow, self._call(workflow, parameters))
            except GreenroomError:
                raise
            # This is where foreign code ends: whatever it raises is its answer.
            except Exception as error:
                return self._failure(error)

    def _call(self, workflow: SessionWorkflow, parameters: BaseModel | None) -> Any:
        session = _session(workflow)
        function = self.target(session, workflow.command_context_for_response_generation)
        asked = {name: getattr(parameters, name) for name in type(parameters).model_fields} if parameters else {}
        return function(**asked, **dict(self._owned(workflow, session)))

    def _owned(self, workflow: SessionWorkflow, session: PlainSession) -> Iterator[tuple[str, object]]:
        """The nearest object of the class around the session, or else the one that it opens itself."""
        for name, own in self.own.items():
            around = next((context for context, _ in workflow.enclosing() if type(context) is own.cls), None)
            if around is not None:
                yield name, around
            elif own.cls in self.openable:
                yield name, session.opened(own.cls)
            elif own.is_required:
                kind = own.cls.__name__
                raise LookupError(f"{self.command} works on a {kind}, and the session is in none: enter one first.")

    def _answer(self, workflow: SessionWorkflow, value: Any) -> Any:
        session = _session(workflow)
        if not session.is_context(value):
            return answer_of(value)
        if value is workflow.current_command_context:
            # `return self`, as in a chain of calls.
            return answer_of(None)
        session.enter(value, workflow.command_context_for_response_generation)
        workflow.current_command_context = value
        return answer_of(f"Context is now '{workflow.current_command_context_displayname}'")

    def _failure(self, error: Exception) -> CommandOutput:
        log.warning("the command %s failed", self.command, exc_info=error)
        return failure_of(self.command, error)


class AsyncRunner(Runner):
    """The same for a function that is to be awaited."""

    async def __call__(self, workflow: SessionWorkflow, text: str, parameters: BaseModel | None = None) -> Any:
        with told_to(workflow.report_progress):
            try:
                value = self._call(workflow, parameters)
                return self._answer(workflow, await value if inspect.isawaitable(value) else value)
            except GreenroomError:
                raise
            except Exception as error:
                return self._failure(error)


def _session(workflow: SessionWorkflow) -> PlainSession:
    """A workflow without classes has none, because there is nothing to remember."""
    root = workflow.root_command_context
    return root if isinstance(root, PlainSession) else PlainSession()

"""One session's workflow: finds commands, checks their parameters, and runs them.

Everything here blocks, because command code does; the caller chooses the thread, and sees to it that one call is
over before the next begins. Nothing is left behind by a call that was refused or failed: the session is where it
was, and the next command runs as if that one had never been asked for. What a command did to its own objects before
it failed is out of reach.
"""

from __future__ import annotations

import copy
import itertools
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ValidationError

from greenroom.config.errors import GreenroomError
from greenroom.workflow.engine.annotations import is_no_value
from greenroom.workflow.engine.coercion import ParameterError, build_input
from greenroom.workflow.engine.definition import CommandDef, WorkflowDefinition
from greenroom.workflow.engine.errors import CommandFailed, InvalidParameters, MalformedCommand
from greenroom.workflow.engine.metadata import correct_form
from greenroom.workflow.engine.outcome import CommandResult, responses_of
from greenroom.workflow.engine.parameters import Malformed, command_name, parse_command
from greenroom.workflow.engine.plain import jsonable
from greenroom.workflow.engine.printing import printed_by
from greenroom.workflow.engine.whereabouts import Found, SessionWorkflow

log = logging.getLogger(__name__)

_ids = itertools.count(1)


class Instance:
    """`workflow` is what command code is given; `context` is what its `workflow.context` starts with."""

    __slots__ = ("_wall_clock", "definition", "workflow")

    def __init__(
        self,
        definition: WorkflowDefinition,
        *,
        context: Mapping[str, Any] | None = None,
        id: int | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.definition = definition
        self.workflow = SessionWorkflow(
            definition, id=next(_ids) if id is None else id, context=copy.deepcopy(dict(context or {}))
        )
        if definition.new_root is not None:
            self.workflow.root_command_context = definition.new_root()
        self._wall_clock = wall_clock

    def find(self, name: str) -> Found:
        """Where the command of that name is, seen from here. Raises `UnknownCommand`."""
        with self._guarded(name):
            return self.workflow.find(name)

    def read(self, text: str) -> tuple[Found, Mapping[str, Any]]:
        """The command and the raw parameters of `name <p1>v</p1>`. Raises `UnknownCommand`, `MalformedCommand`."""
        name = command_name(text)
        if isinstance(name, Malformed):
            raise MalformedCommand(name.problem, name.position, correct_form=None)
        found = self.find(name)
        parsed = parse_command(text, found.command.parameters)
        if isinstance(parsed, Malformed):
            raise MalformedCommand(parsed.problem, parsed.position, correct_form=correct_form(found.command))
        return found, parsed.parameters

    def prepare(self, name: str, raw_parameters: Mapping[str, Any] | None = None, *, text: str = "") -> PreparedCall:
        """All that comes before the command itself. Blocks: looking values up is the workflow's own code.

        Raises `UnknownCommand`, `InvalidParameters` or `CommandFailed`. `text` is what the command is told it was
        called with.
        """
        return self._prepare(self.find(name), raw_parameters or {}, text)

    def execute(self, name: str, raw_parameters: Mapping[str, Any] | None = None, *, text: str = "") -> CommandResult:
        """Prepare it and run it."""
        return self.prepare(name, raw_parameters, text=text).run()

    def execute_text(self, text: str) -> CommandResult:
        """The same, for the explicit form `name <p1>v</p1> <p2>v</p2>`."""
        return self.prepare_text(text).run()

    def prepare_text(self, text: str) -> PreparedCall:
        found, raw_parameters = self.read(text)
        return self._prepare(found, raw_parameters, text)

    def _prepare(self, found: Found, raw_parameters: Mapping[str, Any], text: str) -> PreparedCall:
        command = found.command
        model, errors = build_input(command, copy.deepcopy(dict(raw_parameters)))
        if model is not None:
            with self._guarded(command.qualified_name, found):
                errors = _look_up(command, self.workflow, model) or _validate(command, self.workflow, model)
        if errors:
            raise InvalidParameters(
                command.qualified_name, [error.as_json() for error in errors], correct_form=correct_form(command)
            )
        return PreparedCall(self, found, model, text)

    @contextmanager
    def _guarded(self, command: str, found: Found | None = None) -> Iterator[None]:
        """Around every piece of the workflow's own code."""
        place = self.workflow.place()
        if found is not None:
            self.workflow.command_context_for_response_generation = found.context
        try:
            with printed_by(command):
                yield
        except GreenroomError:
            self.workflow.return_to(place)
            raise
        # This is where foreign code ends: whatever it raises, and an exit too, ends this call and no other.
        except (Exception, SystemExit) as error:
            self.workflow.return_to(place)
            log.exception("the command %s failed", command)
            raise CommandFailed(command, error) from error


class PreparedCall:
    """A command that can be run, once: everything that could be refused has been looked at."""

    def __init__(self, instance: Instance, found: Found, model: BaseModel | None, text: str) -> None:
        self.command = found.command
        self.parameters: Mapping[str, Any] = {
            one.name: jsonable(getattr(model, one.name)) for one in self.command.parameters
        }
        self._instance = instance
        self._found = found
        self._model = model
        self._text = text

    @property
    def is_async(self) -> bool:
        """Whether to `await run_async()` rather than to call `run()` in a thread."""
        return self.command.is_async

    def run(self) -> CommandResult:
        started_at, began = self._instance._wall_clock(), time.monotonic()
        with self._instance._guarded(self.command.qualified_name, self._found):
            responses = responses_of(self.command.qualified_name, self._call())
        return self._result(responses, started_at, began)

    async def run_async(self) -> CommandResult:
        started_at, began = self._instance._wall_clock(), time.monotonic()
        with self._instance._guarded(self.command.qualified_name, self._found):
            responses = responses_of(self.command.qualified_name, await self._call())
        return self._result(responses, started_at, began)

    def _call(self) -> Any:
        arguments = (self._instance.workflow, self._text)
        generator = self.command.response_generator()
        return generator(*arguments) if self._model is None else generator(*arguments, self._model)

    def _result(self, responses: tuple[Any, ...], started_at: float, began: float) -> CommandResult:
        return CommandResult(
            command_name=self.command.qualified_name,
            parameters=self.parameters,
            responses=responses,
            workflow_name=self._instance.definition.name,
            context=self._instance.workflow.current_command_context_displayname,
            started_at=round(started_at * 1000),
            duration_ms=round((time.monotonic() - began) * 1000),
        )


def _look_up(command: CommandDef, workflow: SessionWorkflow, model: BaseModel) -> list[ParameterError]:
    """Replaces a value by the one that the workflow knows it as. One that it does not know at all stays."""
    errors: list[ParameterError] = []
    for parameter in command.parameters:
        value = getattr(model, parameter.name)
        if not parameter.db_lookup or is_no_value(value):
            continue
        matched, corrected, suggestions = command.signature.db_lookup(workflow, parameter.name, value)  # type: ignore[union-attr]
        if matched:
            setattr(model, parameter.name, corrected)
        elif suggestions:
            known = tuple(str(suggestion) for suggestion in suggestions)
            problem = f"{parameter.name} is {value!r}, which is not known. Is one of these meant: {', '.join(known)}?"
            errors.append(ParameterError(parameter.name, problem, known))
    return errors


def _validate(command: CommandDef, workflow: SessionWorkflow, model: BaseModel) -> list[ParameterError]:
    validate = getattr(command.signature, "validate_extracted_parameters", None)
    if validate is None:
        return []
    try:
        accepted, message = validate(workflow, command.qualified_name, model)
    except ValidationError as invalid:
        # It changed a parameter into something that the Input does not take; that follows from what was given.
        return [ParameterError("", f"{command.name}: {detail['msg']}") for detail in invalid.errors()]
    return [] if accepted else [ParameterError("", str(message).strip() or "The parameters do not go together.")]

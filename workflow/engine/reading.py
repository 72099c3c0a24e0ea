"""From an imported command file to a `CommandDef`, and from a context's file to its class."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from greenroom.workflow.engine.annotations import parameter_of
from greenroom.workflow.engine.definition import CommandDef
from greenroom.workflow.engine.discovery import Report
from greenroom.workflow.engine.problems import Problem


def read_command(module: ModuleType, file: Path, context: str, report: Report) -> CommandDef | None:
    """None if the file is no command; why, was reported."""
    generator = getattr(module, "ResponseGenerator", None)
    if not inspect.isclass(generator) or not any("__call__" in vars(base) for base in generator.__mro__):
        report(Problem(file, "there is no class ResponseGenerator with a __call__ in it", 1))
        return None
    signature = getattr(module, "Signature", None)
    input_model = getattr(signature, "Input", None)
    if input_model is not None and not (inspect.isclass(input_model) and issubclass(input_model, BaseModel)):
        report(Problem(file, "Signature.Input must be a pydantic model, a subclass of BaseModel", _line(input_model)))
        return None
    parameters = tuple(parameter_of(name, field) for name, field in _fields(input_model))
    if any(parameter.db_lookup for parameter in parameters) and not hasattr(signature, "db_lookup"):
        report(
            Problem(file, "a field asks for db_lookup, but Signature has no function of that name", _line(input_model))
        )
        return None
    return CommandDef(
        context=context,
        name=file.stem,
        description=inspect.getdoc(signature) or "" if inspect.isclass(signature) else "",
        parameters=parameters,
        hidden=not hasattr(signature, "generate_utterances"),
        is_async=inspect.iscoroutinefunction(generator.__call__),
        file=file,
        response_generator=generator,
        signature=signature,
        input_model=input_model,
    )


def read_context_class(module: ModuleType, file: Path, report: Report) -> type | None:
    found = getattr(module, "Context", None)
    if inspect.isclass(found):
        return found
    report(Problem(file, "there is no class Context in it", 1))
    return None


def _fields(input_model: type[BaseModel] | None) -> list[tuple[str, Any]]:
    return list(input_model.model_fields.items()) if input_model is not None else []


def _line(anything: Any) -> int:
    try:
        return inspect.getsourcelines(anything)[1]
    except (OSError, TypeError):
        return 1

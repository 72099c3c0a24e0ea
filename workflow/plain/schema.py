"""From a function's signature to a command's parameters: type hints, defaults and docstring in, a pydantic model out.

Pure but for what it reports. The model is the same thing as a command file's `Input`, so all that the engine knows
about parameters (coercion, choices, patterns, the wording of errors) holds for a function's too. A parameter whose
type is a context class is not the client's to give: the session's own object is passed.
"""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Optional, get_args, get_origin, get_type_hints

import attrs
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from greenroom.workflow.engine.annotations import alternatives, parameter_of
from greenroom.workflow.engine.definition import ParameterDef
from greenroom.workflow.plain.docstrings import Documentation, read_docstring

_UNKNOWN = object()
"""A hint that cannot be understood. `None` will not do: it is one that can."""
_CONFIG = ConfigDict(arbitrary_types_allowed=False, protected_namespaces=())

Complain = Callable[[str], None]


@attrs.frozen
class Own:
    """A parameter that the session fills in with an object of its own."""

    cls: type
    is_required: bool


@attrs.frozen
class Schema:
    documentation: Documentation
    parameters: tuple[ParameterDef, ...] = ()
    input_model: type[BaseModel] | None = None
    own: Mapping[str, Own] = attrs.field(factory=dict)


def schema_of(function: Any, *, is_bound: bool, contexts: Collection[type], complain: Complain) -> Schema:
    """Everything that is wrong with it is complained about. `is_bound` says that the first parameter is taken."""
    documentation = read_docstring(inspect.getdoc(function))
    fields: dict[str, Any] = {}
    own: dict[str, Own] = {}
    for parameter in _parameters(function, is_bound, complain):
        hint = _hint(function, parameter, complain)
        if hint is _UNKNOWN:
            continue
        context = _context_in(hint, contexts)
        if context is not None:
            own[parameter.name] = Own(context, parameter.default is parameter.empty)
            continue
        if parameter.name.startswith("_"):
            if parameter.default is parameter.empty:
                complain(f"the parameter {parameter.name!r} begins with _, so clients cannot give it; add a default")
            continue
        if parameter.name.startswith("model_") and hasattr(BaseModel, parameter.name):
            complain(f"the parameter {parameter.name!r} has a name that pydantic keeps for itself; choose another")
            continue
        annotation = _annotation(parameter, hint, documentation.parameters.get(parameter.name, ""))
        if _is_describable(parameter.name, annotation, complain):
            fields[parameter.name] = (annotation, ... if parameter.default is parameter.empty else parameter.default)
    model = _model(fields, complain) if fields else None
    parameters = tuple(_described(name, field) for name, field in model.model_fields.items()) if model else ()
    return Schema(documentation, parameters, model, own)


def return_kinds(function: Any) -> tuple[Any, ...]:
    """What its hint says that it returns, alternatives apart; nothing if there is no hint that can be read."""
    hint = _evaluated(function, "return")
    return () if hint is _UNKNOWN else alternatives(hint)[0]


def _parameters(function: Any, is_bound: bool, complain: Complain) -> Iterator[inspect.Parameter]:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        complain("has no signature that Python could tell")
        return
    if is_bound and not found:
        complain("has no parameter for the object itself; add self, or make it a staticmethod")
    elif is_bound and found[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        del found[0]
    for parameter in found:
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL:
                complain(f"*{parameter.name} has no place in a command; write a parameter that is a list")
            case inspect.Parameter.VAR_KEYWORD:
                complain(f"**{parameter.name} has no place in a command; name the parameters, or write one dict")
            case inspect.Parameter.POSITIONAL_ONLY:
                complain(f"the parameter {parameter.name!r} is positional-only, and clients give names; remove the /")
            case _:
                yield parameter


def _hint(function: Any, parameter: inspect.Parameter, complain: Complain) -> Any:
    if parameter.annotation is parameter.empty:
        if parameter.name.startswith("_"):
            return Any
        advice = f"write one, such as {parameter.name}: str, or begin the function's name with _ if it is no command"
        complain(f"the parameter {parameter.name!r} has no type hint; {advice}")
        return _UNKNOWN
    hint = _evaluated(function, parameter.name)
    if hint is _UNKNOWN:
        complain(f"the type hint of the parameter {parameter.name!r}, {parameter.annotation}, cannot be understood")
    return hint


def _evaluated(function: Any, name: str) -> Any:
    """One hint alone, so that one that only a type checker understands spoils no other."""
    inner = inspect.unwrap(function)
    inner = getattr(inner, "__func__", inner)
    hints = getattr(inner, "__annotations__", {})
    if name not in hints:
        return _UNKNOWN
    shim = types.SimpleNamespace(__annotations__={name: hints[name]})
    try:
        return get_type_hints(shim, globalns=getattr(inner, "__globals__", {}), include_extras=True)[name]
    # A hint is an expression of the author's, and evaluating it may raise whatever they like.
    except Exception:
        return _UNKNOWN


def _context_in(hint: Any, contexts: Collection[type]) -> type | None:
    kinds, _ = alternatives(hint)
    return next((each for each in contexts if len(kinds) == 1 and kinds[0] is each), None)


def _annotation(parameter: inspect.Parameter, hint: Any, documented: str) -> Any:
    """The hint, with what the docstring says about it; what the hint itself says wins."""
    # A default of None means that None is accepted, whether or not the hint says so.
    bare, extras = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    if parameter.default is None:
        bare = Optional[bare]  # noqa: UP045 (not every hint has the operator)
    texts = [text for text in map(_text_in, extras) if text]
    description = " ".join(texts) or documented
    return Annotated[bare, Field(description=description or None), *extras]


def _text_in(extra: Any) -> str:
    """`Annotated[str, "the title"]`, and the same with `typing_extensions.Doc`."""
    said = extra if isinstance(extra, str) else getattr(extra, "documentation", "")
    return said.strip() if isinstance(said, str) else ""


def _is_describable(name: str, annotation: Any, complain: Complain) -> bool:
    try:
        TypeAdapter(annotation).json_schema()
    except (PydanticUserError, TypeError, NameError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        complain(f"the type of the parameter {name!r} cannot be described to a client: {reason}")
        return False
    return True


def _model(fields: Mapping[str, Any], complain: Complain) -> type[BaseModel] | None:
    try:
        with warnings.catch_warnings():
            # A parameter may well be called `copy` or `json`; nobody calls those methods of the model.
            warnings.simplefilter("ignore", UserWarning)
            return create_model("Input", __config__=_CONFIG, **fields)
    except (PydanticUserError, NameError, TypeError, ValueError) as error:
        complain(f"its parameters do not go together: {str(error).splitlines()[0]}")
        return None


def _described(name: str, field: FieldInfo) -> ParameterDef:
    """In plain Python a default is one, even where the engine's own format has it stand for "nothing was given"."""
    parameter = parameter_of(name, field)
    if field.is_required() or (field.default is None and field.default_factory is None):
        return parameter
    return attrs.evolve(parameter, required=False, has_default=True)


def file_and_line(function: Any, otherwise: Path) -> tuple[Path, int]:
    inner = inspect.unwrap(function)
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    return (Path(code.co_filename), code.co_firstlineno) if code is not None else (otherwise, 1)

"""What a session's workflow can be put away as, and brought back from: plain JSON, and what is missing said aloud.

A session has three parts: the variables in `workflow.context`, the workflow's own objects, and the place where it
stands among them. Variables are kept if JSON gives them back as they were. Of the objects, the outermost is kept by
the hooks of its `Context` class: the anchor, which is the root context or, if none was set, the current one. The
place is kept as those hooks point to it, because a copy of its own would come back as a second object.

    state_version = 1
    get_state(anchor) -> a dict of JSON, or EPHEMERAL     from_state(state, workflow, state_version=n) -> anchor
    get_locator(context) -> JSON                          find_by_locator(anchor, locator) -> context

Hooks are the workflow's own code: they block, the caller chooses the thread, and one that fails is never fatal. What
it raises goes to the log; the reasons given here name its kind alone.
"""

from __future__ import annotations

import copy
import inspect
import json
import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from greenroom.workflow.compat import finder, types
from greenroom.workflow.engine.definition import shown
from greenroom.workflow.engine.instance import Instance
from greenroom.workflow.engine.printing import printed_by
from greenroom.workflow.engine.whereabouts import Place, SessionWorkflow

log = logging.getLogger(__name__)

VARIABLES, OBJECTS, PLACE = "context variables", "workflow objects", "place"

_FORMAT = 1
_NEVER_SAVED = "http_bearer_token"  # FastWorkflow's name for the caller's credential, which belongs to a request
_JSON_TYPES = (type(None), bool, int, float, str, list, dict)
_MAX_DEPTH = 100  # far from where Python's own limit would end a copy half-way


@attrs.frozen
class Loss:
    part: str
    """`VARIABLES`, `OBJECTS` or `PLACE`."""
    why: str
    name: str | None = None
    """Which variable, if it is one and not all."""


@attrs.frozen
class SavedObjects:
    context_name: str
    state: Mapping[str, Any]
    state_version: int
    is_root: bool


@attrs.frozen
class SavedPlace:
    standing: str = attrs.field(validator=attrs.validators.in_(("global", "anchor", "within")))
    context_name: str
    locator: Any = None


@attrs.frozen
class SavedState:
    variables: Mapping[str, Any] = attrs.field(validator=attrs.validators.instance_of(dict))
    objects: SavedObjects | None = None
    place: SavedPlace | None = None
    is_complete: bool = False
    lost: tuple[Loss, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"format": _FORMAT, **attrs.asdict(self)}

    @classmethod
    def from_json(cls, data: Any) -> SavedState:
        """Raises `ValueError` for anything that `to_json` did not write."""
        try:
            data = copy.deepcopy(dict(data))
            if (found := data.pop("format")) != _FORMAT:
                raise ValueError(f"the saved state has the format {found!r}, and {_FORMAT} is known")
            objects, place, lost = data.pop("objects"), data.pop("place"), data.pop("lost")
            return cls(
                objects=None if objects is None else SavedObjects(**objects),
                place=None if place is None else SavedPlace(**place),
                lost=tuple(Loss(**loss) for loss in lost),
                **data,
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no saved state: {type(error).__name__}: {error}") from error


@attrs.frozen
class Restored:
    restored: tuple[str, ...] = ()
    lost: tuple[Loss, ...] = ()
    """Now, or when the state was saved. It may name single variables, and the others are back."""


class _LostError(Exception):
    """Why something cannot be kept."""


def save_state(instance: Instance) -> SavedState:
    """Never fails, for want of hooks or because of them: what is missing is in `lost`."""
    workflow = instance.workflow
    variables, lost = _save_variables(workflow.context)
    anchor, objects, place = _anchor(workflow), None, None
    try:
        if anchor is not None:
            objects = _save_objects(workflow, anchor)
        place = _save_place(workflow, anchor)
    except _LostError as reason:
        if objects is None:
            lost.append(Loss(OBJECTS, str(reason)))
        lost.append(Loss(PLACE, str(reason)))
    return SavedState(variables, objects, place, bool(workflow.is_complete), tuple(lost))


def restore_state(instance: Instance, saved: SavedState) -> Restored:
    """For an instance right after its start-up, or before it. What is not restored stays as it is there.

    Objects that cannot be made again take everything with them: half a session is worse than a fresh one. Objects
    that were never saved do not, because a workflow without hooks always comes back like that.
    """
    workflow, lost = instance.workflow, list(saved.lost)
    context, place = workflow.context, workflow.place()
    # Before the objects, as in FastWorkflow: a `from_state` may look at them.
    workflow.context = _merged(saved, context)
    try:
        if saved.objects is not None:
            _restore_objects(workflow, saved.objects)
    except _LostError as reason:
        workflow.context = context
        workflow.return_to(place)
        too = "what belongs to the workflow objects is of no use without them"
        return Restored((), (Loss(VARIABLES, too), Loss(OBJECTS, str(reason)), Loss(PLACE, too)))
    try:
        _restore_place(workflow, saved)
    except _LostError as reason:
        lost.append(Loss(PLACE, str(reason)))
    workflow.is_complete = saved.is_complete
    workflow.command_context_for_response_generation = workflow.current_command_context
    gone = {loss.part for loss in lost}
    back = {VARIABLES: saved.variables or VARIABLES not in gone, OBJECTS: saved.objects, PLACE: PLACE not in gone}
    return Restored(tuple(part for part, is_back in back.items() if is_back), tuple(lost))


def _anchor(workflow: SessionWorkflow) -> object | None:
    root = workflow.root_command_context
    return workflow.current_command_context if root is None else root


def _save_variables(context: Any) -> tuple[dict[str, Any], list[Loss]]:
    if not isinstance(context, dict):
        return {}, [Loss(VARIABLES, f"workflow.context is of type {type(context).__name__}, and a dict is due")]
    kept: dict[str, Any] = {}
    lost: list[Loss] = []
    seen: dict[int, str] = {}
    for key, value in context.items():
        name = key.encode(errors="replace").decode() if type(key) is str else f"<{type(key).__name__}>"
        try:
            if type(key) is not str or key != name:
                raise _LostError("JSON has text for keys, and nothing else")
            if key == _NEVER_SAVED:
                raise _LostError("a credential is never saved")
            kept[name] = _plain(value, name, tried := dict(seen), exact=True)
            seen = tried
        except _LostError as reason:
            lost.append(Loss(VARIABLES, str(reason), name))
    return kept, lost


def _merged(saved: SavedState, present: Any) -> dict[str, Any]:
    """Nothing that had been deleted comes back. What could not be saved is as start-up made it, if it did."""
    unsaved = {loss.name for loss in saved.lost if loss.part == VARIABLES}
    found = present.items() if isinstance(present, dict) else ()
    made = {key: value for key, value in found if type(key) is not str or key in unsaved or None in unsaved}
    return {**made, **copy.deepcopy(dict(saved.variables))}


def _save_objects(workflow: SessionWorkflow, anchor: object) -> SavedObjects:
    name = workflow.get_command_context_name(anchor)
    state = _call(workflow, name, "get_state", anchor)
    if state is _as_command_files_know("EPHEMERAL"):
        raise _LostError(f"the context {shown(name)} says that its state is not worth keeping")
    if not isinstance(state, dict):
        raise _LostError(f"{name}.get_state returned a value of type {type(state).__name__}, and a dict is due")
    _hook(workflow, name, "from_state")
    version = workflow.definition.contexts[name].state_version
    return SavedObjects(name, _plain(state, "state", {}), version or 1, workflow.root_command_context is not None)


def _restore_objects(workflow: SessionWorkflow, saved: SavedObjects) -> None:
    name, state = saved.context_name, copy.deepcopy(saved.state)
    # As in FastWorkflow, the hook finds a workflow in which nothing stands yet.
    workflow.return_to(Place(None, None))
    anchor = _call(workflow, name, "from_state", state, workflow, state_version=saved.state_version)
    _expect(name, anchor, f"{name}.from_state")
    workflow.return_to(Place(anchor if saved.is_root else None, anchor))


def _save_place(workflow: SessionWorkflow, anchor: object | None) -> SavedPlace:
    current = workflow.current_command_context
    name = workflow.get_command_context_name(current)
    if current is None or current is anchor:
        return SavedPlace("global" if current is None else "anchor", name)
    owner = workflow.get_command_context_name(anchor)
    locator = _plain(_call(workflow, owner, "get_locator", current), "locator", {})
    # One that leads elsewhere would show much later, as a command that works on the wrong object.
    if _call(workflow, owner, "find_by_locator", anchor, copy.deepcopy(locator)) is not current:
        raise _LostError(f"{owner}.find_by_locator does not find what {owner}.get_locator was asked about")
    return SavedPlace("within", name, locator)


def _restore_place(workflow: SessionWorkflow, saved: SavedState) -> None:
    anchor, place = _anchor(workflow), saved.place
    if place is None or place.standing == "anchor":
        return
    if place.standing == "within":
        owner = workflow.get_command_context_name(anchor)
        found = _call(workflow, owner, "find_by_locator", anchor, copy.deepcopy(place.locator))
        _expect(place.context_name, found, f"{owner}.find_by_locator")
        workflow.current_command_context = found
    elif anchor is None or saved.objects is not None:
        workflow.current_command_context = None
    else:
        raise _LostError("the session had not entered any context when it was saved")


def _expect(context_name: str, found: object | None, source: str) -> None:
    if (kind := type(found).__name__) != context_name:
        raise _LostError(f"{source} returned a value of type {kind}, and a {context_name} is due")


def _hook(workflow: SessionWorkflow, context_name: str, hook: str) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(workflow.definition.context_classes.get(context_name), hook, None)
    if found is None:
        raise _LostError(f"the context {shown(context_name)} has no {hook}")
    return found


def _call(workflow: SessionWorkflow, context_name: str, hook: str, *arguments: Any, **named: Any) -> Any:
    """Around every hook: it answers, and leaves the session where it stands."""
    function, label, place = _hook(workflow, context_name, hook), f"{context_name}.{hook}", workflow.place()
    try:
        with printed_by(label):
            answer = function(*arguments, **named)
    # This is where foreign code ends: whatever it raises, and an exit too, ends this hook and nothing else.
    except (Exception, SystemExit) as error:
        if isinstance(error, _as_command_files_know("UnsupportedStateVersion")):
            log.warning("%s refused the state: %s", label, error)
            raise _LostError(f"{label} does not support version {named.get('state_version')} of its state") from error
        log.exception("the hook %s failed", label)
        raise _LostError(f"{label} failed with {type(error).__name__}") from error
    finally:
        workflow.return_to(place)
    if inspect.iscoroutine(answer):
        answer.close()  # or Python complains, at some later time, that nobody awaited it
        raise _LostError(f"{label} is async, and a hook cannot be")
    return answer


def _as_command_files_know(name: str) -> Any:
    """The stand-in's, or the real package's where that is installed."""
    return getattr(sys.modules.get(finder.NAME), name, getattr(types, name))


def _plain(value: Any, at: str, seen: dict[int, str], *, exact: bool = False) -> Any:
    """A copy that JSON has been through. What is not `exact` may be of derived types, which a hook's answer loses."""
    try:
        _check(value, at, seen, exact, 0)
        return json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except _LostError:
        raise
    # Not a number, half of a surrogate pair, an integer too long for Python to write; a derived type's own code.
    except Exception as error:
        raise _LostError(f"{at} has a value that JSON cannot say ({type(error).__name__})") from error


def _check(value: Any, at: str, seen: dict[int, str], exact: bool, depth: int) -> None:
    kind = type(value)
    if kind not in _JSON_TYPES if exact else not isinstance(value, _JSON_TYPES):
        raise _LostError(f"{at} is of type {kind.__name__}, which JSON does not have")
    if not isinstance(value, list | dict):
        return
    if depth == _MAX_DEPTH:
        raise _LostError(f"it is nested more than {_MAX_DEPTH} deep")
    if id(value) in seen:
        raise _LostError(f"{at} is the same {kind.__name__} as {seen[id(value)]}, and would come back as another")
    seen[id(value)] = at
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, dict) and not (type(key) is str if exact else isinstance(key, str)):
            raise _LostError(f"{at} has a key of type {type(key).__name__}, and JSON has text alone")
        _check(item, f"{at}[{key!r}]", seen, exact, depth + 1)

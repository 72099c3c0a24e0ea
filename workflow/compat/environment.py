"""`fastworkflow.get_env_var`: the variables that command code may ask for.

FastWorkflow keeps a few fixed words in its env file. A workflow must not break because that file is not there,
so they have their usual values here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

log = logging.getLogger(__name__)

NOT_FOUND = "NOT_FOUND"
"""The word for "no value was given"."""

_FIXED_WORDS = {
    "NOT_FOUND": NOT_FOUND,
    "INVALID": "INVALID",
    "MISSING_INFORMATION_ERRMSG": "Missing parameter values: ",
    "INVALID_INFORMATION_ERRMSG": "Invalid parameter values: ",
    "PARAMETER_EXTRACTION_ERROR_MSG": "Error in parameter extraction: {error}",
}
_SWITCHES = {"true": True, "1": True, "false": False, "0": False}

_given: dict[str, str] = {}


def init(env_vars: Mapping[str, str | None]) -> None:
    """Take these before the process's own environment. A variable without a value counts as not given."""
    _given.clear()
    _given.update({name: value for name, value in env_vars.items() if value is not None})


def get_env_var(var_name: str, var_type: type = str, default: Any = None) -> Any:
    value = _given.get(var_name)
    if value is None and default is not None:
        return default
    value = value if value is not None else os.environ.get(var_name, _FIXED_WORDS.get(var_name))
    if value is None:
        log.warning("a command asked for the variable %s, which is not set", var_name)
        return None
    try:
        return _SWITCHES[value.strip().lower()] if var_type is bool else var_type(value)
    except (KeyError, ValueError):
        # The value may be a secret, so it is not repeated.
        raise ValueError(f"{var_name} is set to something that is not a {var_type.__name__}") from None

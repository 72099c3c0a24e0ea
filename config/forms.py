"""The forms a configuration value can take: a sentence that says what is accepted, and the parser for it.

Pure but for `existing_folder` and `workflow_name`, which look at the file system. A parser returns the value or raises
`ValueError`; the text of that error is a detail for the reader, and may be empty.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import attrs

BUILT_IN_WORKFLOWS = ("demo", "conformance")

_HOST_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_MODULE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}(\.[A-Za-z][A-Za-z0-9_]{0,99}){0,20}")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SWITCH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


@attrs.frozen
class Form:
    accepted: str
    """Reads on after "it must be"."""
    parse: Callable[[str], Any]


def _whole_number(low: int, high: int | None) -> Callable[[str], int]:
    def parse(text: str) -> int:
        # int() alone would take "1_000" and digits of any script.
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            raise ValueError
        number = int(text)
        if number < low or (high is not None and number > high):
            raise ValueError
        return number

    return parse


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError from None
    # "nan" compares false with everything, so it needs its own question.
    if not math.isfinite(number) or number <= 0:
        raise ValueError
    return number


def _choice(*words: str) -> Form:
    def parse(text: str) -> str:
        word = text.lower()
        if word not in words:
            raise ValueError
        return word

    return Form(f"{', '.join(words[:-1])} or {words[-1]}", parse)


def _switch(text: str) -> bool:
    try:
        return _SWITCH[text.lower()]
    except KeyError:
        raise ValueError from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _json_object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"this is a JSON {_JSON_NAMES.get(type(value), 'null')}")
    return value


_JSON_NAMES: dict[type, str] = {list: "array", str: "string", int: "number", float: "number", bool: "boolean"}


def _action(text: str) -> Mapping[str, Any]:
    action = _json_object(text)
    name = action.get("command_name")
    if not isinstance(name, str) or not name.strip():
        raise ValueError("command_name is missing, empty or not a string")
    return action


def _path(text: str) -> Path:
    return Path(os.path.expanduser(text))


def _existing_folder(text: str) -> Path:
    path = _path(text)
    # Not Path.is_dir, which raises for a name that is too long or a parent that may not be read.
    if not os.path.isdir(path):
        raise ValueError("it is a file" if os.path.exists(path) else "there is nothing at that path")
    return path


def _workflow_name(text: str) -> str:
    if text in BUILT_IN_WORKFLOWS:
        return text
    path = _path(text)
    if os.path.isdir(path) or (os.path.isfile(path) and path.suffix == ".py"):
        return str(path)
    if os.path.exists(path):
        raise ValueError("it is a file, and its name does not end in .py")
    if not _is_module(text):
        raise ValueError("there is nothing at that path")
    return text


def _is_module(text: str) -> bool:
    """Whether the first part of a dotted name can be imported from here; what the rest is, the loader finds out."""
    first = text.partition(".")[0]
    # A module of Python's own is never meant: it is a folder that is not there.
    if not _MODULE_NAME.fullmatch(text) or first in sys.stdlib_module_names:
        return False
    if os.path.isfile(f"{first}.py") or os.path.isdir(first):
        return True
    try:
        return importlib.util.find_spec(first) is not None
    except (ImportError, ValueError):
        return False


def _host(text: str) -> str:
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        # Digits and dots that are no address would be looked up as a name, and fail much later.
        if not _HOST_NAME.fullmatch(text) or re.fullmatch(r"[0-9.]+", text):
            raise ValueError from None
    return text


def url_host(host: str) -> str:
    """`host` as it is written in a URL."""
    return f"[{host}]" if ":" in host else host


def _bare_url(text: str) -> tuple[SplitResult, str]:
    """A URL of a scheme, a host and perhaps a port, and nothing else; with its normal spelling."""
    # urlsplit silently drops tabs and newlines.
    if re.search(r"[\s\x00-\x20\x7f\\]", text):
        raise ValueError("it contains white space or a backslash")
    url = urlsplit(text)
    if url.path not in ("", "/") or "?" in text or "#" in text:
        raise ValueError("it has a path, a query or a fragment")
    if "@" in url.netloc:
        raise ValueError("it contains a user name")
    if not url.hostname or not _SCHEME.fullmatch(url.scheme):
        raise ValueError
    port = url.port
    shown_port = "" if port is None or port == _DEFAULT_PORTS.get(url.scheme) else f":{port}"
    return url, f"{url.scheme}://{url_host(url.hostname)}{shown_port}"


def _public_url(text: str) -> str:
    url, normal = _bare_url(text)
    if url.scheme not in _DEFAULT_PORTS:
        raise ValueError
    return normal


def _origins(text: str) -> tuple[str, ...]:
    """As browsers spell them in `Origin`: lower case, no default port, no slash; repetitions are dropped."""
    parts = [part.strip() for part in text.split(",")]
    return tuple(dict.fromkeys(_bare_url(part)[1] for part in parts if part))


TEXT = Form("a text", lambda text: text)
SWITCH = Form("true or false", _switch)
SECONDS = Form("a number of seconds greater than 0", _seconds)
MILLISECONDS = Form("a whole number of milliseconds, or 0", _whole_number(0, None))
DAYS = Form("a number of days greater than 0", _seconds)
COUNT = Form("a whole number of at least 1", _whole_number(1, None))
PORT = Form("a whole number from 0 to 65535 (0 takes any free port)", _whole_number(0, 65535))
HOST = Form("an IP address or a host name, without scheme or port", _host)
PUBLIC_URL = Form("an http or https URL with a host and no path, such as https://mcp.example.com", _public_url)
ORIGINS = Form("origins separated by commas, each scheme://host or scheme://host:port", _origins)
JSON_OBJECT = Form('a JSON object, such as {"customer": "42"}', _json_object)
ACTION = Form('a JSON object with a command_name, such as {"command_name": "list_orders"}', _action)
PATH = Form("a path", _path)
EXISTING_FOLDER = Form("an existing folder", _existing_folder)
WORKFLOW = Form(
    "an existing folder, a .py file, the name of a module, or one of the built-in names "
    f"{' and '.join(BUILT_IN_WORKFLOWS)}",
    _workflow_name,
)
LOG_LEVEL = _choice("debug", "info", "warning", "error", "critical")
LOG_FORMAT = _choice("auto", "json", "text")
HTTP_PATH = _choice("own", "stock")

"""Everything an operator can set, in one frozen class that is parsed once.

The fields of `Settings` are the table: each carries its variable, default, accepted form and meaning, and parsing,
`greenroom check` and the README are all made from it. Reading the sources is the business of `sources`, judging a
single value that of `forms`; what remains here is the table, the names nobody knows, and values that contradict one
another.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from greenroom.config import forms
from greenroom.config.problems import ConfigurationError
from greenroom.config.secret import Secret, sounds_secret
from greenroom.config.sources import Given, Origin, gather

__all__ = ["ROWS", "ConfigurationError", "Row", "Secret", "Settings", "load_settings"]

_OWN_PREFIX = "GREENROOM_"
_KEY_PREFIX, _PROXY_KEY = "LITELLM_API_KEY_", "LITELLM_PROXY_API_KEY"
_MODEL_PREFIX = "LLM_"


@attrs.frozen
class Row:
    """What is known of one variable (or family of variables) besides its value."""

    variable: str
    default: str
    form: forms.Form
    summary: str
    family: Callable[[str], bool] | None = None
    """For a family: which names belong to it."""


def _setting(variable: str, default: str | None, form: forms.Form, summary: str) -> Any:
    row = Row(variable, default or "", form, summary)
    if default is None:
        return attrs.field(default=None, metadata={"row": row})
    # Parsed anew for each instance: a default that is a mapping must not be shared.
    return attrs.field(factory=lambda: form.parse(default), metadata={"row": row})


def _derived(variable: str, shown: str, form: forms.Form, summary: str, default: Callable[[Any], Any]) -> Any:
    row = Row(variable, shown, form, summary)
    return attrs.field(default=attrs.Factory(default, takes_self=True), metadata={"row": row})


def _family(variables: str, form: forms.Form, summary: str, member: Callable[[str], bool]) -> Any:
    # Kept out of the repr: keys are masked anyway, but a model's variable may hold one by mistake.
    return attrs.field(factory=dict, repr=False, metadata={"row": Row(variables, "", form, summary, member)})


def _is_model(name: str) -> bool:
    return name.startswith(_MODEL_PREFIX)


def _is_key(name: str) -> bool:
    return name.startswith(_KEY_PREFIX) or name == _PROXY_KEY


def _admin_token(text: str) -> Secret:
    if not re.fullmatch(r"[!-~]{16,}", text):
        raise ValueError
    return Secret(text)


_ADMIN_TOKEN = forms.Form(
    "at least 16 characters that are letters, digits or ASCII signs, without spaces", _admin_token
)


@attrs.frozen(kw_only=True)
class Settings:
    # fmt: off
    workflow: str = _setting(
        "WORKFLOW_PATH", "demo", forms.WORKFLOW, "The workflow to serve.")
    env_file: Path | None = _setting(
        "ENV_FILE_PATH", None, forms.PATH, "A dotenv file with any of these variables.")
    passwords_file: Path | None = _setting(
        "PASSWORDS_FILE_PATH", None, forms.PATH, "A dotenv file for the secrets; it wins over the env file.")
    context: Mapping[str, Any] = _setting(
        "CONTEXT", "{}", forms.JSON_OBJECT, "What every session's workflow context starts with.")
    startup_command: str | None = _setting(
        "STARTUP_COMMAND", None, forms.TEXT, "A command, as text, that is every session's first turn.")
    startup_action: Mapping[str, Any] | None = _setting(
        "STARTUP_ACTION", None, forms.ACTION, "The same as an action; set one of the two.")
    project_folderpath: Path | None = _setting(
        "PROJECT_FOLDERPATH", None, forms.EXISTING_FOLDER, "The project that the workflow works on.")
    speeddict_foldername: Path = _setting(
        "SPEEDDICT_FOLDERNAME", ".greenroom", forms.PATH, "Where data is kept; made when needed.")
    user_conversations_foldername: Path = _derived(
        "USER_CONVERSATIONS_SPEEDDICT_FOLDERNAME", "<SPEEDDICT_FOLDERNAME>/user_conversations", forms.PATH,
        "Where conversations are kept; made when needed.",
        lambda self: self.speeddict_foldername / "user_conversations")
    llm_models: Mapping[str, str] = _family(
        "LLM_*", forms.TEXT, "The model for each role, such as `LLM_AGENT`.", _is_model)
    api_keys: Mapping[str, Secret] = _family(
        "LITELLM_API_KEY_*, LITELLM_PROXY_API_KEY", forms.Form("a text", Secret),
        "The key for each role's model. Never shown.", _is_key)
    llm_proxy_base: str | None = _setting(
        "LITELLM_PROXY_API_BASE", None, forms.TEXT, "Where `litellm_proxy/<model>` models are served.")
    show_agent_traces: bool = _setting(
        "SHOW_AGENT_TRACES", "true", forms.SWITCH, "Whether clients see what an agent does on the way.")
    host: str = _setting(
        "GREENROOM_HOST", "127.0.0.1", forms.HOST, "The address to listen on.")
    port: int = _setting(
        "GREENROOM_PORT", "8000", forms.PORT, "The port to listen on.")
    public_url: str = _derived(
        "GREENROOM_PUBLIC_URL", "http://<GREENROOM_HOST>:<GREENROOM_PORT>", forms.PUBLIC_URL,
        "The address that clients use; set it behind a proxy.",
        lambda self: f"http://{forms.url_host(self.host)}:{self.port}")
    allowed_origins: tuple[str, ...] = _setting(
        "GREENROOM_ALLOWED_ORIGINS", "", forms.ORIGINS, "Web pages, besides our own, whose scripts may call.")
    session_ttl: float = _setting(
        "GREENROOM_SESSION_TTL_SECONDS", "1800", forms.SECONDS, "How long an unused session is kept.")
    max_sessions: int = _setting(
        "GREENROOM_MAX_SESSIONS", "10000", forms.COUNT, "How many sessions may be open at once.")
    mailbox_size: int = _setting(
        "GREENROOM_MAILBOX_SIZE", "64", forms.COUNT, "How many messages may wait for one session.")
    worker_threads: int = _setting(
        "GREENROOM_WORKER_THREADS", "32", forms.COUNT, "How many commands may run at once in threads.")
    turn_timeout: float = _setting(
        "GREENROOM_TURN_TIMEOUT_SECONDS", "60", forms.SECONDS, "How long a turn may take unless a call says more.")
    max_turn_timeout: float = _setting(
        "GREENROOM_MAX_TURN_TIMEOUT_SECONDS", "600", forms.SECONDS, "The most that a call may ask for.")
    input_timeout: float = _setting(
        "GREENROOM_INPUT_TIMEOUT_SECONDS", "600", forms.SECONDS, "How long a turn waits for a user's answer.")
    sync_ms: int = _setting(
        "GREENROOM_SYNC_MS", "200", forms.MILLISECONDS,
        "How long a turn may wait before it is safe from a loss of power; 0 is before every answer.")
    handle_days: float = _setting(
        "GREENROOM_HANDLE_DAYS", "30", forms.DAYS, "How long an unused session can still be found again.")
    max_open_databases: int = _setting(
        "GREENROOM_MAX_OPEN_DATABASES", "64", forms.COUNT,
        "How many users' databases are kept open at once; each takes 6 descriptors and a quarter of a megabyte.")
    retention_days: float | None = _setting(
        "GREENROOM_RETENTION_DAYS", None, forms.DAYS,
        "How long a conversation is kept after its last turn; without it, for ever.")
    admin_token: Secret | None = _setting(
        "GREENROOM_ADMIN_TOKEN", None, _ADMIN_TOKEN,
        "Opens `/admin/`, and `/console`, `/metrics` and `/sessions` from elsewhere than loopback. Never shown.")
    body_limit: int = _setting(
        "GREENROOM_BODY_LIMIT_BYTES", "4194304", forms.COUNT, "The largest request body that is read.")
    drain_seconds: float = _setting(
        "GREENROOM_DRAIN_SECONDS", "10", forms.SECONDS, "How long running turns may go on after a stop signal.")
    log_level: str = _setting(
        "GREENROOM_LOG_LEVEL", "info", forms.LOG_LEVEL, "The least important kind of event that is logged.")
    log_format: str = _setting(
        "GREENROOM_LOG_FORMAT", "auto", forms.LOG_FORMAT, "auto is text on a terminal and json elsewhere.")
    http: str = _setting(
        "GREENROOM_HTTP", "own", forms.HTTP_PATH, "Who reads plain HTTP/1.1: our own connections, or Hypercorn's.")
    # fmt: on
    origins: Mapping[str, Origin] = attrs.field(factory=dict, repr=False, eq=False)
    """Where each variable that was given came from; one that is absent has its default."""
    variables: Mapping[str, str] = attrs.field(factory=dict, repr=False, eq=False)
    """Everything that the two files say, for the workflow's own code to look at. May hold secrets."""


ROWS: Mapping[str, Row] = {
    field.name: field.metadata["row"] for field in attrs.fields(Settings) if "row" in field.metadata
}
"""The table: field name to row, in the order of reading."""


def load_settings(environ: Mapping[str, str] | None = None, overrides: Mapping[str, str] | None = None) -> Settings:
    """Parse everything, or raise one `ConfigurationError` with every problem there is.

    `overrides` are keyed by variable like the environment, and win over it.
    """
    gathered = gather(os.environ if environ is None else environ, overrides or {})
    problems = [*gathered.problems, *_unknown_names(gathered.values)]
    values: dict[str, Any] = {}
    broken: set[str] = set()
    for field, row in ROWS.items():
        if row.family is not None:
            values[field] = {
                name: row.form.parse(given.text.strip()) for name, given in _members(row.family, gathered.values)
            }
        elif (given := gathered.values.get(row.variable)) is not None:
            try:
                values[field] = row.form.parse(given.text.strip())
            except ValueError as error:
                broken.add(field)
                problems.append(_complaint(row, given, str(error)))
    settings = Settings(**values, origins=_origins_of(gathered.values), variables=_from_files(gathered.values))
    problems += [sentence for fields, sentence in _contradictions(settings) if broken.isdisjoint(fields)]
    if problems:
        raise ConfigurationError(problems)
    return settings


def _members(family: Callable[[str], bool], values: Mapping[str, Given]) -> list[tuple[str, Given]]:
    return [(name, values[name]) for name in sorted(values) if family(name)]


def _origins_of(values: Mapping[str, Given]) -> dict[str, Origin]:
    """Of our own variables only: the rest of the environment is nobody's business here."""
    own = {row.variable for row in ROWS.values()}
    return {name: given.origin for name, given in values.items() if name in own or _is_model(name) or _is_key(name)}


def _from_files(values: Mapping[str, Given]) -> dict[str, str]:
    files = (Origin.ENV_FILE, Origin.PASSWORDS_FILE)
    return {name: given.text for name, given in values.items() if given.origin in files}


def _complaint(row: Row, given: Given, detail: str) -> str:
    if sounds_secret(row.variable):
        # Neither the value nor the parser's words about it: both may quote a secret.
        return f"{row.variable} is set (from {given.origin.value}), but it must be {row.form.accepted}."
    given_as = f"{_cut(given.text)!r} (from {given.origin.value})"
    because = f" ({_cut(detail)})" if detail else ""
    return f"{row.variable} is {given_as}, but it must be {row.form.accepted}{because}."


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def _unknown_names(given: Iterable[str]) -> list[str]:
    known = [row.variable for row in ROWS.values()]
    return [
        f"{name} is not a variable that Greenroom knows{_suggestion(name, known)}."
        for name in sorted(given)
        if name.startswith(_OWN_PREFIX) and name not in known
    ]


def _suggestion(name: str, known: list[str]) -> str:
    bare = name.removeprefix(_OWN_PREFIX)
    nearest = [bare] if bare in known else difflib.get_close_matches(name.upper(), known, n=1)
    return f": did you mean {nearest[0]}? If not, unset it" if nearest else ": unset it"


def _contradictions(settings: Settings) -> Iterable[tuple[tuple[str, ...], str]]:
    """Values that are fine each but not together, with the fields that are involved."""
    if settings.startup_command is not None and settings.startup_action is not None:
        yield (
            ("startup_command", "startup_action"),
            "STARTUP_COMMAND and STARTUP_ACTION are both set, but a session has one first turn: unset one of them.",
        )
    if settings.max_turn_timeout < settings.turn_timeout:
        yield (
            ("max_turn_timeout", "turn_timeout"),
            f"GREENROOM_MAX_TURN_TIMEOUT_SECONDS is {settings.max_turn_timeout:g}, but it must be at least "
            f"GREENROOM_TURN_TIMEOUT_SECONDS, which is {settings.turn_timeout:g}: raise the first or lower the second.",
        )

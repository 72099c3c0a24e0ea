"""What an operator may write, what wins, what is refused, and what is never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from greenroom.config.describe import configuration_table, describe
from greenroom.config.problems import ConfigurationError
from greenroom.config.secret import Secret
from greenroom.config.settings import ROWS, Settings, load_settings
from greenroom.config.sources import Origin

README = Path(__file__).parents[2] / "README.md"


def problems_of(environ: dict[str, str], overrides: dict[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(environ, overrides)
    return caught.value.problems


def line_of(settings: Settings, variable: str) -> str:
    (line,) = [line for line in describe(settings).splitlines() if line.split()[0] == variable]
    return " ".join(line.split())


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    assert attrs.asdict(load_settings({})) == {
        "workflow": "demo",
        "env_file": None,
        "passwords_file": None,
        "context": {},
        "startup_command": None,
        "startup_action": None,
        "project_folderpath": None,
        "speeddict_foldername": Path(".greenroom"),
        "user_conversations_foldername": Path(".greenroom/user_conversations"),
        "llm_models": {},
        "api_keys": {},
        "llm_proxy_base": None,
        "show_agent_traces": True,
        "host": "127.0.0.1",
        "port": 8000,
        "public_url": "http://127.0.0.1:8000",
        "allowed_origins": (),
        "session_ttl": 1800.0,
        "max_sessions": 10000,
        "mailbox_size": 64,
        "worker_threads": 32,
        "turn_timeout": 60.0,
        "max_turn_timeout": 600.0,
        "input_timeout": 600.0,
        "sync_ms": 200,
        "handle_days": 30.0,
        "max_open_databases": 64,
        "retention_days": None,
        "admin_token": None,
        "body_limit": 4194304,
        "drain_seconds": 10.0,
        "log_level": "info",
        "http": "own",
        "log_format": "auto",
        "origins": {},
        "variables": {},
    }


def test_settings_made_in_code_have_the_same_defaults_as_parsed_ones() -> None:
    assert Settings() == load_settings({})


def test_the_default_context_is_not_shared_between_settings() -> None:
    assert Settings().context is not Settings().context


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("WORKFLOW_PATH", "conformance", "workflow", "conformance"),
        ("WORKFLOW_PATH", "/", "workflow", "/"),
        ("CONTEXT", '{"a": [1, null]}', "context", {"a": [1, None]}),
        ("STARTUP_COMMAND", "say hello", "startup_command", "say hello"),
        ("STARTUP_ACTION", '{"command_name": "go"}', "startup_action", {"command_name": "go"}),
        ("PROJECT_FOLDERPATH", "/", "project_folderpath", Path("/")),
        ("SPEEDDICT_FOLDERNAME", "/not/there/yet", "speeddict_foldername", Path("/not/there/yet")),
        ("SPEEDDICT_FOLDERNAME", "/d", "user_conversations_foldername", Path("/d/user_conversations")),
        ("USER_CONVERSATIONS_SPEEDDICT_FOLDERNAME", "/c", "user_conversations_foldername", Path("/c")),
        ("SHOW_AGENT_TRACES", "False", "show_agent_traces", False),
        ("SHOW_AGENT_TRACES", "on", "show_agent_traces", True),
        ("GREENROOM_HOST", "0.0.0.0", "host", "0.0.0.0"),
        ("GREENROOM_HOST", "[::1]", "host", "::1"),
        ("GREENROOM_HOST", "::1", "public_url", "http://[::1]:8000"),
        ("GREENROOM_HOST", "localhost", "public_url", "http://localhost:8000"),
        ("GREENROOM_PORT", "0", "port", 0),
        ("GREENROOM_PORT", " 65535 ", "port", 65535),
        ("GREENROOM_PUBLIC_URL", "https://MCP.example.com/", "public_url", "https://mcp.example.com"),
        ("GREENROOM_PUBLIC_URL", "https://mcp.example.com:8443", "public_url", "https://mcp.example.com:8443"),
        ("GREENROOM_ALLOWED_ORIGINS", "https://a.example", "allowed_origins", ("https://a.example",)),
        (
            "GREENROOM_ALLOWED_ORIGINS",
            "https://A.example:443/, http://b.example:81,,https://a.example, vscode-webview://x",
            "allowed_origins",
            ("https://a.example", "http://b.example:81", "vscode-webview://x"),
        ),
        ("GREENROOM_TURN_TIMEOUT_SECONDS", "0.5", "turn_timeout", 0.5),
        ("GREENROOM_MAX_SESSIONS", "1", "max_sessions", 1),
        ("GREENROOM_LOG_LEVEL", "DEBUG", "log_level", "debug"),
        ("GREENROOM_LOG_FORMAT", "json", "log_format", "json"),
    ],
)
def test_a_variable_is_parsed_into_its_field(variable: str, text: str, field: str, value: Any) -> None:
    assert getattr(load_settings({variable: text}), field) == value


REFUSED = [
    ("WORKFLOW_PATH", "/no/such/folder", "or one of the built-in names demo and conformance"),
    ("WORKFLOW_PATH", "no_such_module", "a .py file, the name of a module"),
    ("WORKFLOW_PATH", "json", "there is nothing at that path"),
    ("WORKFLOW_PATH", "/dev/null", "(it is a file, and its name does not end in .py)"),
    ("WORKFLOW_PATH", "x" * 9999, "there is nothing at that path"),
    ("CONTEXT", "{oops", "it must be a JSON object"),
    ("CONTEXT", "[1]", "(this is a JSON array)"),
    ("CONTEXT", "null", "(this is a JSON null)"),
    ("CONTEXT", '{"a": NaN}', "NaN is not JSON"),
    ("CONTEXT", "[" * 100_000, "nested too deeply"),
    ("STARTUP_ACTION", "{}", "command_name is missing"),
    ("STARTUP_ACTION", '{"command_name": 7}', "a JSON object with a command_name"),
    ("STARTUP_ACTION", "go", "a JSON object with a command_name"),
    ("PROJECT_FOLDERPATH", "/no/such/folder", "an existing folder (there is nothing at that path)"),
    ("SHOW_AGENT_TRACES", "maybe", "true or false"),
    ("GREENROOM_HOST", "http://localhost", "without scheme or port"),
    ("GREENROOM_HOST", "localhost:80", "without scheme or port"),
    ("GREENROOM_HOST", "127.0.0.256", "an IP address or a host name"),
    ("GREENROOM_PORT", "eighty", "a whole number from 0 to 65535"),
    ("GREENROOM_PORT", "-1", "a whole number from 0 to 65535"),
    ("GREENROOM_PORT", "65536", "a whole number from 0 to 65535"),
    ("GREENROOM_PORT", "8_000", "a whole number from 0 to 65535"),
    ("GREENROOM_PUBLIC_URL", "mcp.example.com", "an http or https URL"),
    ("GREENROOM_PUBLIC_URL", "ftp://mcp.example.com", "an http or https URL"),
    ("GREENROOM_PUBLIC_URL", "https://", "an http or https URL"),
    ("GREENROOM_PUBLIC_URL", "https://:8000", "an http or https URL"),
    ("GREENROOM_PUBLIC_URL", "https://mcp.example.com/mcp", "it has a path, a query or a fragment"),
    ("GREENROOM_PUBLIC_URL", "https://mcp.example.com?", "it has a path, a query or a fragment"),
    ("GREENROOM_PUBLIC_URL", "https://me@mcp.example.com", "it contains a user name"),
    ("GREENROOM_PUBLIC_URL", "https://mcp.example.com:port", "an http or https URL"),
    ("GREENROOM_PUBLIC_URL", "https://mcp.example.com:" + "p" * 9999, "an http or https URL"),
    ("GREENROOM_PUBLIC_URL", "https://mcp.exam\tple.com", "white space"),
    ("GREENROOM_ALLOWED_ORIGINS", "*", "scheme://host or scheme://host:port"),
    ("GREENROOM_ALLOWED_ORIGINS", "null", "scheme://host or scheme://host:port"),
    ("GREENROOM_ALLOWED_ORIGINS", "https://a.example,b.example", "scheme://host or scheme://host:port"),
    ("GREENROOM_ALLOWED_ORIGINS", "https://a.example/page", "it has a path"),
    *(
        (row.variable, text, "a number of seconds greater than 0")
        for row in ROWS.values()
        if row.variable.endswith("_SECONDS")
        for text in ("0", "-1", "nan", "inf", "soon")
    ),
    *(
        (row.variable, text, "a whole number of at least 1")
        for row in ROWS.values()
        if row.form.accepted.startswith("a whole number of at least")
        for text in ("0", "-1", "1.5", "many", "9" * 5000)
    ),
    ("GREENROOM_LOG_LEVEL", "loud", "debug, info, warning, error or critical"),
    ("GREENROOM_LOG_FORMAT", "xml", "auto, json or text"),
]


@pytest.mark.parametrize(("variable", "text", "accepted"), REFUSED)
def test_a_bad_value_is_refused_with_its_variable_and_what_is_accepted(variable: str, text: str, accepted: str) -> None:
    (problem,) = problems_of({variable: text})
    assert problem.startswith(f"{variable} is {text[:20]!r}"[:-1])
    assert "(from environment)" in problem
    assert accepted in problem
    assert len(problem) < 400  # a long value is cut


def test_all_problems_are_reported_together_in_one_message() -> None:
    environ = {"GREENROOM_PORT": "x", "CONTEXT": "x", "GREENROOM_PROT": "1", "ENV_FILE_PATH": "/no/file"}
    with pytest.raises(ConfigurationError) as caught:
        load_settings(environ)
    assert len(caught.value.problems) == 4
    assert str(caught.value).splitlines()[0] == "Greenroom cannot start: its configuration has 4 problems."
    assert all(variable in str(caught.value) for variable in environ)


def test_a_single_problem_is_announced_in_the_singular() -> None:
    assert str(ConfigurationError("Mend it.")).splitlines() == [
        "Greenroom cannot start: there is a problem with its configuration.",
        "  - Mend it.",
    ]


@pytest.mark.parametrize(
    ("unknown", "advice"),
    [
        ("GREENROOM_PROT", "did you mean GREENROOM_PORT?"),
        ("GREENROOM_SESSION_TTL", "did you mean GREENROOM_SESSION_TTL_SECONDS?"),
        ("GREENROOM_WORKFLOW_PATH", "did you mean WORKFLOW_PATH?"),
        ("GREENROOM_QQQQQQQQQQQQQQQQQQQQQQQQQQQ", ": unset it."),
    ],
)
def test_an_unknown_variable_of_ours_is_refused_with_the_nearest_known_name(unknown: str, advice: str) -> None:
    (problem,) = problems_of({unknown: "1"})
    assert unknown in problem
    assert advice in problem


def test_variables_of_others_are_ignored_and_forgotten() -> None:
    settings = load_settings({"PATH": "/bin", "HOST": "nonsense", "PORT": "nonsense"})
    assert settings == Settings()
    assert settings.origins == {}


def test_two_startups_contradict_each_other() -> None:
    (problem,) = problems_of({"STARTUP_COMMAND": "go", "STARTUP_ACTION": '{"command_name": "go"}'})
    assert "unset one of them" in problem


@pytest.mark.parametrize(
    "environ",
    [{"GREENROOM_TURN_TIMEOUT_SECONDS": "601"}, {"GREENROOM_MAX_TURN_TIMEOUT_SECONDS": "59.5"}],
)
def test_the_turn_timeout_may_not_exceed_its_maximum(environ: dict[str, str]) -> None:
    (problem,) = problems_of(environ)
    assert "GREENROOM_MAX_TURN_TIMEOUT_SECONDS" in problem
    assert "raise the first or lower the second" in problem


def test_a_broken_value_is_not_also_reported_as_a_contradiction() -> None:
    environ = {"GREENROOM_TURN_TIMEOUT_SECONDS": "soon", "GREENROOM_MAX_TURN_TIMEOUT_SECONDS": "1"}
    (problem,) = problems_of(environ)
    assert problem.startswith("GREENROOM_TURN_TIMEOUT_SECONDS")


def test_each_source_wins_over_the_weaker_ones(tmp_path: Path) -> None:
    env_file, passwords_file = tmp_path / "a.env", tmp_path / "b.env"
    names = ["LLM_A", "LLM_B", "LLM_C", "LLM_D"]
    env_file.write_text("\n".join(f"{name}=env file" for name in names))
    passwords_file.write_text("\n".join(f"{name}=passwords file" for name in names[1:]))
    environ = dict.fromkeys(names[2:], "environment")
    environ |= {"ENV_FILE_PATH": str(env_file), "PASSWORDS_FILE_PATH": str(passwords_file)}

    settings = load_settings(environ, {"LLM_D": "command line"})

    assert settings.llm_models == {
        "LLM_A": "env file",
        "LLM_B": "passwords file",
        "LLM_C": "environment",
        "LLM_D": "command line",
    }
    assert {name: settings.origins[name].value for name in names} == settings.llm_models
    assert (settings.env_file, settings.passwords_file) == (env_file, passwords_file)


def test_the_env_file_may_name_the_passwords_file(tmp_path: Path) -> None:
    (tmp_path / "passwords.env").write_text("LITELLM_API_KEY_AGENT=k")
    (tmp_path / "base.env").write_text(f"PASSWORDS_FILE_PATH={tmp_path / 'passwords.env'}")
    settings = load_settings({"ENV_FILE_PATH": str(tmp_path / "base.env")})
    assert settings.api_keys == {"LITELLM_API_KEY_AGENT": Secret("k")}
    assert settings.origins["LITELLM_API_KEY_AGENT"] is Origin.PASSWORDS_FILE


@pytest.mark.parametrize("variable", ["ENV_FILE_PATH", "PASSWORDS_FILE_PATH"])
def test_a_file_that_is_named_must_be_there(variable: str, tmp_path: Path) -> None:
    for path in (tmp_path / "absent.env", tmp_path, tmp_path / ("x" * 999)):
        (problem,) = problems_of({variable: str(path)})
        assert problem.startswith(variable)
        assert "there is no such file" in problem


def test_a_file_that_is_not_text_is_a_problem_and_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "a.env"
    path.write_bytes(b"LLM_A=\xff\xfe")
    (problem,) = problems_of({"ENV_FILE_PATH": str(path)})
    assert "cannot be read" in problem


def test_an_unknown_variable_in_a_file_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "a.env"
    path.write_text("GREENROOM_PROT=1")
    (problem,) = problems_of({"ENV_FILE_PATH": str(path)})
    assert "did you mean GREENROOM_PORT?" in problem


def test_an_empty_value_means_the_default_and_hides_weaker_sources(tmp_path: Path) -> None:
    path = tmp_path / "a.env"
    path.write_text("GREENROOM_PORT=9000\nSTARTUP_COMMAND\nCONTEXT=\n")
    settings = load_settings({"ENV_FILE_PATH": str(path), "GREENROOM_PORT": " "})
    assert (settings.port, settings.startup_command, settings.context) == (8000, None, {})
    assert "GREENROOM_PORT" not in settings.origins


def test_models_and_keys_are_collected_by_their_names() -> None:
    settings = load_settings(
        {
            "LLM_AGENT": "openai/gpt",
            "LITELLM_API_KEY_AGENT": "s1",
            "LITELLM_PROXY_API_KEY": "s2",
            "LITELLM_LOG": "x",
            "LLM_EMPTY": "",
        }
    )
    assert settings.llm_models == {"LLM_AGENT": "openai/gpt"}
    assert {name: key.reveal() for name, key in settings.api_keys.items()} == {
        "LITELLM_API_KEY_AGENT": "s1",
        "LITELLM_PROXY_API_KEY": "s2",
    }


@pytest.mark.parametrize("variable", ["LITELLM_API_KEY_AGENT", "LITELLM_PROXY_API_KEY", "LLM_API_KEY", "LLM_TOKEN"])
def test_a_secret_is_shown_neither_by_repr_nor_by_describe(variable: str) -> None:
    settings = load_settings({variable: "hush-hush"})
    assert "hush" not in repr(settings) + str(settings) + describe(settings)
    assert line_of(settings, variable) == f"{variable} *** (from environment)"


def test_a_secret_looks_the_same_whatever_its_length() -> None:
    assert {f"{Secret(text)} {Secret(text)!r}" for text in ("", "a", "a" * 99)} == {"*** ***"}


def test_secrets_compare_by_value() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1


def test_describe_says_for_each_variable_its_value_and_its_origin(tmp_path: Path) -> None:
    path = tmp_path / "a.env"
    path.write_text('CONTEXT={"a": 1}\nSTARTUP_COMMAND="one\\ntwo"')
    environ = {"ENV_FILE_PATH": str(path), "GREENROOM_DRAIN_SECONDS": "2.5", "GREENROOM_ALLOWED_ORIGINS": "a://b,c://d"}
    settings = load_settings(environ, {"GREENROOM_PORT": "0"})
    for line in [
        'CONTEXT {"a": 1} (from env file)',
        'STARTUP_COMMAND "one\\ntwo" (from env file)',
        "GREENROOM_DRAIN_SECONDS 2.5 (from environment)",
        "GREENROOM_ALLOWED_ORIGINS a://b,c://d (from environment)",
        "GREENROOM_PORT 0 (from command line)",
        "GREENROOM_SESSION_TTL_SECONDS 1800 (from default)",
        "SHOW_AGENT_TRACES true (from default)",
        "STARTUP_ACTION - (from default)",
    ]:
        assert line_of(settings, line.split()[0]) == line


def test_describe_aligns_its_columns() -> None:
    lines = describe(load_settings({})).splitlines()
    assert len({line.index("(from ") for line in lines}) == 1
    assert len(lines) == len([row for row in ROWS.values() if row.family is None])


def test_the_table_in_the_readme_is_the_table_in_the_code() -> None:
    assert configuration_table() in README.read_text(encoding="utf-8"), (
        "Paste into README.md what this prints: "
        "python -c 'from greenroom.config.describe import configuration_table; print(configuration_table())'"
    )

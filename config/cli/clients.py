"""The arguments of the commands that talk to a server, or tell other programs where it is."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from greenroom.config import forms
from greenroom.config.cli.building import Parser, add_command, of_form
from greenroom.config.cli.values import Call, Chat, Install

if TYPE_CHECKING:
    from greenroom.config.cli.building import Commands

CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode")

_URL_HELP = "where the server's MCP endpoint is, such as http://127.0.0.1:8000/mcp"


def add_to(commands: Commands) -> None:
    _add_call(commands)
    _add_chat(commands)
    _add_install(commands)


def _add_call(commands: Commands) -> None:
    call = add_command(
        commands,
        "call",
        _call,
        "Call a tool of any MCP server, with its progress on screen. Without a tool, list them. The exit code is 1 if "
        "the tool answers with an error, 2 for a mistake in the command and 3 if there is no such server.",
        "greenroom call http://127.0.0.1:8000/mcp countdown steps=3 seconds=1",
    )
    call.add_argument("url", metavar="URL", type=_url, help=_URL_HELP)
    call.add_argument("tool", metavar="TOOL", nargs="?", help="the tool to call")
    call.add_argument("pairs", metavar="KEY=VALUE", nargs="*", help="its arguments; read as the tool's schema has them")
    call.add_argument("--json", dest="arguments", metavar="OBJECT", type=_object, help="all arguments as a JSON object")
    call.add_argument("--raw", action="store_true", help="print the result as JSON and nothing else")
    call.add_argument("--timeout", metavar="SECONDS", type=of_form(forms.SECONDS), help="how long to wait for it")
    _add_connecting(call)


def _add_chat(commands: Commands) -> None:
    chat = add_command(
        commands,
        "chat",
        lambda given: Chat(**{**given, "headers": tuple(given["headers"])}),
        "Talk to a running server in the terminal, and see what it does while it does it. /help tells the rest.",
        "greenroom chat http://127.0.0.1:8000/mcp --user alice",
    )
    chat.add_argument("url", metavar="URL", nargs="?", type=_url, help=f"{_URL_HELP} (default: as configured)")
    chat.add_argument("--user", metavar="USER_ID", help="whose session it is")
    chat.add_argument("--assistant", action="store_true", help="one command per sentence, without planning")
    _add_connecting(chat)


def _add_install(commands: Commands) -> None:
    install = add_command(
        commands,
        "install",
        lambda given: Install(**given),
        "Tell an AI client where the server is, in the client's own configuration file.",
        "greenroom install claude-desktop --dry-run",
    )
    install.add_argument("client", metavar="CLIENT", choices=CLIENTS, help=f"one of {', '.join(CLIENTS)}")
    install.add_argument("--name", type=_name, default="greenroom", help="what the client calls the server")
    install.add_argument("--url", type=_url, help=f"{_URL_HELP} (default: as configured)")
    install.add_argument("--file", metavar="FILE", type=Path, help="the configuration file, if it is somewhere else")
    install.add_argument("--dry-run", action="store_true", help="print what the file would be, and change nothing")
    install.add_argument("--force", action="store_true", help="replace an entry of the same name")


def _add_connecting(parser: Parser) -> None:
    parser.add_argument("--legacy", action="store_true", help="speak MCP 2025-11-25, as older clients do")
    parser.add_argument(
        "--header",
        dest="headers",
        metavar="NAME:VALUE",
        type=_header,
        action="append",
        default=[],
        help="a header for every request, such as 'Authorization: Bearer ...'; may be repeated",
    )


def _call(given: dict[str, Any]) -> Call:
    # The words are told apart here: with flags between them argparse cannot say which of them are pairs.
    pairs = tuple(_pair(text) for text in given["pairs"] or ())
    if pairs and given["arguments"] is not None:
        raise argparse.ArgumentTypeError("give the arguments either as KEY=VALUE or with --json")
    if given["tool"] is None and given["arguments"] is not None:
        raise argparse.ArgumentTypeError("say which TOOL the arguments are for")
    return Call(**{**given, "pairs": pairs, "headers": tuple(given["headers"])})


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def _object(text: str) -> Any:
    try:
        return forms.JSON_OBJECT.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not {forms.JSON_OBJECT.accepted} ({error})") from None


def _url(text: str) -> str:
    try:
        url = urlsplit(text)
        good = url.scheme in ("http", "https") and bool(url.hostname) and (url.port or 1) > 0
    except ValueError:
        good = False
    if not good or re.search(r"[\s\x00-\x20\x7f]", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an http or https URL, such as http://127.0.0.1:8000/mcp")
    return text


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not re.fullmatch(r"[ -~]*", value):
        # The value may be a secret, and usage errors end up in logs.
        raise argparse.ArgumentTypeError("a header is written NAME:VALUE, in ASCII characters")
    return name, value.strip()


def _name(text: str) -> str:
    # What all four clients take as a name, and prefix the tools with.
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a name of letters, digits, - and _")
    return text

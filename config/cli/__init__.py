"""The command line: arguments in, a frozen value out. It reads nothing else and starts nothing.

`values` are the commands as values, `parser` makes them from arguments, and the modules beside it describe each
command's arguments. What a command does is the business of `greenroom.commands`.
"""

from greenroom.config.cli.parser import make_parser, parse
from greenroom.config.cli.values import (
    Administration,
    Call,
    Chat,
    Check,
    Command,
    Dev,
    Doctor,
    Export,
    Forget,
    Import,
    Install,
    New,
    Purge,
    Serve,
    Version,
)

__all__ = [
    "Administration",
    "Call",
    "Chat",
    "Check",
    "Command",
    "Dev",
    "Doctor",
    "Export",
    "Forget",
    "Import",
    "Install",
    "New",
    "Purge",
    "Serve",
    "Version",
    "make_parser",
    "parse",
]

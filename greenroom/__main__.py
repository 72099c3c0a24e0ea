"""The composition root: what `greenroom` on the command line and `python -m greenroom` run.

The commands are imported inside the function, so that help and a mistake are answered at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from greenroom.commands.codes import FAILED, INTERRUPTED, MISTAKE
from greenroom.commands.versions import versions
from greenroom.config.cli import Call, Chat, Check, Command, Dev, Install, New, Serve, Version, parse
from greenroom.config.problems import ConfigurationError


def main(argv: Sequence[str] | None = None) -> int:
    command = parse(sys.argv[1:] if argv is None else argv, version=versions)
    try:
        return _run(command)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return MISTAKE
    except BrokenPipeError:
        # Whoever read our output has had enough. Python would complain when it closes it at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(command: Command) -> int:
    match command:
        case Serve(overrides):
            from greenroom.commands.serving import serve

            return serve(overrides)
        case Check(overrides):
            from greenroom.commands.serving import check

            return check(overrides)
        case Dev(overrides):
            from greenroom.commands.developing import develop

            return develop(overrides)
        case New():
            from greenroom.commands.scaffolding import scaffold

            return scaffold(command)
        case Call():
            from greenroom.commands.calling import call

            return call(command)
        case Chat():
            from greenroom.commands.chatting import chat

            return chat(command)
        case Install():
            from greenroom.commands.installing import install

            return install(command)
        case Version():
            print(versions())
            return 0
        case _:
            from greenroom.commands.keeping import administer
            from greenroom.config.settings import load_settings

            return administer(load_settings().user_conversations_foldername, command)


if __name__ == "__main__":
    sys.exit(main())

"""The composition root: what `greenroom` on the command line and `python -m greenroom` run.

The upper layers are imported inside the functions, so that help and a bad configuration answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from greenroom import __version__
from greenroom.config.cli import Check, Serve, parse
from greenroom.config.describe import describe
from greenroom.config.problems import ConfigurationError
from greenroom.config.settings import Settings, load_settings

BAD_CONFIGURATION = 2


def main(argv: Sequence[str] | None = None) -> int:
    command = parse(sys.argv[1:] if argv is None else argv, version=__version__)
    try:
        settings = load_settings(overrides=command.overrides)
        match command:
            case Check():
                return _check(settings)
            case Serve():
                return _serve(settings)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return BAD_CONFIGURATION


def _check(settings: Settings) -> int:
    from greenroom.workflow.catalog import find_workflow

    print(describe(settings))
    find_workflow(settings)
    print(f"\nThe configuration is good and the workflow {settings.workflow!r} can be loaded.")
    return 0


def _serve(settings: Settings) -> int:
    from greenroom.transport.serving import serve

    return serve(settings)


if __name__ == "__main__":
    sys.exit(main())

"""The server that `dev` starts: `serve`, and it ends when whoever started it is gone.

Its standard input is a pipe that nobody writes to. The kernel closes it with the process at its other end, however
that one ends, so no server is ever left behind.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from greenroom.__main__ import main


def _end_with_the_pipe() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_pipe, daemon=True).start()
    sys.exit(main(["serve", *sys.argv[1:]]))

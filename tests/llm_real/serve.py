"""A model behind the chat completions API on loopback: `python serve.py <model.gguf> <port> <name>`.

Runs in the virtual environment that `install` makes, not in the project's; knows nothing of the project.
"""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any

CONTEXT_TOKENS = 8192
THREADS = 1
"""The machine has other things to do, and the time that a task takes should not depend on how many cores it has."""


def serve(model: str, port: int, name: str) -> Any:
    llama: Any = importlib.import_module("xllamacpp")
    parameters = llama.CommonParams()
    parameters.model.path = model
    # A text in some versions and a collection of texts in others.
    kind = type(parameters.model_alias)
    parameters.model_alias = name if kind is str else kind([name])
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.offline = True
    parameters.use_jinja = True
    parameters.n_ctx = CONTEXT_TOKENS
    # One conversation at a time: what two tasks have in common, the whole list of commands, is then read only once.
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = THREADS
    parameters.cpuparams_batch.n_threads = THREADS
    parameters.verbosity = 0
    return llama.Server(parameters)


if __name__ == "__main__":
    server = serve(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    print("ready", server.listening_address, flush=True)
    threading.Event().wait()

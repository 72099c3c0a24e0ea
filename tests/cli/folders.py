"""The workflow that these tests run: a command that waits until a file is there, and two quick ones."""

from __future__ import annotations

from pathlib import Path

from tests.engine.folders import command, write

GATE = "CLI_TEST_GATE"
"""The variable that names the file."""

_WAIT = """
workflow.report_progress(1, 2, "half way")
while not os.path.exists(os.environ["CLI_TEST_GATE"]):
    await trio.sleep(0.01)
return "the gate is open"
"""


def gated(folder: Path) -> Path:
    return write(
        folder / "gated",
        {
            "workflow_description.txt": "Waits at a gate.",
            "_commands/wait.py": command(_WAIT, imports="import os, trio", call="async def"),
            "_commands/hello.py": command('return "hello there"'),
            "_commands/echo.py": command("return p.text", fields="text: str = Field(description='What to say')"),
            "_commands/rude.py": command(r'return "\x1b[2Jwiped\x07"'),
        },
    )

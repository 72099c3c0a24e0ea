"""MCP Inspector's command line, in one of its three protocol eras.

Two runs, as a person would: tools/list, then tools/call with a progress token in the call's metadata. The CLI
prints the result only, so the progress counted here is what reached its process (see fetch_tap.mjs); it does
not say that the Inspector shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.clients.report import ARGUMENTS, TOOL, Report

PACKAGE = Path("node_modules/@modelcontextprotocol/inspector")


def inspect(command: list[str], env: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)  # its own last word is on stderr already
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return result


def probe(url: str, era: str, node: str, home: Path) -> Report:
    tap = Path(tempfile.mkdtemp()) / "tap.jsonl"
    tap.touch()
    base = [
        *(node, "--import", str(home / "fetch_tap.mjs")),
        *(str(home / PACKAGE / "clients/launcher/build/index.js"), "--cli", url),
        *("--transport", "http", "--protocol-era", era, "--format", "json", "--stored-auth-only"),
    ]
    env = {**os.environ, "FETCH_TAP": str(tap)}
    listed = inspect([*base, "--method", "tools/list"], env)
    arguments = ["--tool-name", TOOL, "--tool-args-json", json.dumps(ARGUMENTS)]
    called = inspect([*base, "--method", "tools/call", *arguments, "--tool-metadata", "progressToken=greenroom"], env)

    streams: list[dict[str, Any]] = [json.loads(line) for line in tap.read_text().splitlines()]
    nothing: dict[str, Any] = {"protocol": None, "progress": 0, "lead": 0.0}
    seen = next((stream for stream in streams if stream["method"] == "tools/call"), nothing)
    version = json.loads((home / PACKAGE / "package.json").read_text())["version"]
    text = " ".join(block.get("text", "") for block in called["content"])
    tools = [tool["name"] for tool in listed["tools"]]
    return Report(version, seen["protocol"], tools, seen["progress"], seen["lead"], text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--era", choices=("legacy", "auto", "modern"), required=True)
    parser.add_argument("--node", required=True)
    parser.add_argument("--home", type=Path, required=True, help="the directory that holds node_modules")
    args = parser.parse_args()
    probe(args.url, args.era, args.node, args.home).emit()


if __name__ == "__main__":
    main()

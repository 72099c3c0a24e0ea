"""Imports point downwards only, and one package alone knows the MCP SDK."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("transport", "actors", "workflow", "persistence", "config")
"""From the top down."""

SDK_HOME = ROOT / "transport" / "mcp"


def sources(folder: Path) -> Iterator[Path]:
    return folder.rglob("*.py")


def imported(source: Path) -> set[str]:
    """Every module that a file imports, anywhere in it, relative imports included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=aliases):
                names.update(alias.name for alias in aliases)
            case ast.ImportFrom(module=module, level=0, names=aliases) if module:
                names.add(module)
                names.update(f"{module}.{alias.name}" for alias in aliases)
            case ast.ImportFrom():
                names.add("a relative import")
    return names


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_itself_and_what_lies_below(layer: str) -> None:
    allowed = LAYERS[LAYERS.index(layer) :]
    found = list(sources(ROOT / layer))
    assert found
    for source in found:
        for name in imported(source):
            if name.startswith("greenroom."):
                part = name.split(".")[1]
                assert part in (*allowed, "__version__"), f"{source.relative_to(ROOT)} imports {name}"
            assert name.split(".")[0] not in LAYERS, f"{source.relative_to(ROOT)} imports bare {name}"
            assert name != "a relative import", source


def test_only_one_package_imports_the_mcp_sdk() -> None:
    users = {
        source
        for layer in LAYERS
        for source in sources(ROOT / layer)
        if any(name.split(".")[0] in ("mcp", "mcp_types") for name in imported(source))
    }
    assert users, "nobody imports the SDK: is this test looking in the right place?"
    assert {source for source in users if SDK_HOME not in source.parents} == set()


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("actors/core.py", {"trio", "quart", "time", "logging"}),
        ("actors/messages.py", {"trio", "quart"}),
        ("actors/roster.py", {"trio", "time"}),
        ("transport/sse.py", {"trio", "quart", "hypercorn"}),
        ("transport/guard.py", {"trio", "quart", "hypercorn"}),
        ("transport/mcp/jsonrpc.py", {"trio", "quart", "hypercorn", "mcp"}),
        ("transport/mcp/wire.py", {"trio", "quart", "hypercorn"}),
        ("transport/mcp/bill.py", {"trio", "quart", "hypercorn"}),
    ],
)
def test_a_pure_core_does_no_io(module: str, forbidden: set[str]) -> None:
    assert {name.split(".")[0] for name in imported(ROOT / module)} & forbidden == set()


def test_the_links_of_the_package_lead_to_the_layers() -> None:
    for layer in LAYERS:
        link = ROOT / "greenroom" / layer
        assert link.is_symlink()
        assert link.readlink() == Path("..") / layer

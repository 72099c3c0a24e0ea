"""The exit codes that all commands share."""

FAILED = 1
"""It was tried, and did not work out."""

MISTAKE = 2
"""The command or the configuration has to be mended first. argparse uses the same number."""

UNREACHABLE = 3
"""There is no server there, or none that speaks MCP."""

INTERRUPTED = 130
"""Ctrl-C, as shells have it."""

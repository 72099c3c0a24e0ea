"""What a run of the conformance suite says about a server: pure, from the files' contents to a verdict.

The suite writes one folder per scenario with a list of checks in it. A revision of the protocol requires some
scenarios by name; the suite runs a few more, which count here too, except those of the tasks extension, which
this server does not implement. Nothing passes for want of evidence: a required scenario without a single
successful check has not passed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import attrs

EXTENSION = "tasks-"
# How many scenarios each revision requires of a server, frozen when it shipped.
REQUIRED_COUNTS: Mapping[str, int] = {"2025-11-25": 30, "2026-07-28": 37}

RESULT_FOLDER = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z")


@attrs.frozen
class Check:
    name: str
    status: str
    message: str = ""


Results = Mapping[str, Sequence[Check]]
"""The checks of each scenario that was begun, by the scenario's name; none if it broke off."""


@attrs.frozen
class Verdict:
    revision: str
    required: Sequence[str]
    results: Results
    exit_code: int = 0
    """The suite's own: not 0 if a required scenario failed, and if the suite itself did."""

    @property
    def passed(self) -> list[str]:
        """The required scenarios that passed: something succeeded, nothing failed."""
        return [one for one in self.required if self._has(one, "SUCCESS") and not self._has(one, "FAILURE")]

    @property
    def faults(self) -> list[str]:
        """Every reason why this is not a pass, as sentences. Empty is a pass."""
        expected = REQUIRED_COUNTS[self.revision]
        counted = [one for one in self.results if not one.startswith(EXTENSION)]
        missing = sorted(one for one in {*self.required, *counted} if not self.results.get(one))
        failing = sorted({scenario for scenario, _ in self.checks("FAILURE")})
        unproven = [one for one in self.required if one not in {*self.passed, *missing, *failing}]
        sentences = {
            "The suite produced no results.": not any(self.results.values()),
            f"The suite ended with exit code {self.exit_code}.": self.exit_code != 0,
            f"The suite requires {len(self.required)} scenarios, not {expected}.": len(self.required) != expected,
            f"Without results: {', '.join(missing)}.": missing,
            f"Required, but nothing in them succeeded: {', '.join(unproven)}.": unproven,
            f"Checks failed in: {', '.join(failing)}.": failing,
        }
        return [sentence for sentence, applies in sentences.items() if applies]

    def checks(self, status: str, *, extension: bool = False) -> list[tuple[str, Check]]:
        """Scenario and check for every check of that status, either in the extension or outside it."""
        return [
            (scenario, check)
            for scenario, checks in self.results.items()
            for check in checks
            if check.status == status and scenario.startswith(EXTENSION) is extension
        ]

    def _has(self, scenario: str, status: str) -> bool:
        return any(check.status == status for check in self.results.get(scenario, ()))


def scenario_of(folder: str) -> str | None:
    """The scenario whose results are in a folder of that name."""
    found = RESULT_FOLDER.fullmatch(folder)
    return found["scenario"] if found else None


def parse_checks(text: str) -> list[Check]:
    """The content of a `checks.json`."""
    return [
        Check(f"{one['name']} ({one['id']})", one["status"], one.get("errorMessage") or one.get("description", ""))
        for one in json.loads(text)
    ]


def parse_required(text: str) -> list[str]:
    """The names under `server:` in a requirement set of the suite: plain lists in plain YAML."""
    names: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("  - ") and inside:
            names.append(line.removeprefix("  - ").strip())
        elif line.strip() and not line.lstrip().startswith("#"):
            inside = line.rstrip() == "server:"
    return names


def describe(verdict: Verdict) -> str:
    """A short table, then every check that deserves a look."""
    counts = {status: len(verdict.checks(status)) for status in ("SUCCESS", "FAILURE", "WARNING")}
    aside = {status: len(verdict.checks(status, extension=True)) for status in ("SUCCESS", "FAILURE")}
    rows = [
        ("required scenarios", f"{len(verdict.passed)}/{REQUIRED_COUNTS[verdict.revision]} passed"),
        ("checks", "{SUCCESS} passed, {FAILURE} failed, {WARNING} warnings".format_map(counts)),
        ("tasks extension", "{SUCCESS} passed, {FAILURE} failed (not implemented, not counted)".format_map(aside)),
    ]
    lines = [f"MCP {verdict.revision}", *(f"  {title:<20}{value}" for title, value in rows)]
    for status in ("FAILURE", "WARNING"):
        lines += [f"  {status} {scenario}: {check.name}: {check.message}" for scenario, check in verdict.checks(status)]
    return "\n".join([*lines, *(f"  NOT A PASS: {fault}" for fault in verdict.faults)])

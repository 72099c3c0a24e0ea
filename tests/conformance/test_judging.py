"""Judging a run of the suite, from made-up results."""

from __future__ import annotations

import json

import pytest

from tests.conformance.judging import (
    REQUIRED_COUNTS,
    Check,
    Results,
    Verdict,
    describe,
    parse_checks,
    parse_required,
    scenario_of,
)

REVISION = "2025-11-25"
REQUIRED = [f"scenario-{number}" for number in range(REQUIRED_COUNTS[REVISION])]
GOOD = Check("Good (good)", "SUCCESS")
BAD = Check("Bad (bad)", "FAILURE", "it went wrong")
ODD = Check("Odd (odd)", "WARNING", "it looks odd")
ASIDE = Check("Aside (aside)", "SKIPPED")


def verdict(**changed: list[Check]) -> Verdict:
    """A verdict on a run in which everything succeeded, but for what is changed."""
    results: Results = {name: [GOOD] for name in REQUIRED}
    return Verdict(REVISION, REQUIRED, {**results, **{name.replace("_", "-"): new for name, new in changed.items()}})


def test_a_run_in_which_everything_succeeded_is_a_pass() -> None:
    assert verdict().faults == []
    assert "30/30 passed" in describe(verdict())
    assert "30 passed, 0 failed, 0 warnings" in describe(verdict())


def test_a_failing_check_is_no_pass_and_is_named_with_its_message() -> None:
    judged = verdict(scenario_3=[GOOD, BAD])
    assert judged.faults == ["Checks failed in: scenario-3."]
    assert "29/30 passed" in describe(judged)
    assert "FAILURE scenario-3: Bad (bad): it went wrong" in describe(judged)


def test_a_failing_check_in_a_scenario_that_is_not_required_is_no_pass_either() -> None:
    judged = verdict(something_more=[BAD])
    assert len(judged.passed) == len(REQUIRED)
    assert judged.faults == ["Checks failed in: something-more."]


def test_the_extension_is_counted_apart_and_spoils_nothing() -> None:
    judged = verdict(tasks_lifecycle=[GOOD, BAD, BAD])
    assert judged.faults == []
    assert "30 passed, 0 failed, 0 warnings" in describe(judged)
    assert "1 passed, 2 failed (not implemented, not counted)" in describe(judged)


def test_a_warning_is_shown_and_spoils_nothing() -> None:
    judged = verdict(scenario_3=[GOOD, ODD])
    assert judged.faults == []
    assert "WARNING scenario-3: Odd (odd): it looks odd" in describe(judged)


def test_a_required_scenario_without_results_is_no_pass() -> None:
    judged = Verdict(REVISION, REQUIRED, {name: [GOOD] for name in REQUIRED[1:]})
    assert judged.faults == ["Without results: scenario-0."]


def test_a_scenario_that_broke_off_is_no_pass_unless_it_is_of_the_extension() -> None:
    assert verdict(something_more=[]).faults == ["Without results: something-more."]
    assert verdict(tasks_lifecycle=[]).faults == []


def test_a_suite_that_failed_by_itself_is_no_pass() -> None:
    judged = Verdict(REVISION, REQUIRED, verdict().results, exit_code=3)
    assert judged.faults == ["The suite ended with exit code 3."]


def test_a_required_scenario_in_which_nothing_succeeded_is_no_pass() -> None:
    assert verdict(scenario_3=[ASIDE]).faults == ["Required, but nothing in them succeeded: scenario-3."]


def test_a_run_without_results_is_no_pass() -> None:
    assert "The suite produced no results." in Verdict(REVISION, REQUIRED, {}).faults
    assert "The suite produced no results." in Verdict(REVISION, [], {}).faults


def test_a_suite_that_requires_another_number_of_scenarios_is_no_pass() -> None:
    judged = Verdict(REVISION, REQUIRED[:2], {name: [GOOD] for name in REQUIRED})
    assert judged.faults == ["The suite requires 2 scenarios, not 30."]


@pytest.mark.parametrize(
    ("folder", "scenario"),
    [
        ("server-tools-list-2026-01-31T09-08-07-123Z", "tools-list"),
        ("server-json-schema-2020-12-2026-01-31T09-08-07-123Z", "json-schema-2020-12"),
        ("server-server-stateless-2026-01-31T09-08-07-123Z", "server-stateless"),
        ("something-else", None),
    ],
)
def test_a_folder_of_results_names_its_scenario(folder: str, scenario: str | None) -> None:
    assert scenario_of(folder) == scenario


def test_a_check_is_read_with_its_message_or_else_its_description() -> None:
    written = [
        {"id": "a", "name": "A", "status": "FAILURE", "description": "does a", "errorMessage": "did not"},
        {"id": "b", "name": "B", "status": "SUCCESS", "description": "does b"},
    ]
    assert parse_checks(json.dumps(written)) == [
        Check("A (a)", "FAILURE", "did not"),
        Check("B (b)", "SUCCESS", "does b"),
    ]


def test_only_the_names_under_server_are_required() -> None:
    text = (
        "# a comment\nserver:\n  - one\n  # between\n  - two\n\nclient:\n  - three\nnot_scored:\n  - scenario: four\n"
    )
    assert parse_required(text) == ["one", "two"]

"""What the load kit calls a fault."""

from __future__ import annotations

import attrs

from load.judging import Bounds, Standing, execution_faults, leaks, table

METRICS = """\
# HELP greenroom_sessions Sessions.
greenroom_sessions{phase="idle"} 3.0
greenroom_sessions{phase="running"} 2.0
greenroom_callers_waiting 1.0
greenroom_http_requests_in_flight 3.0
greenroom_tasks 21.0
process_open_fds 40.0
process_resident_memory_bytes 1.2e+08
"""

QUIET = Standing(sessions=0, callers=0, tasks=20, descriptors=50, megabytes=100.0)


def test_a_standing_is_read_from_the_metrics_without_the_one_who_asks() -> None:
    standing = Standing.of(METRICS)
    assert standing == Standing(sessions=5, callers=3, tasks=21, descriptors=40, megabytes=120.0)
    assert not standing.settled
    assert QUIET.settled


def test_what_grows_beyond_its_bound_is_a_leak_and_each_is_named() -> None:
    assert leaks(QUIET, QUIET, Bounds()) == []
    assert leaks(QUIET, attrs.evolve(QUIET, tasks=25, descriptors=62, megabytes=115.0), Bounds()) == []
    grown = attrs.evolve(QUIET, tasks=26, descriptors=63, megabytes=115.1)
    assert [each.split()[0] for each in leaks(QUIET, grown, Bounds())] == ["tasks", "descriptors", "memory"]


def test_a_second_execution_a_lost_one_and_a_refused_one_are_faults() -> None:
    assert execution_faults(["a", "b", "extra"], ["a", "b"]) == []
    assert execution_faults(["a", "a"], ["a"]) == ["a was executed 2 times"]
    assert execution_faults(["a"], ["a", "b"]) == ["b was answered and never executed"]
    assert execution_faults(["no"], []) == ["a call that was refused was executed 1 times"]


def test_the_table_of_a_wave_keeps_checks_apart_from_requests() -> None:
    text = (
        "Type,Name,Request Count,Failure Count,50%,95%,99%\n"
        "POST,call,10,1,3,9,12\n"
        "CHECK,call,2,2,0,0,0\n"
        ",Aggregated,12,3,3,9,12\n"
        "POST,never,0,0,N/A,N/A,N/A\n"
    )
    rows = table(text)
    assert (rows["call"].requests, rows["call"].failures, rows["call"].p95) == (10, 1, 9.0)
    assert rows["check of call"].failures == 2
    assert rows["never"].p50 == 0.0

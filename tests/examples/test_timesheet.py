"""A walk through the time sheet."""

from __future__ import annotations

import pytest

from tests.examples.sessions import Session

MARCH_5 = "<hours>3.5</hours> <date>2026-03-05</date>"


@pytest.fixture
def sheet() -> Session:
    return Session("timesheet")


def test_a_session_begins_with_something_to_see(sheet: Session) -> None:
    assert sheet.context == "global"
    assert sheet.says("list_projects") == (
        "Harbour website (billable), 6 h\nMobile app (billable), 9.5 h\nOffice move (internal), 3 h"
    )


@pytest.mark.parametrize("project", ["Mobile app", "mobile app", "mobil ap", "mobile"])
def test_a_project_that_is_nearly_right_is_corrected(sheet: Session, project: str) -> None:
    result = sheet.run(f"log_hours <project>{project}</project> {MARCH_5}")
    assert result.parameters["project"] == "Mobile app"
    assert result.text == "Logged: Thu 2026-03-05, Mobile app, 3.5 h"


def test_a_project_with_a_distant_likeness_is_asked_about(sheet: Session) -> None:
    assert sheet.rejects(f"log_hours <project>Moonbase</project> {MARCH_5}") == [
        "project is 'Moonbase', which is not known. Is one of these meant: Mobile app, Office move?"
    ]


def test_a_project_like_no_other_is_refused_with_those_there_are(sheet: Session) -> None:
    assert sheet.rejects(f"log_hours <project>Zzz</project> {MARCH_5}") == [
        "There is no project 'Zzz'; the projects are: Harbour website, Mobile app, Office move."
    ]


def test_a_note_and_a_list_of_tags_are_kept(sheet: Session) -> None:
    sheet.run(f"log_hours <project>website</project> {MARCH_5} <note>Menu</note> <tags>design, review</tags>")
    assert sheet.says("show_week <date>2026-03-08</date>") == (
        "The week of 2026-03-02:\n"
        "Mon 2026-03-02, Harbour website, 6 h: Landing page [design]\n"
        "Mon 2026-03-02, Mobile app, 2 h\n"
        "Tue 2026-03-03, Mobile app, 7.5 h: Sign-in screen [backend, review]\n"
        "Wed 2026-03-04, Office move, 3 h\n"
        "Thu 2026-03-05, Harbour website, 3.5 h: Menu [design, review]\n"
        "Sum: 22 h"
    )


def test_the_last_week_is_shown_unless_another_is_asked_for(sheet: Session) -> None:
    sheet.run("log_hours <project>Mobile app</project> <hours>1</hours> <date>2026-03-10</date>")
    assert sheet.says("show_week") == "The week of 2026-03-09:\nTue 2026-03-10, Mobile app, 1 h\nSum: 1 h"
    assert sheet.says("show_week <date>2026-04-01</date>") == "The week of 2026-03-30:\nNothing was logged.\nSum: 0 h"


def test_a_day_has_a_form_and_must_be_in_the_calendar(sheet: Session) -> None:
    assert sheet.rejects("log_hours <project>Mobile app</project> <hours>2</hours> <date>today</date>") == [
        r'date is "today", but it must match the pattern ^\d{4}-\d{2}-\d{2}$, such as 2026-03-05.'
    ]
    impossible = "date is 2026-02-30, and no calendar has such a day."
    assert sheet.rejects("log_hours <project>Mobile app</project> <hours>2</hours> <date>2026-02-30</date>") == [
        impossible
    ]
    assert sheet.rejects("show_week <date>2026-02-30</date>") == [impossible]


def test_a_day_has_24_hours_on_all_projects_together(sheet: Session) -> None:
    assert sheet.rejects("log_hours <project>Office move</project> <hours>16.5</hours> <date>2026-03-02</date>") == [
        "2026-03-02 would come to 24.5 hours, but a day has 24."
    ]
    assert sheet.says("log_hours <project>Office move</project> <hours>16</hours> <date>2026-03-02</date>") == (
        "Logged: Mon 2026-03-02, Office move, 16 h"
    )
    assert sheet.rejects("log_hours <project>Office move</project> <hours>0</hours> <date>2026-03-09</date>") == [
        "hours: Input should be greater than 0."
    ]


def test_hours_are_added_up_by_project_or_by_kind(sheet: Session) -> None:
    assert sheet.says("total") == "Total for all projects: 18.5 h"
    assert sheet.says("total <project>app</project>") == "Total for Mobile app: 9.5 h"
    assert sheet.says("total <kind>billable</kind>") == "Total for all projects, billable only: 15.5 h"
    assert sheet.says("total <kind>INTERNAL</kind>") == "Total for all projects, internal only: 3 h"
    assert sheet.rejects("total <kind>secret</kind>") == [
        'kind is "secret", but it must be one of: billable, internal.'
    ]


def test_a_new_project_is_billable_unless_said_otherwise(sheet: Session) -> None:
    assert sheet.says("add_project <name>Night shift</name>") == "Added: Night shift (billable), 0 h"
    assert sheet.says("add_project <name>Training</name> <kind>internal</kind>") == "Added: Training (internal), 0 h"
    assert sheet.rejects("add_project <name>Training</name>") == ["There is a project Training already."]


def test_a_project_is_opened_renamed_closed_and_left(sheet: Session) -> None:
    assert sheet.run("open_project <project>ofice moove</project>").context == "Project: Office move"
    assert sheet.says("list_entries") == "Wed 2026-03-04, Office move, 3 h"
    assert sheet.rejects("rename <new_name>Mobile app</new_name>") == ["There is a project Mobile app already."]
    assert sheet.says("rename <new_name>Big move</new_name>") == "Office move is now called Big move."
    assert sheet.context == "Project: Big move"
    assert sheet.says("close") == "Big move is closed."
    assert sheet.rejects(f"log_hours <project>Big move</project> {MARCH_5}") == [
        "The project Big move is closed, so no hours can be logged on it."
    ]
    assert sheet.says("go_up") == "Context is now 'global'"
    assert sheet.says("list_projects").endswith("Big move (closed), 3 h")


def test_a_project_that_is_not_there_cannot_be_opened(sheet: Session) -> None:
    assert sheet.refuses("open_project <project>Zzz</project>") == (
        "There is no project 'Zzz'. The command list_projects tells them."
    )
    assert sheet.context == "global"


def test_every_session_has_a_time_sheet_of_its_own(sheet: Session) -> None:
    sheet.run("add_project <name>Training</name>")
    assert "Training" not in Session("timesheet").says("list_projects")

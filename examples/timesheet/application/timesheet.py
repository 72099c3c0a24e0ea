"""Projects and the hours that were worked on them: one time sheet per session, nothing kept elsewhere.

Nothing here asks what day it is: every answer follows from what was entered.
"""

from __future__ import annotations

import datetime
import difflib
import enum
from typing import Any

HOURS_OF_A_DAY = 24


class Kind(enum.Enum):
    BILLABLE = "billable"
    INTERNAL = "internal"


class Entry:
    def __init__(self, project: Project, day: datetime.date, hours: float, note: str, tags: list[str]) -> None:
        self.project = project
        self.day = day
        self.hours = hours
        self.note = note
        self.tags = tags

    @property
    def line(self) -> str:
        note = f": {self.note}" if self.note else ""
        tags = f" [{', '.join(self.tags)}]" if self.tags else ""
        return f"{self.day:%a %Y-%m-%d}, {self.project.name}, {self.hours:g} h{note}{tags}"


class Project:
    def __init__(self, sheet: Timesheet, name: str, kind: Kind) -> None:
        self.sheet = sheet
        self.name = name
        self.kind = kind
        self.is_closed = False

    @property
    def entries(self) -> list[Entry]:
        return [entry for entry in self.sheet.entries if entry.project is self]

    @property
    def line(self) -> str:
        state = "closed" if self.is_closed else self.kind.value
        return f"{self.name} ({state}), {hours_of(self.entries):g} h"


class Timesheet:
    def __init__(self) -> None:
        self.projects = [
            Project(self, "Harbour website", Kind.BILLABLE),
            Project(self, "Mobile app", Kind.BILLABLE),
            Project(self, "Office move", Kind.INTERNAL),
        ]
        self.entries: list[Entry] = []
        website, app, move = self.projects
        self.log(website, datetime.date(2026, 3, 2), 6, "Landing page", ["design"])
        self.log(app, datetime.date(2026, 3, 2), 2, "", [])
        self.log(app, datetime.date(2026, 3, 3), 7.5, "Sign-in screen", ["backend", "review"])
        self.log(move, datetime.date(2026, 3, 4), 3, "", [])

    @property
    def names(self) -> list[str]:
        return [project.name for project in self.projects]

    def project(self, name: str) -> Project | None:
        return next((project for project in self.projects if project.name == name), None)

    def add_project(self, name: str, kind: Kind) -> Project:
        project = Project(self, name, kind)
        self.projects.append(project)
        return project

    def log(self, project: Project, day: datetime.date, hours: float, note: str, tags: list[str]) -> Entry:
        entry = Entry(project, day, hours, note, tags)
        self.entries.append(entry)
        return entry

    def hours_on(self, day: datetime.date) -> float:
        return hours_of([entry for entry in self.entries if entry.day == day])

    def week_of(self, day: datetime.date | None) -> tuple[datetime.date, list[Entry]]:
        """Its Monday and its entries, by day; without a day, the last week in which anything was logged."""
        day = day or max(entry.day for entry in self.entries)
        monday = day - datetime.timedelta(days=day.weekday())
        inside = [entry for entry in self.entries if 0 <= (entry.day - monday).days < 7]
        return monday, sorted(inside, key=lambda entry: entry.day)


def hours_of(entries: list[Entry]) -> float:
    return sum(entry.hours for entry in entries)


def day_of(text: str) -> datetime.date | None:
    """None for a day that no calendar has, such as 2026-02-30."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def is_near(wanted: str, name: str) -> bool:
    """Whether the one may well be a slip for the other."""
    return difflib.SequenceMatcher(None, wanted.casefold(), name.casefold()).ratio() >= 0.7


def timesheet_of(workflow: Any) -> Timesheet:
    """The session's own, made when it is first wanted."""
    if "timesheet" not in workflow.context:
        workflow.context["timesheet"] = Timesheet()
    sheet: Timesheet = workflow.context["timesheet"]
    return sheet

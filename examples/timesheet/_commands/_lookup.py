"""Which project is meant: shared by the commands that take one."""

from fastworkflow.utils.signatures import DatabaseValidator

from ..application.timesheet import Timesheet, is_near


def look_up_project(sheet: Timesheet, wanted: str) -> tuple[bool, str | None, list[str]]:
    """Whether it is one, which one then, and else which ones may be meant."""
    containing = [name for name in sheet.names if wanted.casefold() in name.casefold()]
    if len(containing) == 1:
        return True, containing[0], []
    matched, name, suggestions = DatabaseValidator.fuzzy_match(wanted, sheet.names)
    # Hours on the wrong project are worse than a question, so a distant likeness is only suggested.
    if matched and name and not is_near(wanted, name):
        return False, None, [name]
    return matched, name, suggestions

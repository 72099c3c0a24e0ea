from typing import Optional

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ..application.timesheet import HOURS_OF_A_DAY, day_of, timesheet_of
from ._lookup import look_up_project


class Signature:
    """Enter hours that were worked on a project on one day."""

    class Input(BaseModel):
        project: str = Field(
            description="The project that was worked on; a slip of the pen is corrected",
            examples=["Mobile app", "Harbour website"],
            json_schema_extra={"db_lookup": True, "available_from": ["list_projects"]},
        )
        hours: float = Field(gt=0, description="How long, in hours", examples=[1.5, 3])
        date: str = Field(description="The day, as YYYY-MM-DD", examples=["2026-03-05"], pattern=r"^\d{4}-\d{2}-\d{2}$")
        note: Optional[str] = Field(default=None, description="What was done", examples=["Sign-in screen"])
        tags: Optional[list[str]] = Field(
            default=None, description="Words to sort the work by", examples=[["backend", "review"]]
        )

    plain_utterances = [
        "log 3 hours on the mobile app for 2026-03-05",
        "I worked 2.5 hours on the website on 2026-03-04",
        "book four hours to the office move",
        "enter my time for 2026-03-06",
        "add 1.5 hours of work to a project",
        "record time spent today on the app",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]

    @staticmethod
    def db_lookup(
        workflow: fastworkflow.Workflow, field_name: str, field_value: str
    ) -> tuple[bool, str | None, list[str]]:
        return look_up_project(timesheet_of(workflow), field_value)

    @staticmethod
    def validate_extracted_parameters(
        workflow: fastworkflow.Workflow, command: str, cmd_parameters: "Signature.Input"
    ) -> tuple[bool, str]:
        sheet = timesheet_of(workflow)
        project, day = sheet.project(cmd_parameters.project), day_of(cmd_parameters.date)
        if project is None:
            return False, f"There is no project {cmd_parameters.project!r}; the projects are: {', '.join(sheet.names)}."
        if project.is_closed:
            return False, f"The project {project.name} is closed, so no hours can be logged on it."
        if day is None:
            return False, f"date is {cmd_parameters.date}, and no calendar has such a day."
        hours = sheet.hours_on(day) + cmd_parameters.hours
        if hours > HOURS_OF_A_DAY:
            return False, f"{cmd_parameters.date} would come to {hours:g} hours, but a day has {HOURS_OF_A_DAY}."
        return True, ""


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        sheet = timesheet_of(workflow)
        project, day = sheet.project(command_parameters.project), day_of(command_parameters.date)
        if project is None or day is None:  # Refused by validation already.
            raise ValueError(command_parameters)
        entry = sheet.log(
            project, day, command_parameters.hours, command_parameters.note or "", list(command_parameters.tags or [])
        )
        response = f"Logged: {entry.line}"
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

from typing import Optional

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ..application.timesheet import Kind, hours_of, timesheet_of
from ._lookup import look_up_project


class Signature:
    """Add up the hours of one project, of all billable or internal ones, or of everything."""

    class Input(BaseModel):
        project: Optional[str] = Field(
            default=None,
            description="Only this project",
            examples=["Mobile app"],
            json_schema_extra={"db_lookup": True, "available_from": ["list_projects"]},
        )
        kind: Optional[Kind] = Field(default=None, description="Only projects of this kind", examples=["billable"])

    plain_utterances = [
        "how many hours have I worked in total",
        "sum up the time on the mobile app",
        "what is the total for billable work",
        "add up all internal hours",
        "how many hours did I spend on the website",
        "how much time went into the project",
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


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        wanted = command_parameters
        entries = [
            entry
            for entry in timesheet_of(workflow).entries
            if (wanted.project is None or entry.project.name == wanted.project)
            and (wanted.kind is None or entry.project.kind is wanted.kind)
        ]
        what = wanted.project or "all projects"
        kind = f", {wanted.kind.value} only" if wanted.kind else ""
        response = f"Total for {what}{kind}: {hours_of(entries):g} h"
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ..application.timesheet import timesheet_of
from ._lookup import look_up_project


class Signature:
    """Go into one project, to list its entries, rename it or close it."""

    class Input(BaseModel):
        project: str = Field(
            description="The project to open; a slip of the pen is corrected",
            examples=["Mobile app", "Office move"],
            json_schema_extra={"db_lookup": True, "available_from": ["list_projects"]},
        )

    plain_utterances = [
        "open the mobile app",
        "go to the Harbour website project",
        "switch to the office move",
        "let me see one project in detail",
        "work on the project Mobile app",
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
        project = timesheet_of(workflow).project(command_parameters.project)
        if project is None:
            response = f"There is no project {command_parameters.project!r}. The command list_projects tells them."
            return fastworkflow.CommandOutput(
                command_responses=[fastworkflow.CommandResponse(response=response, success=False)]
            )
        workflow.current_command_context = project
        response = project.line
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ..application.timesheet import Kind, timesheet_of


class Signature:
    """Start a new project that hours can be logged on."""

    class Input(BaseModel):
        name: str = Field(min_length=3, description="What to call the project", examples=["Night shift", "Training"])
        kind: Kind = Field(
            default=Kind.BILLABLE, description="Whether a client pays for the hours", examples=["internal", "billable"]
        )

    plain_utterances = [
        "add a project called Night shift",
        "create a new internal project named Training",
        "start a billable project",
        "we have a new client project",
        "set up another project",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]

    @staticmethod
    def validate_extracted_parameters(
        workflow: fastworkflow.Workflow, command: str, cmd_parameters: "Signature.Input"
    ) -> tuple[bool, str]:
        if timesheet_of(workflow).project(cmd_parameters.name):
            return False, f"There is a project {cmd_parameters.name} already."
        return True, ""


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        project = timesheet_of(workflow).add_project(command_parameters.name, command_parameters.kind)
        response = f"Added: {project.line}"
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.timesheet import Project


class Signature:
    """Give this project another name."""

    class Input(BaseModel):
        new_name: str = Field(min_length=3, description="The new name", examples=["Harbour portal", "Relaunch"])

    plain_utterances = [
        "rename this project to Harbour portal",
        "call it Customer portal from now on",
        "change the project's name",
        "give it a better title",
        "the new name is Relaunch",
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
        project: Project = workflow.command_context_for_response_generation
        if project.sheet.project(cmd_parameters.new_name):
            return False, f"There is a project {cmd_parameters.new_name} already."
        return True, ""


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        project: Project = workflow.command_context_for_response_generation

        earlier, project.name = project.name, command_parameters.new_name
        response = f"{earlier} is now called {project.name}."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.timesheet import Project


class Signature:
    """Close this project, so that no more hours can be logged on it."""

    plain_utterances = [
        "close this project",
        "nobody will book time on it any more",
        "put an end to the project",
        "finish the project",
        "archive it",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        project: Project = workflow.command_context_for_response_generation

        project.is_closed = True
        response = f"{project.name} is closed."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.timesheet import Project


class Signature:
    """List the hours that were logged on this project."""

    plain_utterances = [
        "list the entries",
        "show all hours of this project",
        "what was logged here",
        "what have I done here",
        "give me the details of the work",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        project: Project = workflow.command_context_for_response_generation
        response = "\n".join(entry.line for entry in project.entries) or "Nothing was logged on it yet."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

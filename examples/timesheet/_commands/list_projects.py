import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ..application.timesheet import timesheet_of


class Signature:
    """List the projects, each with its kind and its hours."""

    plain_utterances = [
        "list the projects",
        "which projects are there",
        "show me everything I can book time on",
        "what am I working on",
        "give me an overview of all projects",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        response = "\n".join(project.line for project in timesheet_of(workflow).projects)
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

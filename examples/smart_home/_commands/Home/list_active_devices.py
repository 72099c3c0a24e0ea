import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.home import Home


class Signature:
    """List every device in the home that is on, and at what level."""

    plain_utterances = [
        "what is switched on",
        "is anything still running",
        "what is using power at the moment",
        "did I leave something on",
        "show all active devices",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        home: Home = workflow.command_context_for_response_generation

        running = [device for device in home.devices if device.is_on]
        response = "\n".join(f"{device.room.name}, {device.state}" for device in running) or "Everything is off."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

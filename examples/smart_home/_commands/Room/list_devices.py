import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.home import Room


class Signature:
    """List the devices of this room, with their state."""

    plain_utterances = [
        "list the devices",
        "what is in this room",
        "show me what I can switch here",
        "which appliances are in here",
        "how are things set in this room",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        room: Room = workflow.command_context_for_response_generation
        response = "\n".join(device.state for device in room.devices)
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.home import Home


class Signature:
    """List the rooms, with how many of their devices are on."""

    plain_utterances = [
        "list the rooms",
        "which rooms are there",
        "where can I go",
        "show me the whole house",
        "what does the home consist of",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        home: Home = workflow.command_context_for_response_generation

        response = "\n".join(
            f"{room.name}: {sum(device.is_on for device in room.devices)} of {len(room.devices)} devices on"
            for room in home.rooms
        )
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

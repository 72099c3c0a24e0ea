import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.home import Room


class Signature:
    """Turn off every device of this room."""

    plain_utterances = [
        "everything off in here",
        "all devices off",
        "shut down the whole room",
        "make the room dark and quiet",
        "kill all the power in this room",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        room: Room = workflow.command_context_for_response_generation

        names = room.turn_everything_off()
        response = f"Turned off: {', '.join(names)}." if names else "Everything in this room was off already."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

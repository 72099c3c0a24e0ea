import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.devices import Device


class Signature:
    """Turn this device on, at the level it last had."""

    plain_utterances = [
        "turn it on",
        "switch it on",
        "light it",
        "start it",
        "power up the device",
        "make it run",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        device: Device = workflow.command_context_for_response_generation
        device.turn_on()
        response = device.state
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

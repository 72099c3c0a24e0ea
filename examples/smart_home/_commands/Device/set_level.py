import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.devices import Device


class Signature:
    """Set how strong this device works, from 0 (off) to 100."""

    class Input(BaseModel):
        level: int = Field(ge=0, le=100, description="In percent", examples=[40, 100])

    plain_utterances = [
        "set the level to 40",
        "dim it to 25 percent",
        "make it brighter, 80",
        "turn it down to 10",
        "half power please, 50",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        device: Device = workflow.command_context_for_response_generation
        device.set_level(command_parameters.level)
        response = device.state
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

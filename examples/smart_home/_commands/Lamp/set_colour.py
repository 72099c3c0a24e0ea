import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.devices import Colour, Lamp


class Signature:
    """Give the light of this lamp another colour."""

    class Input(BaseModel):
        colour: Colour = Field(description="The new colour", examples=["amber", "warm white"])

    plain_utterances = [
        "make the light blue",
        "change the colour to amber",
        "I would like warm white",
        "set the lamp to cool white",
        "give it another colour",
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
        lamp: Lamp = workflow.command_context_for_response_generation
        lamp.colour = command_parameters.colour
        response = (
            f"{lamp.name} shines {lamp.colour.value}." if lamp.is_on else f"{lamp.name} will shine {lamp.colour.value}."
        )
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

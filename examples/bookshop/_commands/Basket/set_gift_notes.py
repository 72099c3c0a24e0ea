import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.basket import Basket


class Signature:
    """Write the gift notes that go into the parcel, in place of any earlier ones."""

    class Input(BaseModel):
        notes: list[str] = Field(
            description="One text per card", examples=[["Happy birthday, Nora", "From all of us"]], max_length=5
        )

    plain_utterances = [
        "add gift notes saying Happy birthday",
        "put a card into the parcel",
        "it is a present, write a note",
        "set the gift notes to With love, From all of us",
        "enclose a greeting card",
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
        basket: Basket = workflow.command_context_for_response_generation
        basket.gift_notes = list(command_parameters.notes)
        response = f"The parcel will carry {len(basket.gift_notes)} gift note(s): {'; '.join(basket.gift_notes)}"
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

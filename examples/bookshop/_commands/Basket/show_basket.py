import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.basket import Basket


class Signature:
    """List what is in the basket, with the total."""

    plain_utterances = [
        "show what is in the basket",
        "what am I buying",
        "how much is it all together",
        "list the contents of my cart",
        "what does everything cost",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        basket: Basket = workflow.command_context_for_response_generation
        response = basket.describe()
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

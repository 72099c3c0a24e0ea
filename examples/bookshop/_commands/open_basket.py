import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ..application.shop import shop_of


class Signature:
    """Turn to the shopping basket, to see what is in it or to change it."""

    plain_utterances = [
        "open my basket",
        "go to the shopping basket",
        "take me to my cart",
        "I want to change what I am buying",
        "let me look into the cart",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        basket = shop_of(workflow).basket
        workflow.current_command_context = basket
        response = basket.describe()
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

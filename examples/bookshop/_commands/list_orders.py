import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ..application.shop import shop_of


class Signature:
    """List the orders that were placed in this session."""

    plain_utterances = [
        "list my orders",
        "what have I ordered so far",
        "show my past purchases",
        "which orders did I place",
        "give me my order history",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        orders = shop_of(workflow).orders
        response = "\n".join(order.line for order in orders) or "No order has been placed yet."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ..application.shop import shop_of


class Signature:
    """Buy what is in the basket: it is packed and shipped, which takes about two seconds."""

    plain_utterances = [
        "place the order",
        "buy everything in my basket",
        "check out now",
        "I would like to pay and have it shipped",
        "send me the books",
        "complete my purchase",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        shop = shop_of(workflow)
        if shop.basket.is_empty:
            response = "The basket is empty, so there is nothing to order."
            return fastworkflow.CommandOutput(
                command_responses=[fastworkflow.CommandResponse(response=response, success=False)]
            )
        # Greenroom passes these reports on to whoever waits; FastWorkflow has no such thing, and nobody is told.
        report = getattr(workflow, "report_progress", None) or (lambda *_: None)
        order = shop.place_order(report)
        response = f"{order.line}. It is on its way."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

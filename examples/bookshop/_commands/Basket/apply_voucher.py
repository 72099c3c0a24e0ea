import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.basket import VOUCHERS, Basket
from ...application.books import money


class Signature:
    """Use a voucher code on the basket; the last one counts."""

    class Input(BaseModel):
        code: str = Field(
            description="Four capital letters, a hyphen and two digits",
            examples=["READ-10", "MOON-25"],
            pattern=r"^[A-Z]{4}-\d{2}$",
        )

    plain_utterances = [
        "apply the voucher READ-10",
        "I have a discount code",
        "redeem my coupon MOON-25",
        "use this voucher code",
        "can I get money off with a code",
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
        if command_parameters.code not in VOUCHERS:
            response = f"The voucher {command_parameters.code} is not valid."
            return fastworkflow.CommandOutput(
                command_responses=[fastworkflow.CommandResponse(response=response, success=False)]
            )
        basket.voucher = command_parameters.code
        response = f"{VOUCHERS[basket.voucher]} % off. The total is now {money(basket.total)}."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

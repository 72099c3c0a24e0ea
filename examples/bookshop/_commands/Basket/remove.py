import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from fastworkflow.utils.signatures import DatabaseValidator
from pydantic import BaseModel, Field

from ...application.basket import Basket
from ...application.shop import TITLES


class Signature:
    """Take a book out of the basket, all copies of it."""

    class Input(BaseModel):
        title: str = Field(
            description="The title of a book in the basket; a near miss is corrected",
            examples=["Bread Before Dawn", "The Quiet Kitchen"],
            json_schema_extra={"db_lookup": True, "available_from": ["show_basket"], "enum": [*TITLES]},
        )

    plain_utterances = [
        "remove Bread Before Dawn",
        "take The Quiet Kitchen out of the basket",
        "I no longer want The Ostrava Night Train",
        "delete A Short History of Rain from my cart",
        "put The Sound of Stars back on the shelf",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]

    @staticmethod
    def db_lookup(
        workflow: fastworkflow.Workflow, field_name: str, field_value: str
    ) -> tuple[bool, str | None, list[str]]:
        basket: Basket = workflow.command_context_for_response_generation
        likely = [title for title in basket.shop.titles_like(field_value) if title in basket.titles]
        return (True, likely[0], []) if len(likely) == 1 else DatabaseValidator.fuzzy_match(field_value, likely)


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        basket: Basket = workflow.command_context_for_response_generation
        if not basket.remove(command_parameters.title):
            response = f"{command_parameters.title} is not in the basket."
            return fastworkflow.CommandOutput(
                command_responses=[fastworkflow.CommandResponse(response=response, success=False)]
            )
        response = f"{command_parameters.title} is no longer in the basket."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

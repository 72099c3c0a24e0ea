import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.books import Book


class Signature:
    """Put copies of the open book into the basket."""

    class Input(BaseModel):
        quantity: int = Field(default=1, ge=1, description="How many copies", examples=[1, 2])

    plain_utterances = [
        "add it to my basket",
        "put two copies into the cart",
        "I will take this one",
        "add 3 of these to the basket",
        "I want to buy this book",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]

    @staticmethod
    def validate_extracted_parameters(
        workflow: fastworkflow.Workflow, command: str, cmd_parameters: "Signature.Input"
    ) -> tuple[bool, str]:
        book: Book = workflow.command_context_for_response_generation
        wanted = book.shop.basket.quantity_of(book) + cmd_parameters.quantity
        if wanted > book.stock:
            return False, f"quantity comes to {wanted} with what is in the basket, but there are {book.stock} in stock."
        return True, ""


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        book: Book = workflow.command_context_for_response_generation
        basket = book.shop.basket
        basket.add(book, command_parameters.quantity)
        response = f"The basket now holds {basket.quantity_of(book)} x {book.title}."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

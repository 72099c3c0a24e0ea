import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.books import Book


class Signature:
    """Give the open book a rating of one to five stars."""

    class Input(BaseModel):
        stars: int = Field(ge=1, le=5, description="From 1, poor, to 5, excellent", examples=[4, 5])

    plain_utterances = [
        "rate this book 4 stars",
        "give it five stars",
        "I would give this three out of five",
        "my rating is 2",
        "I loved it, 5 stars",
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
        book: Book = workflow.command_context_for_response_generation
        book.rate(command_parameters.stars)
        response = f"Thank you. {book.title}: {book.rating}."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

from typing import Optional

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ..application.books import Genre
from ..application.shop import shop_of


class Signature:
    """Search the shelves by words from the title, the author or the subject, and narrow by genre or price."""

    class Input(BaseModel):
        query: str = Field(
            description='Words from the title, the author or the subject; "any" for every book',
            examples=["rain", "Ines Calder", "any"],
        )
        genre: Optional[Genre] = Field(
            default=None, description="Only books of this genre", examples=["science", "mystery"]
        )
        max_price: Optional[float] = Field(
            default=None, gt=0, description="Only books that cost at most this much, in EUR", examples=[20, 12.5]
        )

    plain_utterances = [
        "find books about the weather",
        "search the shelves for something on astronomy",
        "which books by this author do you have",
        "do you sell any mystery novels",
        "look for science titles under 15 euros",
        "I am looking for something to read",
        "what is there about baking",
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
        most_cents = None if command_parameters.max_price is None else command_parameters.max_price * 100
        found = shop_of(workflow).find(command_parameters.query, command_parameters.genre, most_cents)
        response = "\n".join(book.line for book in found) or "Nothing on the shelves fits that."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

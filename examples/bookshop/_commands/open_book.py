import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from fastworkflow.utils.signatures import DatabaseValidator
from pydantic import BaseModel, Field

from ..application.shop import TITLES, shop_of


class Signature:
    """Take one book from the shelf, by its title, to read about it, rate it or buy it."""

    class Input(BaseModel):
        title: str = Field(
            description="The title of the book; a near miss is corrected",
            examples=["The Ostrava Night Train", "Bread Before Dawn"],
            json_schema_extra={"db_lookup": True, "available_from": ["find_books"], "enum": [*TITLES]},
        )

    plain_utterances = [
        "open The Ostrava Night Train",
        "let me see the book called Bread Before Dawn",
        "take The Quiet Kitchen from the shelf",
        "go to the book Seven Moons of Winter",
        "pick up The Sound of Stars",
        "I want to look at A Short History of Rain",
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
        # Among all titles something is always near; among those that share a word, the nearest is meant.
        likely = shop_of(workflow).titles_like(field_value)
        return (True, likely[0], []) if len(likely) == 1 else DatabaseValidator.fuzzy_match(field_value, likely)


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        book = shop_of(workflow).book(command_parameters.title)
        if book is None:
            response = f"There is no book called {command_parameters.title!r} on the shelves. Try find_books."
            return fastworkflow.CommandOutput(
                command_responses=[fastworkflow.CommandResponse(response=response, success=False)]
            )
        workflow.current_command_context = book
        response = book.describe()
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

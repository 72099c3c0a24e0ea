import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.books import Book


class Signature:
    """Tell the author, the price, the stock and the rating of the open book."""

    plain_utterances = [
        "describe this book",
        "tell me more about it",
        "what is it about",
        "who wrote this",
        "how much does this one cost",
        "is it in stock",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        book: Book = workflow.command_context_for_response_generation
        response = book.describe()
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances

from ...application.books import SignedCopy


class Signature:
    """Read out what the author wrote into this signed copy."""

    plain_utterances = [
        "read the inscription",
        "what did the author write inside",
        "show me the dedication",
        "what does the signature say",
        "is there a handwritten note in it",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class ResponseGenerator:
    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        copy: SignedCopy = workflow.command_context_for_response_generation
        response = copy.inscription
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

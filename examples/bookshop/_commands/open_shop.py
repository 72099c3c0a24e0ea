import fastworkflow

from ..application.shop import shop_of


class ResponseGenerator:
    """The start-up command: nobody asks for it, so it has no utterances, and discovery does not show it."""

    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        response = f"Welcome. There are {len(shop_of(workflow).books)} books on the shelves."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow

from ..application.home import Home


class ResponseGenerator:
    """The start-up command: nobody asks for it, so it has no utterances, and discovery does not show it."""

    def __call__(self, workflow: fastworkflow.Workflow, command: str) -> fastworkflow.CommandOutput:
        home = Home()
        workflow.root_command_context = home
        response = f"Welcome home. The rooms are: {', '.join(room.name for room in home.rooms)}."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

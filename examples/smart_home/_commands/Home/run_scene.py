import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.home import Home, Scene


class Signature:
    """Set several devices at once for an occasion, one after the other."""

    class Input(BaseModel):
        scene: Scene = Field(description="The occasion", examples=["movie night", "away"])

    plain_utterances = [
        "run the morning scene",
        "it is movie night",
        "good night, get everything ready for sleeping",
        "we are leaving, set the house to away",
        "start the scene for waking up",
        "prepare the living room for a film",
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
        home: Home = workflow.command_context_for_response_generation

        # Greenroom passes these reports on to whoever waits; FastWorkflow has no such thing, and nobody is told.
        report = getattr(workflow, "report_progress", None) or (lambda *_: None)
        devices = home.run_scene(command_parameters.scene, report)
        response = "\n".join(
            [f"The scene {command_parameters.scene.value} is set:", *(device.state for device in devices)]
        )
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.home import DEVICES, Room
from .._lookup import look_up


class Signature:
    """Choose one device of this room, to switch it or to set it."""

    class Input(BaseModel):
        device: str = Field(
            description="The name of a device of this room; a near miss is corrected",
            examples=["Floor lamp", "Coffee machine"],
            json_schema_extra={"db_lookup": True, "available_from": ["list_devices"], "enum": [*DEVICES]},
        )

    plain_utterances = [
        "select the floor lamp",
        "choose the coffee machine",
        "use the radiator",
        "take the bedside lamp",
        "I mean the record player",
        "pick the ceiling lamp",
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
        room: Room = workflow.command_context_for_response_generation
        return look_up(field_value, [device.name for device in room.devices])


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        room: Room = workflow.command_context_for_response_generation

        device = room.device(command_parameters.device)
        if device is None:
            response = f"There is no device called {command_parameters.device!r} in this room."
            return fastworkflow.CommandOutput(
                command_responses=[fastworkflow.CommandResponse(response=response, success=False)]
            )
        workflow.current_command_context = device
        response = device.state
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.home import ROOMS, Home
from .._lookup import look_up


class Signature:
    """Go into a room, to see its devices and to choose one."""

    class Input(BaseModel):
        room: str = Field(
            description="The name of the room; a near miss is corrected",
            examples=["Kitchen", "Living room", "Bedroom"],
            json_schema_extra={"db_lookup": True, "available_from": ["list_rooms"], "enum": [*ROOMS]},
        )

    plain_utterances = [
        "go to the kitchen",
        "enter the living room",
        "take me into the bedroom",
        "open the kitchen",
        "I am in the living room now",
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
        home: Home = workflow.command_context_for_response_generation
        return look_up(field_value, [room.name for room in home.rooms])


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        home: Home = workflow.command_context_for_response_generation

        room = home.room(command_parameters.room)
        if room is None:
            response = f"There is no room called {command_parameters.room!r}."
            return fastworkflow.CommandOutput(
                command_responses=[fastworkflow.CommandResponse(response=response, success=False)]
            )
        workflow.current_command_context = room
        response = f"In the room {room.name}: {', '.join(device.name for device in room.devices)}."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

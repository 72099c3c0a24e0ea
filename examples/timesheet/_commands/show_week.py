from typing import Optional

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ..application.timesheet import day_of, hours_of, timesheet_of


class Signature:
    """Show the entries of one week, with their sum."""

    class Input(BaseModel):
        date: Optional[str] = Field(
            default=None,
            description="Any day of the week, as YYYY-MM-DD; without one, the last week that has entries",
            examples=["2026-03-04"],
            pattern=r"^\d{4}-\d{2}-\d{2}$",
        )

    plain_utterances = [
        "show my week",
        "how was the week of 2026-03-02",
        "list this week's entries",
        "how does my week look",
        "give me the weekly overview",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]

    @staticmethod
    def validate_extracted_parameters(
        workflow: fastworkflow.Workflow, command: str, cmd_parameters: "Signature.Input"
    ) -> tuple[bool, str]:
        if cmd_parameters.date and day_of(cmd_parameters.date) is None:
            return False, f"date is {cmd_parameters.date}, and no calendar has such a day."
        return True, ""


class ResponseGenerator:
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        monday, entries = timesheet_of(workflow).week_of(
            day_of(command_parameters.date) if command_parameters.date else None
        )
        lines = [entry.line for entry in entries] or ["Nothing was logged."]
        response = "\n".join([f"The week of {monday}:", *lines, f"Sum: {hours_of(entries):g} h"])
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

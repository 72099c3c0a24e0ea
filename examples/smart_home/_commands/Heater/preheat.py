"""Preheating, written twice: an `async` `__call__` is an extension of Greenroom.

Greenroom awaits it on its own event loop, Trio, so that waiting takes no thread and a cancelled turn stops at once.
FastWorkflow knows no such thing, and gets the same steps in a form that blocks.
"""

import time
from collections.abc import Iterator
from importlib.util import find_spec

import fastworkflow
from fastworkflow.train.generate_synthetic import generate_diverse_utterances
from pydantic import BaseModel, Field

from ...application.devices import Heater


class Signature:
    """Heat until the room has the wanted temperature, which takes a moment for each degree."""

    class Input(BaseModel):
        degrees: int = Field(
            default=21, ge=5, le=28, description="The wanted temperature, in Celsius", examples=[21, 19]
        )

    plain_utterances = [
        "warm up the room to 21 degrees",
        "preheat to 20",
        "I am cold, heat up",
        "make it 22 degrees in here",
        "get the temperature up",
    ]

    template_utterances: list[str] = []

    @staticmethod
    def generate_utterances(workflow: fastworkflow.Workflow, command_name: str) -> list[str]:
        spoken_name = command_name.rpartition("/")[2].replace("_", " ")
        return [spoken_name, *generate_diverse_utterances(Signature.plain_utterances, command_name)]


class _Heating:
    def answer(self, heater: Heater) -> fastworkflow.CommandOutput:
        response = f"{heater.room.name} has {heater.degrees} degrees now."
        return fastworkflow.CommandOutput(command_responses=[fastworkflow.CommandResponse(response=response)])

    def steps(self, workflow: fastworkflow.Workflow, degrees: int) -> Iterator[Heater]:
        """One for each degree that is missing; the caller waits in between."""
        heater: Heater = workflow.command_context_for_response_generation
        report = getattr(workflow, "report_progress", None) or (lambda *_: None)
        heater.turn_on()
        total = max(0, degrees - heater.degrees)
        for done in range(1, total + 1):
            yield heater
            heater.degrees += 1
            report(done, total, f"{heater.degrees} degrees")


class _Blocking(_Heating):
    def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        for heater in self.steps(workflow, command_parameters.degrees):
            time.sleep(heater.room.home.seconds_per_step)
        return self.answer(workflow.command_context_for_response_generation)


class _Awaited(_Heating):
    async def __call__(
        self, workflow: fastworkflow.Workflow, command: str, command_parameters: Signature.Input
    ) -> fastworkflow.CommandOutput:
        import trio

        for heater in self.steps(workflow, command_parameters.degrees):
            await trio.sleep(heater.room.home.seconds_per_step)
        return self.answer(workflow.command_context_for_response_generation)


ResponseGenerator = _Awaited if find_spec("greenroom") else _Blocking

"""A garden with beds to plant, water and harvest.

Enter a bed to work in it; what you harvest goes into your basket. The garden is everybody's, the basket is your own.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

import trio
from pydantic import Field

from greenroom import progress

from .beds import Plant, beds


def list_beds() -> dict[str, int]:
    """List the beds and how many plants are in each.

    Examples:
        which beds are there
        show me the garden
    """
    return {name: len(plants) for name, plants in beds.items()}


def open_bed(bed: Literal["north", "south"]) -> Bed:
    """Go to a bed, to work in it.

    Args:
        bed: which of the two

    Examples:
        take me to the south bed
        I want to work in a bed
    """
    return Bed(bed)


async def water_garden(litres: Annotated[int, Field(ge=1, le=100)] = 10) -> str:
    """Water all the beds, one after the other.

    Args:
        litres: how much for each bed
    """
    for done, bed in enumerate(beds, start=1):
        await trio.sleep(0.1)  # the pump takes its time
        progress(done, len(beds), f"The {bed} bed has had {litres} l.")
    return f"{len(beds)} beds have had {litres} l each."


class Bed:
    """A bed of the garden, with what grows in it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def get_displayname(self) -> str:
        return f"the {self.name} bed"

    def plant(self, what: str, on: date | None = None) -> Plant:
        """Put a plant into this bed.

        :param what: the kind of plant, such as carrot
        :param on: the day it was planted, if not today
        """
        beds[self.name].append(Plant(what, on or date.today()))
        return beds[self.name][-1]

    def look(self) -> list[Plant]:
        """See what grows in this bed."""
        return beds[self.name]

    def harvest(self, what: str, basket: Basket) -> str:
        """Take a plant out of this bed and put it into your basket.

        Parameters
        ----------
        what : str
            the kind of plant
        """
        for plant in beds[self.name]:
            if plant.kind == what:
                beds[self.name].remove(plant)
                basket.content.append(what)
                return f"The {what} is in your basket."
        raise LookupError(f"No {what} grows in this bed.")


class Basket:
    """What you have harvested."""

    def __init__(self) -> None:
        self.content: list[str] = []

    def show(self) -> list[str]:
        """Show what is in the basket."""
        return self.content

    def empty(self) -> None:
        """Take everything out of the basket."""
        self.content.clear()

    def get_state(self) -> dict[str, list[str]]:
        return {"content": self.content}

    @classmethod
    def from_state(cls, state: dict[str, list[str]]) -> Basket:
        basket = cls()
        basket.content = state["content"]
        return basket

"""What can be switched. Every device has a level from 0 (off) to 100; some know more."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .home import Room

FULL = 100


class Colour(enum.Enum):
    WARM_WHITE = "warm white"
    COOL_WHITE = "cool white"
    AMBER = "amber"
    BLUE = "blue"


class Device:
    def __init__(self, room: Room, name: str) -> None:
        self.room = room
        self.name = name
        self.level = 0
        self._last_level = FULL

    @property
    def is_on(self) -> bool:
        return self.level > 0

    @property
    def state(self) -> str:
        return f"{self.name}: {f'on at {self.level} %' if self.is_on else 'off'}"

    def set_level(self, level: int) -> None:
        self.level = level
        if level:
            self._last_level = level

    def turn_on(self) -> None:
        """At the level it last had."""
        self.level = self._last_level

    def turn_off(self) -> None:
        self.level = 0


class Lamp(Device):
    colour = Colour.WARM_WHITE

    @property
    def state(self) -> str:
        return f"{super().state}, {self.colour.value}" if self.is_on else super().state


class Heater(Device):
    degrees = 17

    @property
    def state(self) -> str:
        return f"{super().state}, {self.degrees} degrees"

"""A home with rooms, rooms with devices: one per session, nothing kept elsewhere."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable

from .devices import FULL, Device, Heater, Lamp

SECONDS_PER_STEP = 0.25
"""How long a device takes to do as it is told."""


FURNISHING: dict[str, dict[str, type[Device]]] = {
    "Living room": {"Ceiling lamp": Lamp, "Floor lamp": Lamp, "Radiator": Heater, "Record player": Device},
    "Kitchen": {"Kitchen lamp": Lamp, "Coffee machine": Device},
    "Bedroom": {"Bedside lamp": Lamp, "Panel heater": Heater},
}
ROOMS = list(FURNISHING)
DEVICES = [name for devices in FURNISHING.values() for name in devices]


class Scene(enum.Enum):
    MORNING = "morning"
    MOVIE_NIGHT = "movie night"
    GOOD_NIGHT = "good night"
    AWAY = "away"


LEVELS = {
    Scene.MORNING: {"Kitchen lamp": 80, "Coffee machine": FULL, "Radiator": 60},
    Scene.MOVIE_NIGHT: {"Ceiling lamp": 0, "Floor lamp": 20, "Record player": 0},
    Scene.GOOD_NIGHT: {"Bedside lamp": 10, "Panel heater": 30},
    Scene.AWAY: {},
}
"""What a scene sets. The last two also turn everything else off."""
_TURNS_THE_REST_OFF = (Scene.GOOD_NIGHT, Scene.AWAY)


class Room:
    def __init__(self, home: Home, name: str, devices: dict[str, type[Device]]) -> None:
        self.home = home
        self.name = name
        self.devices = [kind(self, device) for device, kind in devices.items()]

    def device(self, name: str) -> Device | None:
        return next((device for device in self.devices if device.name == name), None)

    def turn_everything_off(self) -> list[str]:
        """The names of those that were on."""
        running = [device for device in self.devices if device.is_on]
        for device in running:
            device.turn_off()
        return [device.name for device in running]


class Home:
    def __init__(self) -> None:
        self.seconds_per_step = SECONDS_PER_STEP
        self.rooms = [Room(self, name, devices) for name, devices in FURNISHING.items()]

    @property
    def devices(self) -> list[Device]:
        return [device for room in self.rooms for device in room.devices]

    def room(self, name: str) -> Room | None:
        return next((room for room in self.rooms if room.name == name), None)

    def run_scene(self, scene: Scene, report: Callable[[float, float, str], None]) -> list[Device]:
        """One device after the other; returns those that it set."""
        levels = LEVELS[scene]
        devices = [device for device in self.devices if device.name in levels or scene in _TURNS_THE_REST_OFF]
        for done, device in enumerate(devices, start=1):
            time.sleep(self.seconds_per_step)
            device.set_level(levels.get(device.name, 0))
            report(done, len(devices), device.state)
        return devices

from ...application.devices import Device
from ...application.home import Room


class Context:
    """One device of a room."""

    @classmethod
    def get_parent(cls, command_context_object: Device) -> Room:
        return command_context_object.room

    @classmethod
    def get_displayname(cls, command_context_object: Device) -> str:
        return f"{type(command_context_object).__name__}: {command_context_object.name}"

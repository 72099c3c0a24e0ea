from ...application.home import Home, Room


class Context:
    """One room of the home."""

    @classmethod
    def get_parent(cls, command_context_object: Room) -> Home:
        return command_context_object.home

    @classmethod
    def get_displayname(cls, command_context_object: Room) -> str:
        return f"Room: {command_context_object.name}"

from ...application.home import Home


class Context:
    """The whole home."""

    @classmethod
    def get_parent(cls, command_context_object: Home) -> None:
        return None

    @classmethod
    def get_displayname(cls, command_context_object: Home) -> str:
        return "Home"

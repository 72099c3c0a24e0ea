from ...application.timesheet import Project


class Context:
    """One project."""

    @classmethod
    def get_parent(cls, command_context_object: Project) -> None:
        return None

    @classmethod
    def get_displayname(cls, command_context_object: Project) -> str:
        return f"Project: {command_context_object.name}"

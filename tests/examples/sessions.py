"""Sessions of the example workflows, begun as a client's would be."""

from __future__ import annotations

from pathlib import Path

from greenroom.workflow.engine import CommandResult, Instance, InvalidParameters, load_workflow

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("bookshop", "smart_home", "timesheet")

Report = tuple[float, float | None, str | None]


class Session:
    """Runs commands in their explicit form, and hears their progress."""

    def __init__(self, name: str) -> None:
        self.instance = Instance(load_workflow(FOLDER / name))
        self.reports: list[Report] = []
        self.instance.workflow.report_progress = self._hear
        startup = self.instance.definition.startup_action
        self.greeting = self.instance.execute(startup.command_name, startup.parameters).text if startup else ""

    def run(self, text: str) -> CommandResult:
        return self.instance.execute_text(text)

    def says(self, text: str) -> str:
        result = self.run(text)
        assert result.success, result.text
        return result.text

    def refuses(self, text: str) -> str:
        """Runs a command that cannot be done, and returns why."""
        result = self.run(text)
        assert not result.success, result.text
        return result.text

    def rejects(self, text: str) -> list[str]:
        """Runs a command with wrong parameters, and returns the problems."""
        try:
            result = self.run(text)
        except InvalidParameters as error:
            return [each["problem"] for each in error.data["errors"]]
        raise AssertionError(f"accepted, with the answer {result.text!r}")

    @property
    def context(self) -> str:
        return self.instance.workflow.current_command_context_displayname

    def _hear(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.reports.append((progress, total, message))

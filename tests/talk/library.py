"""A small workflow folder for the tests of talking: a library with shelves, as files that a user would write."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.engine.folders import command, write

HELD = threading.Event()
"""What the command `hold` waits for."""

FILES = {
    "workflow_description.txt": "Lends books.\n\nA shelf can be opened and looked through.",
    "application/library.py": """
        class Library:
            def __init__(self):
                self.lent = []
        class Shelf:
            def __init__(self, library, letter):
                self.library, self.letter = library, letter
    """,
    "_commands/open_library.py": """
        import fastworkflow
        from fastworkflow import CommandOutput, CommandResponse
        from ..application.library import Library

        class ResponseGenerator:
            def __call__(self, workflow, command):
                workflow.root_command_context = Library()
                workflow.context["opened"] = workflow.context.get("opened", 0) + 1
                return CommandOutput(command_responses=[CommandResponse(response="The library is open.")])
    """,
    "_commands/Library/_Library.py": """
        class Context:
            @classmethod
            def get_parent(cls, library): return None
    """,
    "_commands/Library/lend_book.py": command(
        "workflow.command_context_for_response_generation.lent.append(p.title)\nreturn f'Lent {p.copies} of {p.title}'",
        fields='title: str = Field(description="The title of the book")\n'
        'copies: int = Field(default=1, description="How many")',
        signature='"""Lend a book to the reader."""\n'
        'plain_utterances = ["lend me a book", "I would like to borrow the novel", "check out this book for me"]',
    ),
    "_commands/Library/list_lent.py": command(
        "return ', '.join(workflow.command_context_for_response_generation.lent) or 'nothing'",
        signature='"""List the books that are lent out."""\n'
        'plain_utterances = ["which books have I borrowed", "show everything that is lent out"]',
    ),
    "_commands/Library/open_shelf.py": command(
        "workflow.current_command_context = Shelf(workflow.command_context_for_response_generation, p.letter)\n"
        "return f'At shelf {p.letter}'",
        fields='letter: str = Field(description="The letter on the shelf", pattern="[A-Z]")',
        imports="from ...application.library import Shelf",
        signature='"""Go to the shelf with a letter."""\n'
        'plain_utterances = ["take me to the shelf", "open the shelf with that letter", "walk over to a shelf"]',
    ),
    "_commands/Library/sort_slowly.py": command(
        "import threading, time\n"
        "for step in range(3):\n"
        "    workflow.report_progress(step + 1, 3, f'sorted {step + 1}')\n"
        "return 'sorted'",
        signature='"""Sort all the books in the building."""\nplain_utterances = ["put the books in order"]',
    ),
    "_commands/Library/burn.py": command("raise RuntimeError('the password is swordfish')"),
    "_commands/Library/quit_all.py": command("sys.exit(3)"),
    "_commands/Library/hold.py": command("import tests.talk.library as t; t.HELD.wait(20); return 'let go'"),
    "_commands/Shelf/_Shelf.py": """
        class Context:
            @classmethod
            def get_parent(cls, shelf): return shelf.library
    """,
    "_commands/Shelf/count_books.py": command(
        "return '42 on ' + workflow.command_context_for_response_generation.letter",
        signature='"""Count the books on this shelf."""\nplain_utterances = ["how many books stand here"]',
    ),
    "startup_action.json": '{"command_name": "open_library"}',
}


def build(folder: Path) -> Path:
    return write(folder / "library", FILES)

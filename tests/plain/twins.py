"""One workflow written twice: as a folder of command files, and as plain Python."""

from __future__ import annotations

from pathlib import Path

from tests.engine import folders
from tests.plain.apps import write

_ROOMS = """
    guests = {"blue": [], "red": []}
    class Room:
        def __init__(self, name):
            self.name = name
"""

_HOTEL = {
    "workflow_description.txt": "Keeps a guest book.\n\nEvery room has one.",
    "application/rooms.py": _ROOMS,
    "_commands/list_rooms.py": folders.command(
        "return ', '.join(rooms.guests)",
        imports="from ..application import rooms",
        signature='"""List the rooms of the hotel."""\n'
        'plain_utterances = ["which rooms are there", "show all the rooms"]',
    ),
    "_commands/enter_room.py": folders.command(
        "workflow.current_command_context = rooms.Room(p.name)\nreturn \"Context is now 'Room'\"",
        fields='name: Literal["blue", "red"] = Field(description="the colour of the door")',
        imports="from ..application import rooms",
        signature='"""Go into a room."""\nplain_utterances = ["take me to a room", "walk into the room"]',
    ),
    "_commands/Room/_Room.py": "class Context:\n    '''A room with a guest book.'''\n",
    "_commands/Room/add_guest.py": folders.command(
        "room = workflow.command_context_for_response_generation.name\n"
        "rooms.guests[room].append((p.guest, p.nights, p.since))\n"
        "return f'{p.guest} stays for {p.nights} nights since {p.since}, with {p.wishes}'",
        fields=(
            'guest: str = Field(description="the full name")\n'
            'nights: int = Field(default=1, ge=1, le=30, description="for how long")\n'
            "since: Optional[datetime.date] = None\n"
            'wishes: Optional[list[str]] = Field(default=None, description="what they asked for")'
        ),
        imports="import datetime\nfrom ...application import rooms",
        signature='"""Write a guest into the book."""\nplain_utterances = ["a guest has arrived", "check somebody in"]',
    ),
    "_commands/Room/list_guests.py": folders.command(
        "room = workflow.command_context_for_response_generation.name\n"
        "return ', '.join(guest for guest, *_ in rooms.guests[room]) or 'nobody'",
        imports="from ...application import rooms",
        signature='"""Read the names in the guest book."""\nplain_utterances = ["who is staying here"]',
    ),
}

_PLAIN = '''
    """Keeps a guest book.

    Every room has one."""

    from __future__ import annotations
    from datetime import date
    from typing import Annotated, Literal
    from pydantic import Field

    guests = {"blue": [], "red": []}

    def list_rooms() -> str:
        """List the rooms of the hotel.

        Examples:
            which rooms are there
            show all the rooms
        """
        return ", ".join(guests)

    def enter_room(name: Literal["blue", "red"]) -> Room:
        """Go into a room.

        Args:
            name: the colour of the door

        Examples:
            take me to a room
            walk into the room
        """
        return Room(name)

    class Room:
        """A room with a guest book."""

        def __init__(self, name):
            self.name = name

        def add_guest(
            self,
            guest: str,
            nights: Annotated[int, Field(ge=1, le=30)] = 1,
            since: date | None = None,
            wishes: list[str] | None = None,
        ) -> str:
            """Write a guest into the book.

            Args:
                guest: the full name
                nights: for how long
                wishes: what they asked for

            Examples:
                a guest has arrived
                check somebody in
            """
            guests[self.name].append((guest, nights, since))
            return f"{guest} stays for {nights} nights since {since}, with {wishes}"

        def list_guests(self) -> str:
            """Read the names in the guest book.

            Examples:
                who is staying here
            """
            return ", ".join(guest for guest, *_ in guests[self.name]) or "nobody"
'''


def as_folder(place: Path) -> Path:
    return folders.write(place / "folder" / "hotel", _HOTEL)


def as_python(place: Path) -> Path:
    return write(place, _PLAIN, "plain/hotel.py")

"""What grows where. There is one garden, whoever looks at it."""

from dataclasses import dataclass
from datetime import date


@dataclass
class Plant:
    kind: str
    planted: date


beds: dict[str, list[Plant]] = {
    "north": [Plant("leek", date(2026, 4, 2))],
    "south": [Plant("carrot", date(2026, 3, 28)), Plant("pea", date(2026, 5, 11))],
}

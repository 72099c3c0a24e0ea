"""Which room or device is meant: shared by the commands that take one."""

from fastworkflow.utils.signatures import DatabaseValidator


def look_up(wanted: str, names: list[str]) -> tuple[bool, str | None, list[str]]:
    """Whether it is one of them, which one then, and else which ones may be meant."""
    said = wanted.casefold()
    likely = [name for name in names if name.casefold() in said or said in name.casefold()]
    return (True, likely[0], []) if len(likely) == 1 else DatabaseValidator.fuzzy_match(wanted, likely or names)

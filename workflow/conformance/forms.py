"""The forms that the asking tools and prompts show to a user: flat JSON schemas of primitive properties."""

from __future__ import annotations

from collections.abc import Sequence

from greenroom.workflow.values import Json


def form(*names: str) -> Json:
    """Required strings and nothing else."""
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(names)}


def titled(*pairs: tuple[str, str]) -> Sequence[Json]:
    return [{"const": value, "title": title} for value, title in pairs]


CONFIRM: Json = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}

CONTACT: Json = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}

DEFAULTS: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
    "required": [],
}

ENUMS: Json = {
    "type": "object",
    "properties": {
        "untitledSingle": {
            "type": "string",
            "description": "One of three",
            "enum": ["option1", "option2", "option3"],
        },
        "titledSingle": {
            "type": "string",
            "description": "One of three, with titles",
            "oneOf": titled(("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")),
        },
        "legacyEnum": {
            "type": "string",
            "description": "One of three, with titles in the older form",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "description": "Any of three",
            "minItems": 1,
            "maxItems": 3,
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {
            "type": "array",
            "description": "Any of three, with titles",
            "minItems": 1,
            "maxItems": 3,
            "items": {
                "anyOf": titled(("value1", "First Choice"), ("value2", "Second Choice"), ("value3", "Third Choice"))
            },
        },
    },
    "required": [],
}

"""What a client is told about commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.workflow.engine import (
    Instance,
    commands_metadata,
    correct_form,
    display_text,
    load_workflow,
    workflow_info,
)
from tests.engine.folders import command, instance
from tests.engine.wheels import examples

FIELDS = """
    order_id: str = Field("NOT_FOUND", description="Which order", pattern="#.*", examples=["#W1"],
                          json_schema_extra={"available_from": ["get_user"]})
    reason: Literal["late", "wrong & bad"] = Field(default="late")
    counts: list[int] = Field(description="How many")
    note: Optional[str] = None
"""


@pytest.fixture
def shop(tmp_path: Path) -> Instance:
    return instance(
        tmp_path / "shop",
        {
            "_commands/cancel.py": command(fields=FIELDS, signature='"""Cancel\n    an order."""'),
            "_commands/listen.py": command(signature='plain_utterances = ["what is that noise"]'),
            "_commands/startup.py": "class ResponseGenerator:\n    def __call__(self, workflow, command): ...",
        },
    )


def test_commands_are_described_as_structure(shop: Instance) -> None:
    described = {one["name"]: one for one in commands_metadata(shop.workflow)}
    assert list(described) == ["cancel", "listen", "what_can_i_do", "what_is_current_context", "go_up", "reset_context"]
    assert described["cancel"] == {
        "name": "cancel",
        "description": "Cancel\nan order.",
        "context": "global",
        "parameters": [
            {
                "name": "order_id",
                "type": "string",
                "required": True,
                "description": "Which order",
                "examples": ["#W1"],
                "pattern": "#.*",
                "available_from": ["get_user"],
            },
            {
                "name": "reason",
                "type": "string",
                "required": False,
                "description": "",
                "default": "late",
                "enum": ["late", "wrong & bad"],
            },
            {"name": "counts", "type": "list of integer", "required": True, "description": "How many"},
            {"name": "note", "type": "string", "required": False, "description": ""},
        ],
        "examples": ["cancel <order_id>#W1</order_id> <reason>late</reason> <counts>1, 1</counts> <note>text</note>"],
    }
    assert described["listen"]["description"] == 'Listen, as in: "what is that noise"'


def test_the_text_shows_the_tags_by_name_and_a_whole_example(shop: Instance) -> None:
    text = display_text(shop.workflow)
    assert text.startswith("The context is 'global'. These commands can be run in it:\n\ncancel: Cancel an order.\n")
    assert "  <order_id> (string; required; matching #.*; told by get_user): Which order\n" in text
    assert "  <reason> (string; optional; one of: late, wrong & bad; default late)\n" in text
    assert "  Example: cancel <order_id>#W1</order_id> <reason>late</reason>" in text
    assert "startup" not in text
    assert "abort" not in text
    assert shop.execute("what_can_i_do").text == text


def test_the_correct_form_says_what_belongs_into_each_tag(shop: Instance) -> None:
    assert correct_form(shop.find("cancel").command) == (
        "cancel <order_id>string</order_id> <reason>late|wrong & bad, optional</reason> "
        "<counts>list of integer</counts> <note>string, optional</note>"
    )


def test_what_is_shown_follows_the_session() -> None:
    one = Instance(load_workflow(examples("3.6.0") / "messaging_app_4"))
    one.execute("set_root_context")
    one.execute("add_user", {"user_name": "Mary", "is_premium_user": True})
    one.execute("set_current_user", {"user_name": "Mary"})
    places = {described["name"]: described["context"] for described in commands_metadata(one.workflow)}
    assert places["PremiumUser/send_priority_message"] == "PremiumUser"
    assert places["User/send_message"] == "PremiumUser"
    assert places["ChatRoom/list_users"] == "ChatRoom"
    assert "set_root_context" not in places


def test_information_about_the_workflow_leaves_out_where_a_session_is(shop: Instance) -> None:
    assert workflow_info(shop.definition) == {
        "workflow_name": "shop",
        "description": "",
        "purpose": "",
        "available_contexts": ["global"],
    }

"""The example workflows of FastWorkflow 2 and 3 give the answers that FastWorkflow itself gives.

The expected texts are what the real engine answered to the same actions.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from greenroom.workflow.engine import (
    CommandFailed,
    Instance,
    InvalidParameters,
    UnknownCommand,
    WorkflowDefinition,
    build_input,
    example_of,
    load_workflow,
)
from greenroom.workflow.engine.parameters import CommandText, parse_command
from tests.engine.wheels import VERSIONS, WORKFLOWS, examples

PRINTED = "Response: The message was printed to the screen"
TO_JOHN = {"to": "jsmith@abc.com", "message": "Hello there"}


@pytest.fixture(params=VERSIONS)
def folder(request: pytest.FixtureRequest) -> Path:
    return examples(request.param)


def says(instance: Instance, name: str, /, **parameters: Any) -> str:
    result = instance.execute(name, parameters)
    assert result.success
    return result.text


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_example_loads_quickly_and_as_it_is(folder: Path, name: str) -> None:
    began = time.perf_counter()
    definition = load_workflow(folder / name)
    assert time.perf_counter() - began < 1  # 0.1 on an idle machine, the first time
    assert definition.name == name
    assert definition.commands


def test_adding_two_numbers(folder: Path) -> None:
    instance = Instance(load_workflow(folder / "hello_world"))
    assert says(instance, "add_two_numbers", first_num=2.5, second_num="4") == 'Response: {"sum_of_two_numbers":6.5}'
    assert says(instance, "add_two_numbers", first_num=1e308, second_num=1e308) == (
        'Response: {"sum_of_two_numbers":null}'
    )


def test_a_global_command_with_a_pattern_and_a_shortest_length(folder: Path) -> None:
    instance = Instance(load_workflow(folder / "messaging_app_1"))
    assert says(instance, "send_message", **TO_JOHN) == PRINTED
    for wrong in ({"to": "nobody"}, {"message": "x"}):
        with pytest.raises(InvalidParameters):
            instance.execute("send_message", {**TO_JOHN, **wrong})


def test_a_start_up_command_sets_the_root_context_with_its_default(folder: Path) -> None:
    instance = Instance(load_workflow(folder / "messaging_app_2"))
    assert says(instance, "startup") == (
        "Root context set to User('DefaultUser').Now you can call commands exposed in this context."
    )
    assert instance.execute("User/send_message", TO_JOHN).context == "User"
    assert says(instance, "send_message", **TO_JOHN) == PRINTED


def test_a_root_context_is_set_once(folder: Path) -> None:
    instance = Instance(load_workflow(folder / "messaging_app_2"))
    instance.execute("startup")
    with pytest.raises(CommandFailed) as failure:
        instance.execute("startup", {"name": "Billy"})
    assert str(failure.value.__cause__) == "Root command context can only be set once per Workflow"


def test_a_context_inherits_the_commands_of_another(folder: Path) -> None:
    instance = Instance(load_workflow(folder / "messaging_app_3"))
    assert says(instance, "initialize_user", name="Mary", is_premium_user=True) == (
        "Root context set to User('Mary').Now you can call commands exposed in this context."
    )
    assert says(instance, "send_priority_message", **TO_JOHN) == PRINTED
    assert says(instance, "send_message", **TO_JOHN) == PRINTED
    assert says(instance, "PremiumUser/send_message", **TO_JOHN) == PRINTED
    assert instance.execute("initialize_user", {"is_premium_user": False}).context == "User"
    with pytest.raises(UnknownCommand) as refusal:
        instance.execute("send_priority_message", TO_JOHN)
    assert refusal.value.data["lives_in"] == ["PremiumUser"]


def test_a_chat_room_with_users_in_it(folder: Path) -> None:
    definition = load_workflow(folder / "messaging_app_4")
    assert definition.startup_action is not None
    instance = Instance(definition)
    assert says(instance, definition.startup_action.command_name) == (
        "Now you can call commands exposed in this context."
    )
    assert says(instance, "list_users") == 'Response: {"users":[]}'
    assert says(instance, "set_current_user", user_name="Fred") == 'Response: {"user_found":false}'
    assert says(instance, "add_user", user_name="Fred Smith", is_premium_user=False) == 'Response: {"user_added":true}'
    assert says(instance, "add_user", user_name="Mary Jane", is_premium_user="true") == 'Response: {"user_added":true}'
    assert says(instance, "add_user", user_name="Mary Jane", is_premium_user=True) == 'Response: {"user_added":false}'
    assert says(instance, "list_users") == 'Response: {"users":["Fred Smith","Mary Jane"]}'
    assert says(instance, "get_current_user") == 'Response: {"user_name":"Anonymous"}'
    assert says(instance, "broadcast_message", message="Dinner is served") == "Response: Message has been broadcast"


@pytest.fixture
def chat_room(folder: Path) -> Instance:
    instance = Instance(load_workflow(folder / "messaging_app_4"))
    instance.execute("set_root_context")
    instance.execute("add_user", {"user_name": "Fred Smith", "is_premium_user": False})
    instance.execute("add_user", {"user_name": "Mary Jane", "is_premium_user": True})
    return instance


def test_a_value_is_looked_up_and_corrected(chat_room: Instance) -> None:
    result = chat_room.execute("set_current_user", {"user_name": "mary jane"})
    assert result.text == 'Response: {"user_found":true}'
    assert result.parameters == {"user_name": "Mary Jane"}
    assert result.context == "PremiumUser"


def test_a_value_that_may_be_one_of_several_is_refused_with_all_of_them(chat_room: Instance) -> None:
    chat_room.execute("add_user", {"user_name": "Fred Smythe", "is_premium_user": False})
    with pytest.raises(InvalidParameters) as refusal:
        chat_room.execute("set_current_user", {"user_name": "Fred"})
    assert refusal.value.data["errors"][0]["suggestions"] == ["Fred Smith", "Fred Smythe"]


def test_a_command_of_the_parent_runs_in_the_parent(chat_room: Instance) -> None:
    chat_room.execute("set_current_user", {"user_name": "Mary Jane"})
    assert says(chat_room, "send_priority_message", **TO_JOHN) == PRINTED
    assert says(chat_room, "get_current_user") == 'Response: {"user_name":"Mary Jane"}'
    assert chat_room.execute("list_users").context == "PremiumUser"


def test_a_tree_of_work_items(folder: Path) -> None:
    instance = Instance(load_workflow(folder / "simple_workflow_template"))
    assert says(instance, "startup") == "{'message': 'Application initialized.'}"
    assert says(instance, "get_status") == ('Response: {"status_dict":{"is_complete":false,"Story":"0/1 completed"}}')
    assert says(instance, "show_schema") == (
        'Response: {"description": "A very long task with lots of stories and bugs", "child_schema": {"Story": '
        '{"min_cardinality": 1, "max_cardinality": 10}, "Bug": {"min_cardinality": 0, "max_cardinality": 5}}}'
    )
    assert says(instance, "add_child_workitem", workitem_type="Bug", id="b1") == (
        'Response: {"success":true,"error_msg":"","new_child_path":"/Bug[id=b1]"}'
    )
    went = instance.execute("go_to_workitem", {"workitem_type": "Story"})
    assert went.text == ('Response: {"current_workitem_has_changed":true,"new_context":"WorkItem: /Story[index=0]"}')
    assert went.context == "WorkItem: /Story[index=0]"
    assert says(instance, "mark_as_complete") == "Work item '/Story[index=0]' has been marked as incomplete."
    assert says(instance, "move_to_next_workitem") == (
        'Response: {"current_workitem_has_changed":true,"new_context":"WorkItem: /Story[index=0]/Task[index=0]"}'
    )
    assert (
        says(instance, "mark_as_complete") == "Work item '/Story[index=0]/Task[index=0]' has been marked as complete."
    )
    assert says(instance, "move_to_previous_workitem") == (
        'Response: {"current_workitem_has_changed":true,"new_context":"WorkItem: /Story[index=0]"}'
    )
    assert says(instance, "go_up") == "Context is now 'WorkItem: /'"
    assert says(instance, "get_status") == (
        'Response: {"status_dict":{"is_complete":false,"Story":"1/1 completed","Bug":"0/1 completed"}}'
    )
    assert says(instance, "remove_child_workitem", index=1) == "Removed child work item under '/'."


def test_what_validation_says_reaches_the_caller(folder: Path) -> None:
    instance = Instance(load_workflow(folder / "simple_workflow_template"))
    instance.execute("startup")
    with pytest.raises(InvalidParameters) as refusal:
        instance.execute("go_to_workitem")
    assert refusal.value.data["errors"][0]["problem"] == (
        "Provide the absolute path or the child workitem type and optionally its id or index"
    )
    with pytest.raises(InvalidParameters, match="greater than or equal to 0"):
        instance.execute("remove_child_workitem", {"index": -1})


@pytest.mark.parametrize("name", ["remove_all_child_workitems", "move_to_last_child_workitem"])
def test_commands_that_are_broken_in_the_original_fail_alone(folder: Path, name: str) -> None:
    instance = Instance(load_workflow(folder / "simple_workflow_template"))
    instance.execute("startup")
    with pytest.raises(CommandFailed):
        instance.execute(name)
    assert says(instance, "get_status").startswith("Response: ")


def test_a_workflow_that_is_based_on_another(folder: Path) -> None:
    instance = Instance(load_workflow(folder / "extended_workflow_example"))
    assert says(instance, "startup") == (
        "{'message': 'Extended workflow initialized with custom features!', 'base_message': \"{'message': 'Application "
        "initialized.'}\", 'extended_features': ['Custom reporting', 'Enhanced analytics', 'Advanced notifications']}"
    )
    assert says(instance, "generate_report") == (
        "{'message': 'Generated summary report', 'report': {'report_type': 'summary', 'current_context': 'WorkItem', "
        "'include_details': True, 'generated_at': '2024-01-15 10:30:00', 'total_workitems': 1, 'workitem_details': "
        "{'type': 'Epic', 'title': 'Untitled', 'status': 'Unknown'}}}"
    )
    assert says(instance, "generate_report", include_details=False, report_type="full") == (
        "{'message': 'Generated full report', 'report': {'report_type': 'full', 'current_context': 'WorkItem', "
        "'include_details': False, 'generated_at': '2024-01-15 10:30:00', 'total_workitems': 1}}"
    )
    enhanced, _, _ = says(instance, "get_status").partition(", 'generated_at'")
    assert enhanced == (
        "Enhanced Response: {'base_status': {'is_complete': False, 'Story': '0/1 completed'}, 'analytics': "
        "{'completion_percentage': 0.0, 'child_count': 1, 'depth_level': 0, 'workitem_type': 'Epic'}"
    )
    says(instance, "add_child_workitem", workitem_type="Bug", id="b1")
    assert instance.execute("go_to_workitem", {"workitem_type": "Bug", "id": "b1"}).context == "WorkItem: /Bug[id=b1]"
    assert says(instance, "mark_as_complete", is_complete=True) == (
        "Work item '/Bug[id=b1]' has been marked as complete."
    )


@pytest.fixture
def shop(folder: Path) -> Instance:
    return Instance(load_workflow(folder / "retail_workflow"))


@pytest.mark.parametrize(
    ("name", "parameters", "answer"),
    [
        ("calculate", {"expression": "(2 + 3) * 4"}, "Result: 20.0"),
        ("find_user_id_by_email", {"email": "nobody@example.com"}, "The user id is: Error: user not found"),
        ("find_user_id_by_email", {"email": "noah.brown7922@example.com"}, "The user id is: noah_brown_6181"),
        (
            "find_user_id_by_name_zip",
            {"first_name": "Noah", "last_name": "Brown", "zip": "80279"},
            "The user id is: noah_brown_6181",
        ),
        ("cancel_pending_order", {"order_id": "W9999999"}, "current status is: Error: order not found"),
        (
            "cancel_pending_order",
            {"order_id": "W2378156"},
            "current status is: Error: non-pending order cannot be cancelled",
        ),
        ("get_order_details", {"order_id": "W0000001"}, "Order details: Error: order not found"),
        ("transfer_to_human_agents", {"summary": "needs help"}, "Response: transfer status: Transfer successful"),
        ("get_product_details", {"product_id": "1234567890"}, "Response: Error: product not found"),
    ],
)
def test_a_shop(shop: Instance, name: str, parameters: dict[str, Any], answer: str) -> None:
    assert says(shop, name, **parameters) == answer


def test_a_validator_may_change_a_parameter(shop: Instance) -> None:
    assert shop.execute("get_order_details", {"order_id": "W0000001"}).parameters == {"order_id": "#W0000001"}


def test_a_command_whose_input_has_no_fields_is_given_an_empty_one(shop: Instance) -> None:
    assert says(shop, "list_all_product_types").startswith('list of product types: {"Action Camera": "3377618313"')


def test_a_default_of_not_found_or_an_empty_list_means_required_and_all_are_named_at_once(shop: Instance) -> None:
    with pytest.raises(InvalidParameters) as refusal:
        shop.execute("exchange_delivered_order_items", {"order_id": "#W2378156"})
    errors = refusal.value.data["errors"]
    assert [error["parameter"] for error in errors] == ["item_ids", "new_item_ids", "payment_method_id"]
    assert "get_order_details or get_user_details" in errors[2]["problem"]


def test_a_list_may_come_as_text(shop: Instance) -> None:
    result = shop.execute_text(
        "exchange_delivered_order_items <order_id>W2378156</order_id> <item_ids>1151293680, 4983901480</item_ids> "
        "<new_item_ids>1</new_item_ids> <new_item_ids>2</new_item_ids> "
        "<payment_method_id>credit_card_9513926</payment_method_id>"
    )
    assert result.parameters["item_ids"] == ["1151293680", "4983901480"]
    assert result.parameters["new_item_ids"] == ["1", "2"]


def test_the_description_comes_from_the_workflow_folder(folder: Path) -> None:
    definition = load_workflow(folder / "retail_workflow")
    assert definition.description.startswith("This workflow is designed to manage e-commerce operations")
    assert definition.purpose.endswith("transferring issues to human agents.")


def _commands_with_parameters(definition: WorkflowDefinition) -> list[Any]:
    return [command for command in definition.commands if command.parameters]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_example_that_discovery_shows_is_accepted_as_it_stands(folder: Path, name: str) -> None:
    for command in _commands_with_parameters(load_workflow(folder / name)):
        parsed = parse_command(example_of(command), command.parameters)
        assert isinstance(parsed, CommandText), parsed
        _, errors = build_input(command, parsed.parameters)
        assert not errors, example_of(command)

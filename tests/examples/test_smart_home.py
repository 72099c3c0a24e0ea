"""A walk through the home."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import trio
import trio.testing

from greenroom.workflow.engine import UnknownCommand
from tests.examples.sessions import Session


@pytest.fixture
def home() -> Session:
    session = Session("smart_home")
    root: Any = session.instance.workflow.root_command_context
    root.seconds_per_step = 0
    return session


@pytest.fixture
def lamp(home: Session) -> Session:
    home.run("go_to_room <room>Living room</room>")
    home.run("select_device <device>Floor lamp</device>")
    return home


@pytest.fixture
def heater(home: Session) -> Session:
    home.run("go_to_room <room>Living room</room>")
    home.run("select_device <device>Radiator</device>")
    return home


def test_a_session_begins_at_home(home: Session) -> None:
    assert home.greeting == "Welcome home. The rooms are: Living room, Kitchen, Bedroom."
    assert home.context == "Home"
    assert home.says("list_rooms") == (
        "Living room: 0 of 4 devices on\nKitchen: 0 of 2 devices on\nBedroom: 0 of 2 devices on"
    )


def test_from_the_home_to_a_device_and_up_again(home: Session) -> None:
    assert home.says("go_to_room <room>livingroom</room>") == (
        "In the room Living room: Ceiling lamp, Floor lamp, Radiator, Record player."
    )
    assert home.context == "Room: Living room"
    assert home.says("select_device <device>recrod player</device>") == "Record player: off"
    assert home.context == "Device: Record player"
    assert home.says("go_up") == "Context is now 'Room: Living room'"
    assert home.says("go_up") == "Context is now 'Home'"
    assert home.says("go_up") == "Already at the top-level 'global' context."


def test_a_name_inside_a_longer_text_is_enough(home: Session) -> None:
    assert home.run("go_to_room <room>the kitchen please</room>").context == "Room: Kitchen"
    assert home.run("select_device <device>that coffee machine</device>").context == "Device: Coffee machine"


def test_a_device_that_may_be_one_of_several_is_asked_about(home: Session) -> None:
    home.run("go_to_room <room>Living room</room>")
    assert home.rejects("select_device <device>lamp</device>") == [
        "device is 'lamp', which is not known. Is one of these meant: Floor lamp, Ceiling lamp?"
    ]


def test_a_device_that_is_not_there_leaves_the_session_in_the_room(home: Session) -> None:
    home.run("go_to_room <room>Bedroom</room>")
    assert home.refuses("select_device <device>tv</device>") == "There is no device called 'tv' in this room."
    assert home.context == "Room: Bedroom"


def test_commands_of_the_home_can_be_run_from_any_device(lamp: Session) -> None:
    lamp.run("turn_on")
    assert lamp.says("list_active_devices") == "Living room, Floor lamp: on at 100 %, warm white"
    assert lamp.says("all_off") == "Turned off: Floor lamp."
    assert lamp.says("all_off") == "Everything in this room was off already."
    assert lamp.says("list_active_devices") == "Everything is off."
    assert lamp.context == "Lamp: Floor lamp"


def test_a_lamp_inherits_what_a_device_can_do_and_has_a_colour(lamp: Session) -> None:
    assert lamp.says("set_level <level>40</level>") == "Floor lamp: on at 40 %, warm white"
    assert lamp.says("turn_off") == "Floor lamp: off"
    assert lamp.says("set_colour <colour>warm white</colour>") == "Floor lamp will shine warm white."
    assert lamp.says("turn_on") == "Floor lamp: on at 40 %, warm white"
    assert lamp.says("set_colour <colour>AMBER</colour>") == "Floor lamp shines amber."
    assert lamp.run("Lamp/report_state").command_name == "Device/report_state"
    with pytest.raises(UnknownCommand):
        lamp.run("preheat")


def test_a_heater_inherits_it_too_but_has_no_colour(heater: Session) -> None:
    assert heater.says("turn_on") == "Radiator: on at 100 %, 17 degrees"
    with pytest.raises(UnknownCommand):
        heater.run("set_colour <colour>blue</colour>")


@pytest.mark.parametrize(
    ("level", "problem"),
    [
        ("101", "level: Input should be less than or equal to 100."),
        ("-1", "level: Input should be greater than or equal to 0."),
        ("half", 'level is "half", but it must be integer.'),
    ],
)
def test_a_level_is_a_whole_number_from_0_to_100(lamp: Session, level: str, problem: str) -> None:
    assert lamp.rejects(f"set_level <level>{level}</level>") == [problem]


def test_a_colour_is_one_of_four(lamp: Session) -> None:
    assert lamp.rejects("set_colour <colour>pink</colour>") == [
        'colour is "pink", but it must be one of: warm white, cool white, amber, blue.'
    ]


def test_a_scene_reports_every_device_that_it_sets(home: Session) -> None:
    assert home.says("run_scene <scene>movie night</scene>") == (
        "The scene movie night is set:\nCeiling lamp: off\nFloor lamp: on at 20 %, warm white\nRecord player: off"
    )
    assert home.reports == [
        (1, 3, "Ceiling lamp: off"),
        (2, 3, "Floor lamp: on at 20 %, warm white"),
        (3, 3, "Record player: off"),
    ]


def test_a_scene_for_leaving_turns_everything_off(home: Session) -> None:
    home.run("run_scene <scene>morning</scene>")
    assert home.says("list_active_devices") == (
        "Living room, Radiator: on at 60 %, 17 degrees\nKitchen, Kitchen lamp: on at 80 %, warm white\n"
        "Kitchen, Coffee machine: on at 100 %"
    )
    home.run("run_scene <scene>AWAY</scene>")
    assert home.says("list_active_devices") == "Everything is off."


def test_a_scene_is_one_of_four(home: Session) -> None:
    assert home.rejects("run_scene <scene>party</scene>") == [
        'scene is "party", but it must be one of: morning, movie night, good night, away.'
    ]


async def test_preheating_is_awaited_and_reports_every_degree(
    heater: Session, autojump_clock: trio.testing.MockClock
) -> None:
    root: Any = heater.instance.workflow.root_command_context
    root.seconds_per_step = 60
    call = heater.instance.prepare_text("preheat <degrees>20</degrees>")
    assert call.is_async
    result = await call.run_async()
    assert result.text == "Living room has 20 degrees now."
    assert heater.reports == [(1, 3, "18 degrees"), (2, 3, "19 degrees"), (3, 3, "20 degrees")]
    assert trio.current_time() == 180


async def test_preheating_stops_at_once_when_it_is_cancelled(
    heater: Session, autojump_clock: trio.testing.MockClock
) -> None:
    root: Any = heater.instance.workflow.root_command_context
    root.seconds_per_step = 60
    with trio.move_on_after(90):
        await heater.instance.prepare_text("preheat").run_async()
    assert heater.says("report_state") == "Radiator: on at 100 %, 18 degrees"


def test_without_greenroom_preheating_blocks_and_gives_the_same_answer(heater: Session) -> None:
    command = heater.instance.find("preheat").command
    blocking = sys.modules[command.response_generator.__module__]._Blocking
    workflow = heater.instance.workflow
    workflow.command_context_for_response_generation = workflow.current_command_context
    assert command.input_model is not None
    output = blocking()(workflow, "preheat", command.input_model(degrees=19))
    assert output.command_responses[0].response == "Living room has 19 degrees now."


def test_every_session_has_a_home_of_its_own(lamp: Session) -> None:
    lamp.run("turn_on")
    assert Session("smart_home").says("list_active_devices") == "Everything is off."

"""A walk through the console with a real browser, as somebody would take it who sees it for the first time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.browser import Theatre, chromium, theatre, watched_page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Theatre]:
    with theatre(tmp_path) as running:
        yield running


def ask(page: Page, text: str, mode: str = "Command") -> None:
    page.get_by_role("button", name=mode, exact=True).click()
    page.get_by_label("What to do").fill(text)
    page.get_by_label("What to do").press("Enter")


def test_a_command_is_run_from_its_form_and_its_traces_appear_before_it_ends(browser: Browser, house: Theatre) -> None:
    complaints: list[str] = []
    page = watched_page(browser, complaints)
    page.goto(f"{house.base}/console")
    page.locator("#commands summary", has_text="walk").click()
    form = page.get_by_role("form", name="walk")
    form.get_by_label("place").fill("the <sea> & back")
    expect(form.get_by_label("pace")).to_have_value("slow")
    form.get_by_role("button", name="Run").click()
    turn = page.locator("article.turn")
    expect(turn).to_have_attribute("data-state", "running")
    expect(turn.locator(".timeline")).to_contain_text("→ walk")
    expect(turn.locator(".timeline")).to_contain_text("the curtain rises")
    # It is still on stage, for nobody has opened the gate.
    expect(turn).to_have_attribute("data-state", "running")
    expect(turn.locator(".timeline")).not_to_contain_text("the second act")
    house.open_gate()
    expect(turn).to_have_attribute("data-state", "completed")
    expect(turn.locator(".answer")).to_have_text("walked to the <sea> & back")
    expect(turn.locator(".timeline")).to_contain_text("the second act")
    assert complaints == []


def test_feedback_is_given_and_a_conversation_is_read_and_switched(browser: Browser, house: Theatre) -> None:
    complaints: list[str] = []
    page = watched_page(browser, complaints)
    page.goto(f"{house.base}/console")
    ask(page, "look")
    turn = page.locator("article.turn")
    expect(turn).to_have_attribute("data-state", "completed")
    turn.get_by_label("What should have been different").fill("mention the wind")
    turn.get_by_role("button", name="Good").click()
    expect(turn.get_by_role("status")).to_have_text("Thank you, that is kept.")
    page.get_by_role("link", name="Conversations").click()
    page.get_by_role("button", name="Begin a new one").click()
    items = page.locator("#conversation-list button")
    expect(items).to_have_count(2)
    page.get_by_label("Search").fill("look")
    expect(items).to_have_count(1)
    items.first.click()
    read = page.locator("#reading article.turn")
    expect(read).to_contain_text("the sea is calm")
    expect(read.get_by_role("button", name="Good")).to_have_attribute("aria-pressed", "true")
    expect(read.get_by_label("What should have been different")).to_have_value("mention the wind")
    page.get_by_role("button", name="Go on with this one").click()
    expect(page).to_have_url(f"{house.base}/console#try")
    ask(page, "look")
    expect(page.locator("#turns article.turn").last).to_have_attribute("data-state", "completed")
    page.get_by_role("link", name="Conversations").click()
    expect(items.first).to_contain_text("2 turns")
    assert complaints == []


def test_somebody_elses_session_is_watched_as_it_happens(browser: Browser, house: Theatre) -> None:
    complaints: list[str] = []
    page = watched_page(browser, complaints)
    with httpx.Client(base_url=house.base, timeout=20) as other:
        opened = other.post("/initialize", json={"user_id": "somebody"}).json()
        session = {"X-Session-Id": opened["session_id"]}
        page.goto(f"{house.base}/console#sessions")
        page.locator("#session-list button", has_text="somebody").click()
        expect(page.locator("#watched")).to_contain_text("Session of somebody")
        body = {"command": "walk <place>the hills</place>", "on_timeout": "defer", "timeout_seconds": 0.2}
        assert other.post("/execute_command", json=body, headers=session).status_code == 504
        turn = page.locator("#watched article.turn").first
        expect(turn).to_have_attribute("data-state", "running")
        expect(turn.locator(".timeline")).to_contain_text("the curtain rises")
        expect(page.locator("#session-list button", has_text="somebody")).to_contain_text("running")
        house.open_gate()
        expect(turn).to_have_attribute("data-state", "completed")
        expect(turn).to_contain_text("walked to the hills")
    assert complaints == []


def test_a_plot_shows_what_the_server_has_done(browser: Browser, house: Theatre) -> None:
    complaints: list[str] = []
    page = watched_page(browser, complaints)
    page.goto(f"{house.base}/console")
    ask(page, "look")
    expect(page.locator("article.turn")).to_have_attribute("data-state", "completed")
    page.get_by_role("link", name="Health").click()
    plot = page.locator("figure", has_text="Sessions").first
    expect(plot.locator("strong")).to_have_text("1")
    expect(plot.locator("svg")).to_have_attribute("aria-label", "Sessions: now 1, highest 1")
    expect(plot.locator("polyline")).to_have_attribute("points", "0.00,4.00")
    expect(plot.locator("polyline")).to_have_attribute("points", "0.00,4.00 8.57,4.00")
    expect(page.locator("tr", has_text="Store commits").locator("td")).not_to_have_text("0")
    assert complaints == []


def test_everything_can_be_reached_with_the_keyboard_alone(browser: Browser, house: Theatre) -> None:
    complaints: list[str] = []
    page = watched_page(browser, complaints)
    page.goto(f"{house.base}/console")
    expect(page.locator("#commands summary").first).to_be_visible()
    seen: set[str] = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.textContent.trim() || document.activeElement.id"))
    assert {"Try", "Sessions", "Conversations", "Health", "user", "ask", "Assistant", "Agent", "Command"} <= seen
    assert {"look", "walk"} <= seen
    page.get_by_label("What to do").focus()
    page.keyboard.type("look")
    page.keyboard.press("Enter")
    expect(page.locator("article.turn")).to_contain_text("the sea is calm")
    assert complaints == []


@pytest.mark.parametrize("view", ["try", "sessions", "conversations", "health"])
def test_nothing_sticks_out_on_a_phone(browser: Browser, house: Theatre, view: str) -> None:
    complaints: list[str] = []
    page = watched_page(browser, complaints, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    page.goto(f"{house.base}/console#{view}")
    expect(page.locator(f"#view-{view}")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert complaints == []


def test_from_elsewhere_the_console_asks_for_the_token(browser: Browser, tmp_path: Path) -> None:
    token = "a-token-that-is-long-enough"
    public = {"GREENROOM_PUBLIC_URL": "http://greenroom.example.com", "GREENROOM_ADMIN_TOKEN": token}
    with theatre(tmp_path, **public) as house:
        page = watched_page(browser, [])
        page.goto(f"{house.base}/console#sessions")
        page.get_by_label("Admin token").fill("not the token at all")
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_role("alert").filter(has_text="token")).to_be_visible()
        expect(page.locator("#session-list")).to_have_count(0)
        page.get_by_label("Admin token").fill(token)
        page.get_by_label("Admin token").press("Enter")
        expect(page.locator("#session-list")).to_contain_text("Nobody is here.")

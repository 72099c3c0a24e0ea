"""The documentation page in a real browser: it shows every route, and a request can be tried and watched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from greenroom.transport.rest.table import ROUTES
from tests.console.browser import chromium, theatre, watched_page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_route_is_read_tried_and_watched_while_it_runs(tmp_path: Path, scheme: str) -> None:
    complaints: list[str] = []
    with theatre(tmp_path) as stage, chromium() as browser:
        page = watched_page(browser, complaints, color_scheme=scheme, viewport={"width": 390, "height": 800})
        page.goto(f"{stage.base}/docs")
        expect(page.locator("details.route")).to_have_count(len(ROUTES))
        page.get_by_role("button", name="Open a new one").click()
        expect(page.locator("#session")).to_have_value(re.compile(r"\S{20,}"))
        page.locator("#execute_command > summary").click()
        route = page.locator("#execute_command")
        route.get_by_label("Body").fill('{"command": "walk <place>the sea</place>"}')
        route.get_by_label("Accept").select_option("application/x-ndjson")
        route.get_by_role("button", name="Send").click()
        told = route.locator("pre[aria-live]")
        expect(told).to_contain_text('"type":"trace"')
        expect(told).not_to_contain_text('"type":"output"')
        stage.open_gate()
        expect(told).to_contain_text("walked to the sea")
        expect(told).to_contain_text('"type":"output"')
        # Nothing is wider than a phone.
        box = page.locator("main").bounding_box()
        assert box is not None
        assert box["width"] <= 390
    assert complaints == []

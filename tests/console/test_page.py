"""The console's own files: served as what they are, and asking nothing of anybody else."""

from __future__ import annotations

import re

import pytest

from greenroom.transport.console import HERE, KINDS
from greenroom.workflow.demo import DemoWorkflow
from tests.transport.playhouse import open_house

FILES = sorted(path.name for path in HERE.iterdir() if path.suffix in KINDS)


async def test_the_page_and_all_of_its_parts_are_served_with_a_policy_that_lets_nothing_else_in() -> None:
    async with open_house(DemoWorkflow()) as house:
        for path in ("/console", *(f"/console/{name}" for name in FILES)):
            response = await house.client.get(house.base + path)
            assert response.status_code == 200, path
            assert "default-src 'none'" in response.headers["content-security-policy"]
            assert response.headers["x-content-type-options"] == "nosniff"
        assert (await house.client.get(f"{house.base}/console")).headers["content-type"].startswith("text/html")
        assert (await house.client.get(f"{house.base}/console/main.js")).headers["content-type"].startswith("text/java")


@pytest.mark.parametrize("path", ["nothing.js", "__init__.py", "..%2fapp.py", "%2e%2e/app.py", "sub/main.js"])
async def test_nothing_else_can_be_had_by_its_name(path: str) -> None:
    async with open_house(DemoWorkflow()) as house:
        assert (await house.client.get(f"{house.base}/console/{path}")).status_code == 404


@pytest.mark.parametrize("name", FILES)
def test_no_file_names_another_host_or_carries_a_script_of_its_own(name: str) -> None:
    text = (HERE / name).read_text()
    assert set(re.findall(r"https?://[^\s\"'`)]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function", text)
    if name.endswith(".html"):
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son[a-z]+=|\sstyle=|<style", text)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".js")])
def test_every_import_leads_to_a_file_that_is_there_and_to_a_name_that_it_exports(name: str) -> None:
    for names, wanted in re.findall(r'import \{([^}]*)\} from "\./([^"]+)"', (HERE / name).read_text()):
        assert wanted in FILES
        exported = set(re.findall(r"export (?:async )?(?:function|class|const|let) (\w+)", (HERE / wanted).read_text()))
        assert {each.strip() for each in names.split(",") if each.strip()} <= exported, (name, wanted)

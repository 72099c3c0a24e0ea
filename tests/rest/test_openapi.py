"""The document and the server cannot differ, its examples work, and the page that shows it needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from greenroom.transport.rest import page
from greenroom.transport.rest.table import ROUTES
from greenroom.workflow.events import ToolsChanged
from tests.conversations.test_over_mcp import serving
from tests.rest.calling import NDJSON, Desk, desk_of, events_of, lines_of
from tests.transport.playhouse import House, Script, open_house
from tests.transport.test_sessions import hello


async def document_of(house: House) -> dict[str, Any]:
    response = await house.client.get(f"{house.base}/openapi.json")
    assert response.headers["content-type"] == "application/json"
    document: dict[str, Any] = response.json()
    return document


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def schemas(value: Any) -> Iterator[dict[str, Any]]:
    """Everything in a document that is a schema."""
    match value:
        case dict():
            if isinstance(value.get("schema"), dict):
                yield value["schema"]
            for inner in value.values():
                yield from schemas(inner)
        case list():
            for inner in value:
                yield from schemas(inner)


# --- the document ------------------------------------------------------------------------------------------


async def test_the_document_has_every_route_that_is_there_and_no_other(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        document = await document_of(house)
        assert document["openapi"] == "3.1.0"
        described = {(method, path) for path, method, _ in operations(document)}
        assert described == {(route.method, route.path) for route in ROUTES}
        names = [operation["operationId"] for _, _, operation in operations(document)]
        assert len(names) == len(set(names))
        found = list(schemas(document))
        assert len(found) > 50
        for schema in found:
            Draft202012Validator.check_schema(schema)


async def test_the_document_follows_the_tools_of_the_workflow() -> None:
    script = Script({"get_commands": hello})
    async with open_house(script) as house:
        assert set((await document_of(house))["paths"]) == {
            "/initialize",
            "/commands",
            "/turns/{turn_id}",
            "/cancel_pending",
        }
        script.plays["execute_command"] = hello
        house.app.supervisor.announce(ToolsChanged())
        assert "/execute_command" in (await document_of(house))["paths"]
        assert (await (await desk_of(house)).execute("x")).status_code == 200


async def test_every_error_is_described_in_the_one_shape_with_its_headers(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        document = await document_of(house)
        for path, method, operation in operations(document):
            statuses = {int(status) for status in operation["responses"]}
            assert {200, 400, 403, 406, 421, 422, 500, 503} <= statuses
            assert (401 in statuses) == (path != "/initialize") == bool(operation["security"])
            assert (415 in statuses) == (method == "POST")
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    assert response == {"$ref": f"#/components/responses/{status}"}
        responses = document["components"]["responses"]
        assert "WWW-Authenticate" in responses["401"]["headers"]
        assert "Retry-After" in responses["503"]["headers"]
        for response in responses.values():
            assert response["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}


async def test_examples_of_answers_fit_their_own_schemas(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        seen = 0
        for _, _, operation in operations(await document_of(house)):
            content = operation["responses"]["200"]["content"].get("application/json", {})
            if "example" in content:
                Draft202012Validator(content["schema"]).validate(content["example"])
                seen += 1
        assert seen >= 10


async def test_the_examples_of_requests_work_in_the_order_of_the_document(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        document = await document_of(house)
        desk = await desk_of(house)
        await desk.execute("list_lent")
        conversation = (await desk.get("/conversations")).json()["conversations"][0]["conversation_id"]
        turn = (await desk.get(f"/conversations/{conversation}")).json()["turns"][0]["turn_id"]
        ids = {"conversation_id": conversation, "turn_id": turn}
        for path, method, operation in operations(document):
            response = await follow(desk, path, method, operation, ids)
            assert response.status_code == 200, (path, response.text)
            check(operation, response)


async def follow(desk: Desk, path: str, method: str, operation: dict[str, Any], ids: dict[str, str]) -> Any:
    """Send the example of an operation, with ids that exist in the place of those that do not."""
    if method == "GET":
        return await desk.get(path.format(**ids))
    example = operation["requestBody"]["content"]["application/json"]["example"]
    if path == "/initialize":
        example = {**example, "user_id": "default_user"}
    return await desk.post(path, {name: ids.get(name, value) for name, value in example.items()})


def check(operation: dict[str, Any], response: Any) -> None:
    kind = response.headers["content-type"].partition(";")[0]
    schema = operation["responses"]["200"]["content"][kind]["schema"]
    value = lines_of(response.text) if kind == NDJSON["accept"] else response.json()
    Draft202012Validator(schema).validate(value)


async def test_events_of_a_stream_fit_what_is_said_of_them(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = await desk_of(house)
        _, _, operation = next(each for each in operations(await document_of(house)) if each[0] == "/execute_command")
        content = operation["responses"]["200"]["content"]
        lines = lines_of((await desk.post("/execute_command", {"command": "sort_slowly"}, NDJSON)).text)
        assert {"trace", "output"} <= {line["type"] for line in lines}
        Draft202012Validator(content["application/x-ndjson"]["schema"]).validate(lines)
        stream = await desk.post("/execute_command", {"command": "sort_slowly"}, {"accept": "text/event-stream"})
        for name, data in events_of(stream.text):
            event = {"event": name, "data": json.dumps(data)}
            Draft202012Validator(content["text/event-stream"]["schema"]).validate(event)


# --- the page ----------------------------------------------------------------------------------------------


async def test_the_page_is_whole_in_itself_and_its_policy_allows_nothing_else() -> None:
    async with open_house(Script({})) as house:
        for path in ("/docs", "/docs/"):
            response = await house.client.get(f"{house.base}{path}")
            assert response.status_code == 200
            assert response.headers["content-type"] == "text/html; charset=utf-8"
        policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["connect-src"] == "'self'"
        assert "unsafe" not in response.headers["content-security-policy"]
        for tag in ("script", "style"):
            [inline] = re.findall(rf"<{tag}>(.*?)</{tag}>", response.text, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
            assert policy[f"{tag}-src"] == f"'sha256-{digest}'"


@pytest.mark.parametrize(
    "pattern", [r"https?://", r"\bsrc=", r"<link", r"@import", r"\bstyle=", r"\bon[a-z]+=", "innerHTML"]
)
def test_the_page_asks_nobody_else_and_trusts_nothing_it_reads(pattern: str) -> None:
    assert re.search(pattern, page.HTML.decode()) is None

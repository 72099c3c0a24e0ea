"""Plain Python over a real socket: what a client sees of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import httpx
import trio

from greenroom.config.settings import Settings
from greenroom.workflow.catalog import find_workflow
from tests.plain.apps import write
from tests.transport.playhouse import House, answer, error_of, events, modern_request, open_house
from tests.transport.process import ROOT, server_process

EXAMPLES = ROOT / "examples"


@attrs.frozen
class Visit:
    house: House
    handle: str

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.house.call(tool, {**arguments, "session_id": self.handle})

    async def run(self, command: str) -> str:
        return said(await self("execute_command", command=command))

    async def ask(self, sentence: str) -> dict[str, Any]:
        result = await self("invoke_assistant", user_query=sentence)
        structured: dict[str, Any] = result["structuredContent"]
        return structured


@asynccontextmanager
async def opened(workflow: Path, data: Path) -> AsyncIterator[House]:
    async with open_house(find_workflow(Settings(workflow=str(workflow), speeddict_foldername=data))) as house:
        yield house


@asynccontextmanager
async def visiting(workflow: Path, data: Path) -> AsyncIterator[Visit]:
    async with opened(workflow, data) as house:
        yield Visit(house, await house.open_session())


def said(result: Mapping[str, Any]) -> str:
    text: str = result["content"][0]["text"]
    return text


async def test_fifteen_lines_are_a_workflow(tmp_path: Path) -> None:
    app = EXAMPLES / "plain_tearoom.py"
    assert len(app.read_text().splitlines()) == 15
    async with visiting(app, tmp_path) as visit:
        listed = (await visit("get_commands"))["structuredContent"]["commands"]
        assert [each["name"] for each in listed][:2] == ["order_tea", "show_menu"]
        assert await visit.run("show_menu") == "assam: 3.0\nmatcha: 4.5\nrooibos: 2.5"
        assert (
            await visit.run("order_tea <tea>matcha</tea> <cups>2</cups>") == "Tea is coming: 2 x matcha, 9.00 in all."
        )
        asked = await visit.ask("what is on the menu?")
        assert (asked["command_name"], asked["success"]) == ("show_menu", True)
        assert asked["command_responses"][0]["artifacts"] == {"assam": 3.0, "matcha": 4.5, "rooibos": 2.5}


async def test_what_a_function_raises_is_its_answer_and_no_traceback(tmp_path: Path) -> None:
    async with visiting(EXAMPLES / "plain_tearoom.py", tmp_path) as visit:
        result = await visit("execute_command", command="order_tea <tea>mud</tea>")
        assert said(result) == "We have no mud. There is assam, matcha, rooibos."
        assert result["structuredContent"]["success"] is False
        assert result["structuredContent"]["status"] == "failed"
        assert "plain_tearoom.py" not in str(result)
        wrong = error_of(await visit("execute_command", command="order_tea <cups>two</cups>"))
        assert (wrong["code"], wrong["name"]) == (422, "invalid_parameters")


async def test_a_session_walks_into_a_class_and_out_again(tmp_path: Path) -> None:
    async with visiting(EXAMPLES / "plain_garden", tmp_path) as visit:
        assert (await visit.ask("take me to the south bed"))["context"] == "the south bed"
        assert await visit.run("plant <what>bean</what> <on>2026-06-01</on>") == "kind: bean\nplanted: 2026-06-01"
        harvested = await visit.ask("harvest bean")
        assert (harvested["command_name"], harvested["response_text"]) == (
            "Bed/harvest",
            "The bean is in your basket.",
        )
        assert await visit.run("go_up") == "Context is now 'global'"
        assert (await visit.ask("open the basket"))["context"] == "Basket"
        assert await visit.run("show") == "- bean"
        info = (await visit("get_workflow_info"))["structuredContent"]
        assert info["available_contexts"] == ["global", "Basket", "Bed"]
        assert info["purpose"] == "A garden with beds to plant, water and harvest."


async def test_the_agent_takes_the_steps_that_it_is_told(tmp_path: Path) -> None:
    async with visiting(EXAMPLES / "plain_garden", tmp_path) as visit:
        result = await visit("invoke_agent", user_query="list_beds, then open_basket")
        assert result["structuredContent"]["context"] == "Basket"
        assert "open_basket" in [each.get("command_name") for each in result["structuredContent"]["traces"]]


async def test_sessions_share_the_module_and_nothing_else(tmp_path: Path) -> None:
    app = write(
        tmp_path,
        """
        seen = []
        class Basket:
            def __init__(self): self.items = []
            def put(self, item: str) -> str:
                self.items.append(item)
                seen.append(item)
                return f"{len(self.items)} of {len(seen)}"
        """,
    )
    async with opened(app, tmp_path / "data") as house:
        visits = [Visit(house, await house.open_session(user_id=f"user {number}")) for number in range(5)]
        answers: list[str] = []

        async def shop(visit: Visit) -> None:
            await visit.run("open_basket")
            for item in "abc":
                answers.append(await visit.run(f"put <item>{item}</item>"))

        async with trio.open_nursery() as nursery:
            for visit in visits:
                nursery.start_soon(shop, visit)
        assert sorted(answer.split()[0] for answer in answers) == ["1"] * 5 + ["2"] * 5 + ["3"] * 5
        assert max(int(answer.split()[-1]) for answer in answers) == 15


async def test_progress_of_an_async_function_arrives(tmp_path: Path) -> None:
    async with opened(EXAMPLES / "plain_garden", tmp_path) as house:
        handle = await house.open_session()
        arguments = {"command": "water_garden <litres>5</litres>", "session_id": handle}
        call = {"name": "execute_command", "arguments": arguments}
        response = await house.modern("tools/call", call, progressToken="p")
        *before, last = events(response.text)
        assert last["result"]["content"][0]["text"] == "2 beds have had 5 l each."
        notes = [each["params"] for each in before if each["method"] == "notifications/progress"]
        assert "The south bed has had 5 l." in [each.get("message") for each in notes]


async def test_a_function_that_blocks_holds_up_nobody_else(tmp_path: Path) -> None:
    app = write(
        tmp_path,
        """
        import threading
        gate = threading.Event()
        def hold() -> str:
            return "let go" if gate.wait(20) else "forgotten"
        def let_go() -> None:
            gate.set()
        """,
    )
    async with opened(app, tmp_path / "data") as house:
        one = Visit(house, await house.open_session(user_id="one"))
        other = Visit(house, await house.open_session(user_id="other"))
        heard: list[str] = []

        async def listen() -> None:
            heard.append(await one.run("hold"))

        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(listen)
                assert await other.run("let_go") == "Done."
        assert heard == ["let go"]


async def test_a_basket_survives_the_server(tmp_path: Path) -> None:
    async with visiting(EXAMPLES / "plain_garden", tmp_path) as visit:
        await visit.run("open_bed <bed>north</bed>")
        await visit.run("plant <what>kale</what>")
        await visit.run("harvest <what>kale</what>")
        await visit.run("open_basket")
        handle = visit.handle
    async with opened(EXAMPLES / "plain_garden", tmp_path) as house:
        assert await Visit(house, handle).run("show") == "- kale"


async def test_greenroom_serves_a_file(tmp_path: Path) -> None:
    command = ["-m", "greenroom", "serve", "--workflow", str(EXAMPLES / "plain_tearoom.py")]
    async with server_process(command, tmp_path) as server:
        await server.ready()
        post = partial(_post, server.base)
        handle = (await post("initialize", {}))["structuredContent"]["session_id"]
        result = await post("execute_command", {"command": "order_tea <tea>assam</tea>", "session_id": handle})
        assert said(result) == "Tea is coming: 1 x assam, 3.00 in all."


async def _post(base: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    headers, body = modern_request("tools/call", {"name": tool, "arguments": arguments})
    async with httpx.AsyncClient(timeout=20) as client:
        message = answer(await client.post(f"{base}/mcp", headers=headers, json=body))
    result: dict[str, Any] = message["result"]
    return result

"""The ways to make Greenroom say each sentence of the troubleshooting page.

A way brings about the trouble, for real, and returns what was said. It is registered under the heading it belongs to.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from greenroom.config.problems import ConfigurationError
from greenroom.config.settings import Settings, load_settings
from greenroom.persistence.engine import Engine
from greenroom.persistence.keys import FORMAT
from greenroom.persistence.names import folder_name
from greenroom.workflow.catalog import find_workflow
from greenroom.workflow.port import Turn
from greenroom.workflow.values import SessionUse
from tests.engine.folders import command, write
from tests.transport.playhouse import House, Script, eventually, open_house
from tests.transport.process import ROOT

Way = Callable[[Path], Awaitable[str]]

WAYS: dict[str, Way] = {}

COMMANDS = {
    "workflow_description.txt": "Runs errands.",
    "_commands/fetch_water.py": command('return f"{p.litres} litres"', fields="litres: int"),
    "_commands/fetch_wood.py": command('return "wood"'),
    "_commands/fall_over.py": command('raise RuntimeError("a secret of the log")'),
}


def says(heading: str) -> Callable[[Way], Way]:
    def register(way: Way) -> Way:
        assert heading not in WAYS
        WAYS[heading] = way
        return way

    return register


# --- stages for the trouble to happen on -------------------------------------------------------------------


@asynccontextmanager
async def errands(folder: Path, **settings: Any) -> AsyncIterator[House]:
    """A workflow folder with its store, served."""
    write(folder / "errands", COMMANDS)
    chosen = {"workflow": str(folder / "errands"), "speeddict_foldername": folder / "data", **settings}
    async with open_house(find_workflow(Settings(**chosen))) as house:
        yield house


async def told(house: House, tool: str, **arguments: Any) -> str:
    result = await house.call(tool, arguments)
    return str(result["content"][0]["text"])


async def told_in_session(folder: Path, tool: str, **arguments: Any) -> str:
    async with errands(folder) as house:
        return await told(house, tool, session_id=await house.open_session(), **arguments)


async def never(arguments: Mapping[str, Any], turn: Turn) -> str:
    await trio.sleep_forever()
    raise AssertionError


def waiting(**more: Any) -> Script:
    return Script({"wait": never, **more}, uses={"wait": SessionUse.REQUIRED})


def error_of(response: httpx.Response) -> str:
    return str(response.json()["error"]["message"])


def refusal(environ: Mapping[str, str]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(environ)
    return str(caught.value)


# --- starting ----------------------------------------------------------------------------------------------


@says("GREENROOM_… is not a variable that Greenroom knows: did you mean …? If not, unset it.")
async def _(folder: Path) -> str:
    return refusal({"GREENROOM_PROT": "8000"})


@says("GREENROOM_… is … (from …), but it must be …")
async def _(folder: Path) -> str:
    return refusal({"GREENROOM_PORT": "eight thousand"})


@says("STARTUP_COMMAND and STARTUP_ACTION are both set, but a session has one first turn: unset one of them.")
async def _(folder: Path) -> str:
    return refusal({"STARTUP_COMMAND": "a", "STARTUP_ACTION": '{"command_name": "a"}'})


@says("cannot serve")
async def _(folder: Path) -> str:
    async with open_house(Script({})) as house:
        taken = house.address[1]
        serve = [sys.executable, "-m", "greenroom", "serve", "--workflow", "demo", "--port", str(taken)]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GREENROOM_")}
        ran = await trio.run_process(serve, cwd=ROOT, env=clean, capture_stdout=True, capture_stderr=True, check=False)
    assert ran.returncode == 1
    return (ran.stdout + ran.stderr).decode()


# --- connecting --------------------------------------------------------------------------------------------


@says("This Host is not served here. Set GREENROOM_PUBLIC_URL to the URL that clients use.")
async def _(folder: Path) -> str:
    async with open_house(Script({})) as house:
        response = await house.client.post(house.url, headers={"host": "greenroom.example.com"}, json={})
    assert response.status_code == 421
    return response.text


@says("This Origin is not allowed. Add it to GREENROOM_ALLOWED_ORIGINS if it should be.")
async def _(folder: Path) -> str:
    async with open_house(Script({})) as house:
        response = await house.client.post(house.url, headers={"origin": "https://elsewhere.example"}, json={})
    assert response.status_code == 403
    return response.text


@says("The request body is larger than … bytes.")
async def _(folder: Path) -> str:
    async with open_house(Script({}), body_limit=100) as house:
        response = await house.client.post(house.url, json={"text": "x" * 100})
    assert response.status_code == 413
    return response.text


@says("This is for the operator, and open without a token on loopback only. …")
async def _(folder: Path) -> str:
    async with open_house(Script({})) as house:
        response = await house.client.get(f"{house.base}/metrics", headers={"x-forwarded-for": "192.0.2.1"})
    assert response.status_code == 403
    return error_of(response)


@says("Send the token of GREENROOM_ADMIN_TOKEN as `Authorization: Bearer <token>`.")
async def _(folder: Path) -> str:
    settings = load_settings({"GREENROOM_ADMIN_TOKEN": "long-enough-to-be-a-token"})
    async with open_house(Script({}), admin_token=settings.admin_token) as house:
        response = await house.client.get(f"{house.base}/admin/conversations.jsonl")
    assert response.status_code == 401
    return error_of(response)


# --- sessions ----------------------------------------------------------------------------------------------


@says("There is no such session. Call the tool `initialize` and pass the session_id that it returns.")
async def _(folder: Path) -> str:
    async with open_house(waiting()) as house:
        return await told(house, "wait", session_id="made up")


@says("Say which session is meant: send the session_id that /initialize returned as …")
async def _(folder: Path) -> str:
    async with errands(folder) as house:
        response = await house.client.post(f"{house.base}/execute_command", json={"command": "fetch_wood"})
    assert response.status_code == 401
    return error_of(response)


@says("All sessions are busy. Try again in a few seconds.")
async def _(folder: Path) -> str:
    async with open_house(waiting(), max_sessions=1) as house, trio.open_nursery() as nursery:
        nursery.start_soon(partial(told, house, "wait", session_id=await house.open_session()))
        await eventually(lambda: any(not actor.idle for actor in house.app.supervisor._sessions))
        said = await told(house, "initialize")
        nursery.cancel_scope.cancel()
    return said


@says("This session has too many calls waiting. Try again in a moment.")
async def _(folder: Path) -> str:
    async with open_house(waiting(), mailbox_size=1) as house, trio.open_nursery() as nursery:
        session_id = await house.open_session()
        nursery.start_soon(partial(told, house, "wait", session_id=session_id))
        await eventually(lambda: any(not actor.idle for actor in house.app.supervisor._sessions))
        said = await told(house, "wait", session_id=session_id)
        nursery.cancel_scope.cancel()
    return said


@says("The server is shutting down. Try again in a few seconds.")
async def _(folder: Path) -> str:
    async with open_house(waiting()) as house:
        await house.app.drain(0)
        return await told(house, "initialize")


# --- turns -------------------------------------------------------------------------------------------------


@says("Turn … is still running in this session. Wait for it, or stop it with `cancel_turn`, then try again.")
async def _(folder: Path) -> str:
    async with open_house(waiting()) as house, trio.open_nursery() as nursery:
        session_id = await house.open_session()
        nursery.start_soon(partial(told, house, "wait", session_id=session_id))
        await eventually(lambda: any(not actor.idle for actor in house.app.supervisor._sessions))
        said = await told(house, "wait", session_id=session_id)
        nursery.cancel_scope.cancel()
    return said


@says("Turn … was stopped, but its command has not returned yet. Try again in a moment.")
async def _(folder: Path) -> str:
    release = threading.Event()

    async def block(arguments: Mapping[str, Any], turn: Turn) -> str:
        await turn.run_blocking(release.wait, 30.0)
        return "late"

    script = waiting(block=block)
    script.uses["block"] = SessionUse.REQUIRED
    try:
        async with open_house(script) as house:
            session_id = await house.open_session()
            await told(house, "block", session_id=session_id, timeout_seconds=0.1)
            return await told(house, "wait", session_id=session_id)
    finally:
        release.set()


_TIMED_OUT = "Turn … did not finish within … seconds."


@says(
    f"{_TIMED_OUT} It was stopped and nothing of it was kept. Try again with a larger timeout_seconds, or with "
    'on_timeout "defer".'
)
async def _(folder: Path) -> str:
    async with open_house(waiting()) as house:
        return await told(house, "wait", session_id=await house.open_session(), timeout_seconds=0.05)


@says(f"{_TIMED_OUT} It goes on running: ask for its result with `get_turn`, or stop it with `cancel_turn`.")
async def _(folder: Path) -> str:
    async with open_house(waiting()) as house:
        waits = {"timeout_seconds": 0.05, "on_timeout": "defer"}
        return await told(house, "wait", session_id=await house.open_session(), **waits)


@says("Turn … was cancelled before it finished.")
async def _(folder: Path) -> str:
    async with open_house(waiting()) as house:
        session = {"session_id": await house.open_session()}
        begun = await house.call("wait", {**session, "timeout_seconds": 0.05, "on_timeout": "defer"})
        turn = {"turn_id": begun["structuredContent"]["error"]["data"]["turn_id"]}
        await told(house, "cancel_turn", **session, **turn)
        return await told(house, "get_turn", **session, **turn)


@says("This session has no turn …: it is unknown, or too old to be kept.")
async def _(folder: Path) -> str:
    async with open_house(waiting()) as house:
        return await told(house, "get_turn", session_id=await house.open_session(), turn_id="turn-0")


@says("These arguments do not fit the tool …")
async def _(folder: Path) -> str:
    async with errands(folder) as house:
        return await told(house, "execute_command", session_id=await house.open_session())


@says("The server failed while doing this. The details are in the server's log; trying again may help.")
async def _(folder: Path) -> str:
    async def fail(arguments: Mapping[str, Any], turn: Turn) -> str:
        raise RuntimeError("a secret of the log")

    async with open_house(Script({"fail": fail})) as house:
        return await told(house, "fail")


# --- commands ----------------------------------------------------------------------------------------------


@says("There is no command … in the context …")
async def _(folder: Path) -> str:
    return await told_in_session(folder, "execute_command", command="fetch_fire")


@says("The command … was not run: …")
async def _(folder: Path) -> str:
    return await told_in_session(folder, "execute_command", command="fetch_water <litres>many</litres>")


@says("The command … failed with …. The session is where it was before. The details are in the server's log.")
async def _(folder: Path) -> str:
    return await told_in_session(folder, "execute_command", command="fall_over")


@says("It is not clear which command is meant. These come closest: …")
async def _(folder: Path) -> str:
    async with errands(folder, workflow=str(ROOT / "examples" / "bookshop")) as house:
        session_id = await house.open_session()
        return await told(house, "invoke_assistant", session_id=session_id, user_query="I want to buy")


@says("No language model is configured, so each part of the task was taken by its meaning alone.")
async def _(folder: Path) -> str:
    return await told_in_session(folder, "invoke_agent", user_query="fetch_wood")


@says("The language model for … is not available: …")
async def _(folder: Path) -> str:
    # A port that nobody listens on, so that the call fails at once and for good.
    nobody = {"llm_models": {"LLM_AGENT": "litellm_proxy/none"}, "llm_proxy_base": "http://127.0.0.1:9/v1"}
    key = load_settings({"LITELLM_API_KEY_AGENT": "none"}).api_keys
    async with errands(folder, **nobody, api_keys=key) as house:
        return await told(house, "invoke_agent", session_id=await house.open_session(), user_query="fetch_wood")


# --- conversations -----------------------------------------------------------------------------------------


@says("There is no conversation …. `list_conversations` names those that there are.")
async def _(folder: Path) -> str:
    return await told_in_session(folder, "activate_conversation", conversation_id="made up")


@says("There is no turn to give feedback on yet.")
async def _(folder: Path) -> str:
    return await told_in_session(folder, "post_feedback", nl_feedback="good")


async def told_of_the_store(folder: Path, spoil: Callable[[Path], Any]) -> str:
    """What a user hears whose database, kept by an earlier server, was spoiled in the meantime."""
    async with errands(folder) as house:
        session_id = await house.open_session(user_id="ann")
        for _ in range(20):
            await told(house, "execute_command", session_id=session_id, user_id="ann", command="fetch_wood")
    undo = spoil(folder / "data" / "user_conversations" / folder_name("ann") / "db")
    logging.disable(logging.CRITICAL)
    try:
        async with errands(folder) as house:
            assert "Session opened" in await told(house, "initialize", user_id="bob")
            opened = await house.call("initialize", {"user_id": "ann"})
            if opened.get("isError"):
                return str(opened["content"][0]["text"])
            session = {"session_id": opened["structuredContent"]["session_id"], "user_id": "ann"}
            return await told(house, "execute_command", **session, command="fetch_wood")
    finally:
        logging.disable(logging.NOTSET)
        if undo is not None:
            undo()


_HOLD = """
import sys
from pathlib import Path
from greenroom.persistence.engine import Engine
engine = Engine(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


@says("These conversations are in use by another process of this server. Try again when it has stopped.")
async def _(folder: Path) -> str:
    def hold(database: Path) -> Callable[[], Any]:
        other = subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(database)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        return other.communicate

    return await told_of_the_store(folder, hold)


@says("What was kept here is damaged and cannot be read. The operator can repair it; nothing was overwritten.")
async def _(folder: Path) -> str:
    def cut_short(database: Path) -> None:
        table = next(database.glob("*.sst"))
        os.truncate(table, table.stat().st_size // 2)

    return await told_of_the_store(folder, cut_short)


@says("What was kept here was written by a newer release of the server, and this one does not understand it.")
async def _(folder: Path) -> str:
    def pretend(database: Path) -> None:
        engine = Engine(database)
        engine.write({FORMAT: b"999"}, ())
        engine.close()

    return await told_of_the_store(folder, pretend)


_WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
from greenroom.persistence.errors import StoreError
from greenroom.persistence.speedict_store import SpeedictStore
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
user = SpeedictStore(Path(sys.argv[1])).user("ann")
try:
    for number in range(1000):
        user.create_conversation(f"{number} {'x' * 200}", at=1)
except StoreError as error:
    print(error.message)
"""

# speedict imports pickle when it opens something; nobody may not be allowed to read the standard library by then.
_WITHOUT_RIGHTS = """
import os, pickle, sys
from pathlib import Path
from greenroom.persistence.errors import StoreError
from greenroom.persistence.speedict_store import SpeedictStore
os.chmod(sys.argv[1], 0o555)
if os.getuid() == 0:
    os.setuid(65534)
try:
    SpeedictStore(Path(sys.argv[1])).user("ann").create_conversation("c", at=1)
except StoreError as error:
    print(error.message)
"""


async def told_by_a_script(script: str, folder: Path) -> str:
    ran = await trio.run_process([sys.executable, "-c", script, str(folder)], cwd=ROOT, capture_stdout=True)
    return ran.stdout.decode()


@says(
    "The server's disk is full, so this was not kept. What was kept before can still be read; try again when the "
    "operator has made room."
)
async def _(folder: Path) -> str:
    return await told_by_a_script(_WITHOUT_ROOM, folder)


@says("The server may not write where conversations are kept. The operator has to allow it; then try again.")
async def _(folder: Path) -> str:
    with tempfile.TemporaryDirectory() as name:
        return await told_by_a_script(_WITHOUT_RIGHTS, Path(name))

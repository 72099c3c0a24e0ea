"""`python -m tests.llm_real.run`: ten tasks for the agent, with a real model; exit 0 if enough of them succeed.

Fetches the model on first use. A small model does not always find its way, so not every task has to succeed; but what a
task has done is judged by the state of its session, never by what the model says about it.
"""

from __future__ import annotations

import argparse
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import httpx
import trio

from tests.llm_real import install
from tests.llm_real.tasks import TASKS, Task
from tests.transport.playhouse import answer, modern_request
from tests.transport.process import free_port, server_process

ENOUGH = 7
TASK_SECONDS = 180.0
LOADING_SECONDS = 120.0
NAME = "qwen"
ROW = "{:>2}  {:<6} {:>7}  {}"


class RunError(Exception):
    """There is nothing to try the tasks on."""


@attrs.frozen
class Outcome:
    commands: str
    done: bool
    remark: str = ""


@attrs.frozen
class Client:
    """One session of a client of the newer era."""

    http: httpx.AsyncClient
    url: str
    session_id: str = ""

    async def call(self, tool: str, **arguments: str) -> dict[str, Any]:
        own = {"session_id": self.session_id} if self.session_id else {}
        headers, body = modern_request("tools/call", {"name": tool, "arguments": {**arguments, **own}})
        message = answer(await self.http.post(self.url, headers=headers, json=body))
        result: dict[str, Any] = message.get("result") or {"structuredContent": {}, "content": message["error"]}
        return result

    async def opened(self) -> Client:
        result = await self.call("initialize", user_id=secrets.token_hex(4))
        if "session_id" not in result["structuredContent"]:
            raise RunError(f"no session could be opened: {result['content']}")
        return attrs.evolve(self, session_id=result["structuredContent"]["session_id"])

    async def execute(self, command: str) -> str:
        return str((await self.call("execute_command", command=command))["structuredContent"].get("response_text", ""))


@asynccontextmanager
async def a_folder() -> AsyncIterator[str]:
    """For what the server keeps: two runs, or what one has left behind, must not be in each other's way."""
    with TemporaryDirectory(dir=install.BUILD, prefix="data-", ignore_cleanup_errors=True) as folder:
        yield folder


@asynccontextmanager
async def model_server() -> AsyncIterator[str]:
    """The base address of the model, once it is loaded."""
    port = free_port()
    command = [str(install.PYTHON), str(install.HERE / "serve.py"), str(install.MODEL), str(port), NAME]
    with (install.BUILD / "model.log").open("wb") as log:
        process = await trio.lowlevel.open_process(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        await _loaded(process, f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        await process.wait()


async def _loaded(process: trio.Process, url: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        with trio.move_on_after(LOADING_SECONDS):
            while process.poll() is None:
                try:
                    if (await client.get(url)).status_code == 200:
                        return
                except httpx.TransportError:
                    pass
                await trio.sleep(0.2)
    raise RunError(f"the model does not start:\n{(install.BUILD / 'model.log').read_text(errors='replace')[-2000:]}")


async def perform(task: Task, client: Client) -> Outcome:
    """A session of its own: set the scene, hand the task over, look at what has become of it."""
    client = await client.opened()
    for command in task.before:
        await client.execute(command)
    result = await client.call("invoke_agent", user_query=task.words)
    said = result["structuredContent"]
    seen = "\n".join([await client.execute(command) for command in task.look])
    done = task.done(seen)
    remark = "" if done else f"said: {said.get('response_text') or result['content']} | found: {seen}"
    return Outcome(_commands(said), done, remark)


def _commands(said: Mapping[str, Any]) -> str:
    """What was run, in order; what was refused or failed in parentheses."""
    results = [each for each in said.get("traces", ()) if each["direction"] == "workflow_to_agent"]
    names = (each.get("command_name") or str(each.get("raw_command")).partition(" ")[0] for each in results)
    return (
        ", ".join(name if each.get("success") else f"({name})" for name, each in zip(names, results, strict=True))
        or "none"
    )


async def run_all(workflow: str, verbose: bool) -> int:
    """How many tasks succeeded."""
    succeeded = 0
    command = ["-m", "greenroom", "serve", "--workflow", workflow]
    async with (
        a_folder() as data,
        model_server() as base,
        server_process(
            command,
            install.BUILD,
            LLM_AGENT=f"litellm_proxy/{NAME}",
            LITELLM_PROXY_API_BASE=base,
            SPEEDDICT_FOLDERNAME=data,
            GREENROOM_TURN_TIMEOUT_SECONDS=str(TASK_SECONDS),
        ) as server,
        httpx.AsyncClient(timeout=None, trust_env=False) as http,
    ):
        await server.ready()
        print(ROW.format("", "", "seconds", "task and commands"))
        for number, task in enumerate(TASKS, 1):
            started = trio.current_time()
            outcome = Outcome("none", False, f"not done after {TASK_SECONDS:g} s")
            with trio.move_on_after(TASK_SECONDS):
                outcome = await perform(task, Client(http, f"{server.base}/mcp"))
            verdict = "ok" if outcome.done else "FAILED"
            took = f"{trio.current_time() - started:.1f}"
            print(ROW.format(number, verdict, took, task.words), flush=True)
            print(ROW.format("", "", "", f"-> {outcome.commands}"), flush=True)
            if outcome.remark and verbose:
                print(ROW.format("", "", "", outcome.remark), flush=True)
            succeeded += outcome.done
    return succeeded


async def until_told(workflow: str, verbose: bool) -> int:
    """`run_all`, which takes its processes with it when it is told to stop."""
    succeeded = 0
    with trio.open_signal_receiver(signal.SIGTERM) as told:
        async with trio.open_nursery() as running:

            async def stop() -> None:
                async for _ in told:
                    running.cancel_scope.cancel()

            running.start_soon(stop)
            try:
                succeeded = await run_all(workflow, verbose)
            except RunError as error:
                print(error, file=sys.stderr)
            running.cancel_scope.cancel()
    return succeeded


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.llm_real.run", description=__doc__)
    parser.add_argument("--workflow", default="examples/bookshop")
    parser.add_argument("--verbose", action="store_true", help="say why a task failed")
    args = parser.parse_args()
    try:
        install.runner()
        install.model()
        succeeded = trio.run(until_told, args.workflow, args.verbose)
    except install.InstallError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{succeeded} of {len(TASKS)} tasks done; {ENOUGH} are enough")
    return 0 if succeeded >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())

"""A real child and a fake endpoint in a Trio thread of their own, for as long as a module's tests take.

litellm takes seconds to load, and a test of pytest-trio has a Trio run to itself, so a child that several tests share
cannot belong to any of them.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import attrs
import trio

from greenroom.config.secret import Secret
from greenroom.workflow.llm.process import Limits, LlmProcess
from greenroom.workflow.llm.routes import Routes
from tests.llm.fake_openai import FakeOpenAI

T = TypeVar("T")

KEY = "sk-a-key-that-must-not-be-seen"


@attrs.define
class Stage:
    llm: LlmProcess
    fake: FakeOpenAI
    token: trio.lowlevel.TrioToken
    finished: trio.Event

    def run(self, scene: Callable[[], Awaitable[T]]) -> T:
        async def in_time() -> T:
            with trio.fail_after(30):
                return await scene()

        return trio.from_thread.run(in_time, trio_token=self.token)


async def play(stages: queue.Queue[Stage]) -> None:
    fake = FakeOpenAI()
    finished = trio.Event()
    async with trio.open_nursery() as nursery:
        await nursery.start(fake.run)
        models = {"LLM_AGENT": "litellm_proxy/some-model"}
        routes = Routes(models, {"LITELLM_PROXY_API_KEY": Secret(KEY)}, proxy_base=fake.base)
        llm = LlmProcess(routes, Limits(call_timeout=30), jitter=lambda: 0.0)
        await nursery.start(llm.run)
        stages.put(Stage(llm, fake, trio.lowlevel.current_trio_token(), finished))
        await finished.wait()
        nursery.cancel_scope.cancel()


@contextmanager
def opened() -> Iterator[Stage]:
    stages: queue.Queue[Stage] = queue.Queue()
    thread = threading.Thread(target=trio.run, args=(play, stages))
    thread.start()
    stage = stages.get(timeout=10)
    yield stage
    stage.token.run_sync_soon(stage.finished.set)
    thread.join()

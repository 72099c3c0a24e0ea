"""Spans of requests, turns, commands and calls to a model: who is whose parent, and what is in them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from greenroom.config.errors import InvalidArguments
from greenroom.persistence.journal import MemoryJournal, TurnRecord
from greenroom.transport.spans import Telemetry
from greenroom.workflow.llm.errors import LlmRefused
from greenroom.workflow.port import Turn
from greenroom.workflow.spans import CURRENT
from tests.conversations.test_over_mcp import serving
from tests.llm.test_process import running, saying
from tests.observability.looking import get
from tests.transport.playhouse import House, Script, eventually, modern_request, open_house

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
OTHER_TRACE = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
OTHER_TRACEPARENT = f"00-{OTHER_TRACE}-bbbbbbbbbbbbbbbb-01"


class Spans:
    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    @property
    def all(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.all]

    def __getitem__(self, name: str) -> ReadableSpan:
        (found,) = [span for span in self.all if span.name == name]
        return found

    async def come(self, *names: str) -> None:
        await eventually(lambda: set(names) <= set(self.names))


@asynccontextmanager
async def recorded(house: House) -> AsyncIterator[Spans]:
    """From here on, with an exporter that keeps everything."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    house.app.record_spans(Telemetry(provider))
    yield Spans(exporter)


def is_under(child: ReadableSpan, parent: ReadableSpan) -> bool:
    assert child.context is not None
    assert parent.context is not None
    return (
        child.parent is not None
        and child.parent.span_id == parent.context.span_id
        and child.context.trace_id == parent.context.trace_id
    )


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


def parent_of(span: ReadableSpan) -> str | None:
    return f"{span.parent.span_id:016x}" if span.parent is not None else None


async def hello(arguments: Mapping[str, Any], turn: Turn) -> str:
    return "hi"


async def refuse(arguments: Mapping[str, Any], turn: Turn) -> str:
    raise InvalidArguments("No tea for anna-of-all-people.")


async def test_a_turn_hangs_on_its_request_and_the_request_on_the_callers_header() -> None:
    async with open_house(Script({"hello": hello})) as house, recorded(house) as spans:
        handle = await house.open_session()
        headers, body = modern_request("tools/call", {"name": "hello", "arguments": {"session_id": handle}})
        await house.client.post(house.url, headers={**headers, "traceparent": TRACEPARENT}, json=body)
        await spans.come("tools/call hello")
        request, turn = spans["tools/call hello"], spans["turn hello"]
        assert request.kind is SpanKind.SERVER
        assert (trace_of(request), parent_of(request)) == (TRACE, PARENT)
        assert is_under(turn, request)
        assert dict(request.attributes or {}) == {
            "http.request.method": "POST",
            "http.route": "/mcp",
            "mcp.method.name": "tools/call",
            "gen_ai.tool.name": "hello",
            "http.response.status_code": 200,
        }
        facts = dict(turn.attributes or {})
        assert str(facts.pop("greenroom.turn.id")).startswith("turn-")
        assert facts == {
            "greenroom.turn.kind": "tool",
            "gen_ai.tool.name": "hello",
            "greenroom.turn.outcome": "completed",
            "greenroom.session": facts["greenroom.session"],
        }
        assert request.start_time is not None
        assert turn.start_time is not None
        assert request.end_time is not None
        assert turn.end_time is not None
        assert request.start_time <= turn.start_time <= turn.end_time <= request.end_time


async def test_what_the_call_itself_says_wins_over_the_header_which_becomes_a_link() -> None:
    async with open_house(Script({"hello": hello})) as house, recorded(house) as spans:
        headers, body = modern_request("tools/call", {"name": "hello"}, traceparent=TRACEPARENT)
        await house.client.post(house.url, headers={**headers, "traceparent": OTHER_TRACEPARENT}, json=body)
        await spans.come("tools/call hello")
        request = spans["tools/call hello"]
        assert (trace_of(request), parent_of(request)) == (TRACE, PARENT)
        assert [f"{link.context.trace_id:032x}" for link in request.links] == [OTHER_TRACE]
        assert is_under(spans["turn hello"], request)


@pytest.mark.parametrize("arguments", [{}, {"timeout_seconds": 5}])
async def test_an_older_client_has_its_turn_under_its_request_too(arguments: dict[str, Any]) -> None:
    # The second is not plain enough for the short way.
    async with open_house(Script({"hello": hello})) as house, recorded(house) as spans:
        headers = await house.shake_hands()
        params = {"name": "hello", "arguments": arguments, "_meta": {"traceparent": TRACEPARENT}}
        await house.legacy(headers, "tools/call", params)
        await spans.come("tools/call hello")
        request = spans["tools/call hello"]
        assert (trace_of(request), parent_of(request)) == (TRACE, PARENT)
        assert is_under(spans["turn hello"], request)


@pytest.mark.parametrize("given", ["", "nonsense", f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{PARENT}", "é" * 55])
async def test_a_parent_that_makes_no_sense_is_none(given: str) -> None:
    async with open_house(Script({"hello": hello})) as house, recorded(house) as spans:
        await house.call("hello", traceparent=given)
        headers, body = modern_request("tools/call", {"name": "hello"}, traceparent=7)
        raw = {name.encode(): value.encode() for name, value in headers.items()}
        await house.client.post(house.url, headers={**raw, b"traceparent": given.encode("latin-1")}, json=body)
        await eventually(lambda: spans.names.count("tools/call hello") == 2)
        requests = [span for span in spans.all if span.name == "tools/call hello"]
        assert [span.parent for span in requests] == [None, None]
        assert len({trace_of(span) for span in requests}) == 2


async def test_turns_of_one_session_do_not_hang_on_each_other() -> None:
    async with open_house(Script({"hello": hello})) as house, recorded(house) as spans:
        handle = await house.open_session()
        for _ in range(3):
            await house.call("hello", {"session_id": handle})
        await eventually(lambda: spans.names.count("tools/call hello") == 3)
        turns = [span for span in spans.all if span.name == "turn hello"]
        requests = [span for span in spans.all if span.name == "tools/call hello"]
        assert len({trace_of(span) for span in turns}) == 3
        assert all(any(is_under(turn, request) for request in requests) for turn in turns)


async def test_nothing_that_a_client_or_user_said_is_in_a_span() -> None:
    async with open_house(Script({"hello": hello, "refuse": refuse})) as house, recorded(house) as spans:
        handle = await house.open_session(user_id="anna-of-all-people")
        await house.call("refuse", {"session_id": handle, "secret": "open sesame"})
        await house.modern("tools/call", {"name": "made-up-tool", "arguments": {"secret": "open sesame"}})
        await house.modern("made-up/method", {"secret": "open sesame"})
        await get(house, "/made-up/path?secret=sesame", authorization="Bearer sesame")
        await house.client.request("BREW", f"{house.base}/health")
        await spans.come("turn refuse", "tools/call refuse", "tools/call other", "other", "GET other", "other /health")
        told = " ".join(span.to_json() for span in spans.all)
        for secret in ("anna-of-all-people", "sesame", "made-up", "BREW", handle):
            assert secret not in told


async def test_a_turn_that_fails_says_with_which_error() -> None:
    async with open_house(Script({"refuse": refuse})) as house, recorded(house) as spans:
        await house.call("refuse")
        await spans.come("turn refuse")
        turn = spans["turn refuse"]
        assert turn.status.status_code is StatusCode.ERROR
        assert turn.status.description is None
        assert dict(turn.attributes or {})["error.type"] == "invalid_arguments"


async def test_a_turn_that_takes_too_long_says_so() -> None:
    async def wait(arguments: Mapping[str, Any], turn: Turn) -> str:
        await trio.sleep_forever()
        raise AssertionError

    async with open_house(Script({"wait": wait})) as house, recorded(house) as spans:
        await house.call("wait", {"timeout_seconds": 0.05})
        await spans.come("turn wait")
        assert dict(spans["turn wait"].attributes or {})["greenroom.turn.outcome"] == "turn_timed_out"


class BrokenJournal(MemoryJournal):
    def commit(self, record: TurnRecord) -> None:
        raise OSError("no disk")


async def test_the_span_of_a_turn_ends_even_if_its_session_crashes() -> None:
    async with open_house(Script({"hello": hello}), BrokenJournal()) as house, recorded(house) as spans:
        handle = await house.open_session()
        await house.call("hello", {"session_id": handle})
        await spans.come("turn hello")
        assert dict(spans["turn hello"].attributes or {})["greenroom.turn.outcome"] == "session_crashed"


async def test_a_request_over_rest_is_the_parent_of_its_turn(tmp_path: Path) -> None:
    async with serving(tmp_path) as house, recorded(house) as spans:
        handle = await house.open_session()
        response = await house.client.post(
            f"{house.base}/execute_command",
            headers={"authorization": f"Bearer {handle}", "traceparent": TRACEPARENT},
            json={"command": "what_can_i_do"},
        )
        assert response.status_code == 200, response.text
        await spans.come("POST /execute_command")
        request = spans["POST /execute_command"]
        assert (trace_of(request), parent_of(request)) == (TRACE, PARENT)
        assert is_under(spans["turn execute_command"], request)
        assert is_under(spans["command what_can_i_do"], spans["turn execute_command"])


async def test_a_command_hangs_on_its_turn_and_says_how_it_ended(tmp_path: Path) -> None:
    async with serving(tmp_path) as house, recorded(house) as spans:
        handle = await house.open_session()
        await house.call("execute_command", {"session_id": handle, "command": "what_can_i_do"})
        await house.call("execute_command", {"session_id": handle, "command": "open sesame"})
        await spans.come("command what_can_i_do", "command")
        done, refused = spans["command what_can_i_do"], spans["command"]
        assert done.status.status_code is StatusCode.UNSET
        assert dict(done.attributes or {}) == {"greenroom.command": "what_can_i_do"}
        assert refused.status.status_code is StatusCode.ERROR
        assert set(refused.attributes or {}) == {"error.type"}
        assert refused.events == ()
        turns = [span for span in spans.all if span.name == "turn execute_command"]
        assert is_under(done, turns[0])
        assert is_under(refused, turns[1])


async def test_a_call_to_a_model_hangs_on_its_turn() -> None:
    async with running() as llm:

        async def think(arguments: Mapping[str, Any], turn: Turn) -> str:
            await llm.complete(saying("open sesame"))
            with pytest.raises(LlmRefused):
                await llm.complete(saying("fail:401"))
            return "done"

        async with open_house(Script({"think": think})) as house, recorded(house) as spans:
            await house.call("think")
            await spans.come("turn think")
            done, refused = (span for span in spans.all if span.name == "chat some/model")
            assert is_under(done, spans["turn think"])
            assert is_under(refused, spans["turn think"])
            assert dict(done.attributes or {}) == {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "some/model",
                "greenroom.llm.role": "agent",
                "gen_ai.usage.input_tokens": 0,
                "gen_ai.usage.output_tokens": 0,
            }
            assert dict(refused.attributes or {})["error.type"] == "llm_refused"
            assert refused.status.status_code is StatusCode.ERROR
            assert "sesame" not in " ".join(span.to_json() for span in spans.all)


async def test_without_an_exporter_a_turn_has_nothing_to_record_with() -> None:
    seen: list[object] = []

    async def look(arguments: Mapping[str, Any], turn: Turn) -> str:
        seen.append(CURRENT.get())
        return "done"

    async with open_house(Script({"look": look})) as house:
        assert house.app.telemetry is None
        await house.call("look")
        async with recorded(house):
            await house.call("look")
        assert seen[0] is None
        assert seen[1] is not None

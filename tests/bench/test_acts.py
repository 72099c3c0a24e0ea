"""What the benchmark lets pass: every script, given right and wrong answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from bench.acts import PROGRESS_TOKEN, Stage
from bench.load import Script, Wrong
from bench.wire import LEGACY, Response

STAGE = Stage("127.0.0.1:1")
OURS = Stage("127.0.0.1:1", own_sessions=True)
EMPTY_NOTEBOOK = {"content": [{"type": "text", "text": "empty"}], "structuredContent": {"notes": []}}

Answer = Callable[[Mapping[str, Any]], Response]


def body_of(request: bytes) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(request.partition(b"\r\n\r\n")[2] or b"{}")
    return body


def saying(*messages: Mapping[str, Any], status: int = 200, head: bytes = b"") -> Response:
    if len(messages) == 1:
        return Response(status, head, json.dumps(messages[0]).encode())
    return Response(status, head, b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in messages))


def result(value: Mapping[str, Any]) -> Answer:
    return lambda request: saying({"jsonrpc": "2.0", "id": request["id"], "result": value})


def play(script: Script, *answers: Answer) -> list[bytes]:
    """Give the answers in turn; the requests that were made. The script must end with the last one."""
    requests = [next(script)]
    for place, answer in enumerate(answers):
        try:
            requests.append(script.send(answer(body_of(requests[-1]))))
        except StopIteration:
            assert place == len(answers) - 1
            return requests
    raise AssertionError(f"the script goes on with {requests[-1]!r}")


def test_a_call_is_right_when_its_own_id_brings_an_empty_notebook() -> None:
    script = STAGE.calls(["a", "b"])
    (request,) = play(script(1), result(EMPTY_NOTEBOOK))
    assert b"Mcp-Session-Id: b\r\n" in request
    assert body_of(request)["params"] == {"name": "recall", "arguments": {"user_id": "default_user"}}


def test_a_notebook_may_come_as_text_alone() -> None:
    play(STAGE.calls(["a"])(0), result({"content": [{"type": "text", "text": '{"notes": []}'}]}))


def test_no_two_calls_have_the_same_id() -> None:
    scripts = STAGE.calls(["a"])
    first, second = (body_of(play(scripts(0), result(EMPTY_NOTEBOOK))[0])["id"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: saying({"id": request["id"] + 1, "result": EMPTY_NOTEBOOK}),
        lambda request: saying({"id": request["id"], "error": {"code": -32603, "message": "no"}}),
        lambda request: saying({"id": request["id"], "result": EMPTY_NOTEBOOK}, status=503),
        lambda request: Response(200, b"", b"data: \n\n: keep-alive\n\n"),
        result({**EMPTY_NOTEBOOK, "isError": True}),
        result({**EMPTY_NOTEBOOK, "structuredContent": {"notes": ["one"]}}),
        result({**EMPTY_NOTEBOOK, "structuredContent": {}}),
    ],
)
def test_any_other_answer_to_a_call_is_wrong(answer: Answer) -> None:
    with pytest.raises(Wrong):
        play(STAGE.calls(["a"])(0), answer)


def test_a_call_without_a_session_says_its_era_and_wants_a_greeting() -> None:
    script = STAGE.stateless_calls()
    (request,) = play(script(0), result({"content": [{"type": "text", "text": "Hello, you"}]}))
    assert b"Mcp-Protocol-Version: 2026-07-28\r\n" in request
    assert b"Mcp-Session-Id" not in request
    with pytest.raises(Wrong):
        play(script(0), result({"content": [{"type": "text", "text": "Goodbye"}]}))


def opened(request: Mapping[str, Any]) -> Response:
    message = {"id": request["id"], "result": {"protocolVersion": LEGACY}}
    return saying(message, head=b"HTTP/1.1 200 OK\r\nMCP-Session-Id: s1")


def accepted(request: Mapping[str, Any]) -> Response:
    return Response(202, b"", b"")


def test_a_set_up_is_a_handshake_and_a_farewell_in_the_same_session() -> None:
    requests = play(STAGE.set_ups()(0), opened, accepted, accepted)
    assert [request.split(b" ")[0] for request in requests] == [b"POST", b"POST", b"DELETE"]
    assert [b"Mcp-Session-Id: s1" in request for request in requests] == [False, True, True]


def test_a_set_up_of_ours_moves_in_before_it_leaves() -> None:
    moved_in = result({"content": [], "structuredContent": {"session_id": "h"}})
    requests = play(OURS.own_set_ups()(0), opened, accepted, moved_in, accepted)
    assert body_of(requests[2])["params"]["name"] == "initialize"


def test_a_handshake_without_a_session_is_wrong() -> None:
    with pytest.raises(Wrong):
        play(STAGE.set_ups()(0), result({"protocolVersion": LEGACY}), accepted, accepted)


def test_a_farewell_that_is_refused_is_wrong() -> None:
    with pytest.raises(Wrong):
        play(STAGE.set_ups()(0), opened, accepted, lambda _: Response(405, b"", b""))


def counted(steps: Sequence[int], token: str = PROGRESS_TOKEN) -> Answer:
    told = [
        {"method": "notifications/progress", "params": {"progressToken": token, "progress": step}} for step in steps
    ]
    return lambda request: saying(*told, {"id": request["id"], "result": {"content": []}})


def test_a_countdown_is_right_when_every_step_is_told_in_order() -> None:
    play(STAGE.countdowns(["a"], 3, 0)(0), counted([1, 2, 3]))


@pytest.mark.parametrize("steps", [[1, 2], [1, 2, 2, 3], [2, 1, 3], []])
def test_a_countdown_that_loses_repeats_or_swaps_a_step_is_wrong(steps: list[int]) -> None:
    with pytest.raises(Wrong):
        play(STAGE.countdowns(["a"], 3, 0)(0), counted(steps))


def test_progress_of_another_call_is_wrong() -> None:
    with pytest.raises(Wrong):
        play(STAGE.countdowns(["a"], 2, 0)(0), counted([1, 2], token="other"))


def test_a_command_must_say_what_is_expected() -> None:
    scripts = OURS.commands(["a"], "find", "found it")
    play(scripts(0), result({"content": [{"type": "text", "text": "I found it."}]}))
    with pytest.raises(Wrong):
        play(scripts(0), result({"content": [{"type": "text", "text": "Nothing."}]}))


def test_an_arrival_makes_a_call_in_its_new_session() -> None:
    requests = play(STAGE.arrivals(own=False)(0), opened, accepted, result(EMPTY_NOTEBOOK))
    assert body_of(requests[-1])["params"]["name"] == "recall"
    assert b"Mcp-Session-Id: s1" in requests[-1]

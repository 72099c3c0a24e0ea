"""When to try again, and what to say when not."""

from __future__ import annotations

import pytest

from greenroom.workflow.llm.errors import LlmRefused, LlmTimedOut, LlmUnavailable
from greenroom.workflow.llm.port import Purpose
from greenroom.workflow.llm.retries import Failure, asked_for, pause_before, verdict
from greenroom.workflow.llm.routes import Route

NOON = 1_700_000_000.0
ROUTE = Route("some/model", "LITELLM_API_KEY_AGENT")


def judged(failure: Failure) -> Exception:
    return verdict(failure, Purpose.AGENT, ROUTE, 120.0, NOON)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0.0),
        ("7", 7.0),
        ("0.25", 0.25),
        ("-3", 0.0),
        ("nan", 0.0),
        ("inf", 0.0),
        ("soon", 0.0),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tue, 14 Nov 2023 22:13:10 GMT", 0.0),
    ],
)
def test_a_retry_after_is_a_number_or_a_date(header: str | None, seconds: float) -> None:
    assert asked_for(header, NOON) == seconds


def test_pauses_double_and_stay_within_bounds() -> None:
    failure = Failure("x", 500)
    assert [pause_before(tries, failure, 1.0, NOON) for tries in (1, 2, 3, 9)] == [0.5, 1.0, 2.0, 8.0]
    assert [pause_before(tries, failure, 0.0, NOON) for tries in (1, 2, 3, 9)] == [0.25, 0.5, 1.0, 4.0]


def test_a_provider_that_asks_for_a_longer_pause_gets_it() -> None:
    assert pause_before(1, Failure("x", 429, "20"), 0.5, NOON) == 20.0


@pytest.mark.parametrize(("status", "passing"), [(429, True), (500, True), (529, True), (400, False), (408, False)])
def test_what_may_pass_is_tried_again(status: int, passing: bool) -> None:
    assert Failure("x", status).passing is passing


def test_what_does_not_pass_is_told_in_a_sentence_of_ours() -> None:
    error = judged(Failure("RateLimitError", 429, "12.5", "sk-key leaked"))
    assert isinstance(error, LlmUnavailable)
    assert error.retry_after == 13
    assert "sk-key" not in str(error)


def test_a_timeout_at_the_provider_is_a_timeout() -> None:
    assert isinstance(judged(Failure("Timeout", 408)), LlmTimedOut)


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (Failure("AuthenticationError", 401), "check LITELLM_API_KEY_AGENT"),
        (Failure("NotFoundError", 404), "check LLM_AGENT"),
        (Failure("ContextWindowExceededError", 400), "too long"),
        (Failure("ContentPolicyViolationError", 400), "content policy"),
        (Failure("FrameTooLarge"), "too large"),
        (Failure("KeyError"), "server's log"),
    ],
)
def test_a_refusal_says_who_can_mend_it(failure: Failure, sentence: str) -> None:
    error = judged(failure)
    assert isinstance(error, LlmRefused)
    assert sentence in str(error)

"""Which model, which key, which address, and what is missing."""

from __future__ import annotations

import pytest

from greenroom.config.secret import Secret
from greenroom.config.settings import load_settings
from greenroom.workflow.llm.errors import LlmNotConfigured
from greenroom.workflow.llm.port import Purpose
from greenroom.workflow.llm.routes import Route, Routes

ENVIRON = {
    "LLM_AGENT": "mistral/large",
    "LLM_CONVERSATION_STORE": "litellm_proxy/small",
    "LITELLM_API_KEY_AGENT": "agent-key",
    "LITELLM_API_KEY_CONVERSATION_STORE": "store-key",
    "LITELLM_PROXY_API_KEY": "proxy-key",
}


def test_each_purpose_has_a_model_and_a_key_of_its_own() -> None:
    routes = Routes.from_settings(load_settings(ENVIRON), proxy_base="http://proxy/v1")
    assert routes.route(Purpose.AGENT) == Route("mistral/large", "LITELLM_API_KEY_AGENT", Secret("agent-key"))
    assert {secret.reveal() for secret in routes.secrets} == {"agent-key", "store-key", "proxy-key"}


def test_a_proxied_model_has_the_proxys_key_and_address() -> None:
    routes = Routes.from_settings(load_settings(ENVIRON), proxy_base="http://proxy/v1")
    assert routes.route(Purpose.CONVERSATION_STORE) == Route(
        "litellm_proxy/small", "LITELLM_PROXY_API_KEY", Secret("proxy-key"), "http://proxy/v1"
    )


def test_a_proxy_without_a_key_does_not_get_somebody_elses() -> None:
    keys = {"LITELLM_API_KEY_AGENT": Secret("agent-key")}
    routes = Routes({"LLM_AGENT": "litellm_proxy/x"}, keys, proxy_base="http://proxy/v1")
    assert routes.route(Purpose.AGENT).key == Secret("none")


@pytest.mark.parametrize("base", [None, ""])
def test_a_proxied_model_without_an_address_is_not_configured(base: str | None) -> None:
    routes = Routes({"LLM_AGENT": "litellm_proxy/x"}, proxy_base=base)
    assert routes.missing(Purpose.AGENT) == "LITELLM_PROXY_API_BASE"
    with pytest.raises(LlmNotConfigured, match="set LITELLM_PROXY_API_BASE"):
        routes.route(Purpose.AGENT)


def test_a_model_needs_no_key() -> None:
    assert Routes({"LLM_AGENT": "ollama/x"}).route(Purpose.AGENT).key is None
    assert Routes({"LLM_AGENT": "ollama/x"}, {"LITELLM_API_KEY_AGENT": Secret("")}).route(Purpose.AGENT).key is None


def test_a_purpose_without_a_model_says_which_variable_is_missing() -> None:
    with pytest.raises(LlmNotConfigured) as caught:
        Routes({}).route(Purpose.PARAM_EXTRACTION)
    assert caught.value.message == (
        "The language model for parameter extraction is not configured: "
        "set LLM_PARAM_EXTRACTION and restart the server."
    )
    assert caught.value.data == {"purpose": "param_extraction"}

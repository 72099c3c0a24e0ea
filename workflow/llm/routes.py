"""Which model answers for which purpose, with which key, at which address. Values in, values out.

`litellm_proxy/<model>` is a LiteLLM proxy, or any other endpoint that speaks the chat completions API: litellm sends
`<model>` to `<proxy_base>/chat/completions`, and takes the base as it is, so an endpoint whose paths start with `/v1`
needs a base that ends with it. Every other name goes to the provider that litellm finds in it.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from greenroom.config.secret import Secret
from greenroom.config.settings import Settings
from greenroom.workflow.llm.errors import LlmNotConfigured
from greenroom.workflow.llm.port import Purpose

PROXY_PREFIX = "litellm_proxy/"
PROXY_BASE_VARIABLE = "LITELLM_PROXY_API_BASE"
PROXY_KEY_VARIABLE = "LITELLM_PROXY_API_KEY"
_NO_KEY = Secret("none")


@attrs.frozen
class Route:
    """Where the calls of one purpose go. `key_variable` is what the operator would have to look at."""

    model: str
    key_variable: str
    key: Secret | None = None
    base: str | None = None


class Routes:
    """The routes of all purposes, made once from what the operator has set."""

    def __init__(
        self, models: Mapping[str, str], keys: Mapping[str, Secret] | None = None, *, proxy_base: str | None = None
    ) -> None:
        self._models = models
        self._keys = keys or {}
        self._proxy_base = proxy_base or None

    @classmethod
    def from_settings(cls, settings: Settings, *, proxy_base: str | None = None) -> Routes:
        return cls(settings.llm_models, settings.api_keys, proxy_base=proxy_base)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Every key there is, so that none is ever logged."""
        return tuple(self._keys.values())

    def missing(self, purpose: Purpose) -> str | None:
        """The variable that has to be set before this purpose has a model.

        A key is not one of them: a model on this machine needs none, and some providers have other credentials. For a
        proxied model the address is: litellm would send the key to OpenAI without it.
        """
        if not (model := self._models.get(purpose.model_variable)):
            return purpose.model_variable
        if model.startswith(PROXY_PREFIX) and self._proxy_base is None:
            return PROXY_BASE_VARIABLE
        return None

    def route(self, purpose: Purpose) -> Route:
        if (missing := self.missing(purpose)) is not None:
            raise LlmNotConfigured(purpose, missing)
        model = self._models[purpose.model_variable]
        if not model.startswith(PROXY_PREFIX):
            return Route(model, purpose.key_variable, self._key(purpose.key_variable))
        # An endpoint may need no key, but litellm's client refuses to go without one. The purpose's own key is not sent
        # instead: it was made for somebody else.
        return Route(model, PROXY_KEY_VARIABLE, self._key(PROXY_KEY_VARIABLE) or _NO_KEY, self._proxy_base)

    def _key(self, variable: str) -> Secret | None:
        key = self._keys.get(variable)
        return key if key is not None and key.reveal() else None

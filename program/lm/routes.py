"""Resolves settings to a route: the address, wire format and key that a model name stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import dspy
from dspy import lm15
from dspy._vendor.lm15.features import AccessPolicy
from dspy._vendor.lm15.router import LITELLM_PROVIDER_PREFIXES
from dspy._vendor.lm15.transports import Timeouts
from dspy.clients.engines.lm15_engine import LM15Engine

from ...errors import ConfigError
from .engine import Route

if TYPE_CHECKING:
    from .embedded import EmbeddedServer
    from .endpoint import LMSettings

_LOCAL = "queryplan-local"
_ENDPOINT = "queryplan-endpoint"
_SERVER_PREFIXES = {*LITELLM_PROVIDER_PREFIXES, "vllm", "sglang", "openai_like", "lm_studio"}


def local_route(server: EmbeddedServer, settings: LMSettings) -> Route:
    """The route to the embedded server."""
    provider = _declared(_LOCAL, server.base_url, "vllm")
    return Route(
        name=f"local/{server.model_name}",
        wire_model=f"{_LOCAL}/{server.model_name}",
        config=lm15.RouterConfig(
            providers=(provider,), api_keys={_LOCAL: server.api_key}, timeouts=_timeouts(settings), env={}
        ),
        full_schema=True,
        direct=True,
        embedded=True,
    )


def endpoint_route(settings: LMSettings) -> Route:
    """The route of a DSPy model name, to an address that the user gave or to the provider's own.

    Raises:
        ConfigError: no provider goes by that name.
    """
    return _by_hand(settings, settings.api_base) if settings.api_base else _by_provider(settings)


def wire_name(model: str) -> str:
    """The model's name at a server that the user gave: without DSPy's provider prefix."""
    prefix, _, rest = model.partition("/")
    return rest if prefix in _SERVER_PREFIXES and rest else model


def _by_hand(settings: LMSettings, base: str) -> Route:
    prefix, wire = settings.model.partition("/")[0], wire_name(settings.model)
    key = settings.api_key.get_secret_value() if settings.api_key else "none"
    provider = _declared(_ENDPOINT, base, "ollama" if prefix.startswith("ollama") else "vllm")
    config = lm15.RouterConfig(providers=(provider,), api_keys={_ENDPOINT: key}, timeouts=_timeouts(settings), env={})
    return Route(
        name=settings.model,
        wire_model=f"{_ENDPOINT}/{wire}",
        config=config,
        direct=urlsplit(base).hostname in ("127.0.0.1", "localhost", "::1"),
        address=base,
    )


def _by_provider(settings: LMSettings) -> Route:
    try:
        provider = LM15Engine(lm15.RouterConfig(env={})).resolve(settings.model).provider
    except lm15.LM15Error as error:
        raise ConfigError(
            f"No provider goes by the name {settings.model!r}; give PROVIDER/MODEL, or the server's --api-base."
        ) from error
    keys = {provider: settings.api_key.get_secret_value()} if settings.api_key else None
    config = lm15.RouterConfig(api_keys=keys, timeouts=_timeouts(settings))
    return Route(
        name=settings.model, wire_model=settings.model, config=config, response_format=_known_format(settings.model)
    )


def _known_format(model: str) -> Literal["schema", "object", "none"]:
    """To what the model constrains decoding, according to DSPy's own metadata."""
    plain = dspy.LM(model)
    if plain.supports_response_schema:
        return "schema"
    return "object" if "response_format" in plain.supported_params else "none"


def _declared(provider: str, base: str, compat: str) -> lm15.ProviderDefinition:
    """A provider of ours for lm15, in this LM's configuration only: nothing process-wide is registered."""
    from dspy.lm15 import OpenAIChatCompat, ProviderDefinition

    access = AccessPolicy(provider=provider, base_url=base.rstrip("/"))
    return ProviderDefinition.chat(access, compat=OpenAIChatCompat.preset(compat))


def _timeouts(settings: LMSettings) -> Timeouts:
    return Timeouts(connect=min(10.0, settings.timeout_s), read=settings.timeout_s, write=settings.timeout_s)

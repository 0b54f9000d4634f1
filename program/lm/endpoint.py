"""Opening a language model: from settings to a handle with a decision client and a writer.

This module imports neither DSPy nor llama.cpp until a model is opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from ...errors import WeightsError
from . import weights

if TYPE_CHECKING:
    import dspy

    from .decider import TokenProbabilityClient, VerbalClient
    from .embedded import EmbeddedServer
    from .engine import JournaledLM, Route
    from .journal import CallJournal

LOCAL_TOP_TOKENS = 100
"""llama.cpp lists any number of tokens; 100 still show words at 1e-5, and cost under a millisecond."""

HOSTED_TOP_TOKENS = 20


def _key_from_environment() -> SecretStr | None:
    key = os.environ.get("QUERYPLAN_API_KEY")
    return SecretStr(key) if key else None


class LMSettings(BaseModel):
    """Which language model, and how to reach it.

    Attributes:
        model: ``local`` (1.5B), ``local:0.5b``, ``local:1.5b``, ``none``, or any DSPy model name.
        api_base: the base URL of an OpenAI-compatible server, which usually ends in ``/v1``.
        api_key: by default from QUERYPLAN_API_KEY; without either, DSPy reads the provider's own variable, but never
            where ``api_base`` is given.
        max_tokens: tokens that one answer of a writing stage may have.
        timeout_s: seconds to wait for the next byte of an answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(default="local", min_length=1)
    api_base: str | None = None
    api_key: SecretStr | None = Field(default_factory=_key_from_environment)
    max_tokens: int = Field(default=400, ge=1)
    timeout_s: float = Field(default=120.0, gt=0)


class LMHandle:
    """An opened language model.

    Attributes:
        name: what the user called it.
        fingerprint: the model's name, with its weights' hash if known; never an address.
        decider: answers decision requests with probabilities.
        writer: a ``dspy.LM`` that generates text; JSON schemas are enforced if the endpoint can do so.
        adapter: the DSPy adapter that goes with ``writer``.
    """

    def __init__(
        self,
        name: str,
        writer: JournaledLM,
        decider: TokenProbabilityClient | VerbalClient,
        adapter: dspy.Adapter,
        server: EmbeddedServer | None = None,
    ) -> None:
        self.name = name
        self.fingerprint = writer.model
        self.writer = writer
        self.decider = decider
        self.adapter = adapter
        self._server = server

    def warm(self, predictors: Iterable[dspy.Predict]) -> None:
        """Let the embedded server read each predictor's constant prefix, so that the first query need not.

        Does nothing for other endpoints, which would charge for it.

        Raises:
            LMError: the server did not answer.
        """
        if self._server is None:
            return
        from .warming import warm_predictor

        for predictor in predictors:
            warm_predictor(predictor, self)

    def close(self) -> None:
        """Close connections and stop the embedded server; closing twice is harmless."""
        self.writer.close()
        if self._server is not None:
            self._server.close()
            self._server = None

    def __repr__(self) -> str:
        return f"LMHandle({self.fingerprint!r})"

    def __enter__(self) -> LMHandle:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def open_lm(settings: LMSettings, journal: CallJournal | None = None) -> LMHandle | None:
    """Open the language model that ``settings`` name; returns None for ``none``.

    Args:
        settings: which model, and how to reach it.
        journal: answers calls that were already paid for, and records new ones.

    Raises:
        ConfigError: a key or model name is missing or wrong; RefusedError if the endpoint says so.
        WeightsError: the embedded model has not been pulled.
        LMError: the endpoint does not answer.
    """
    if settings.model == "none":
        return None
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    if settings.model.partition(":")[0] == "local":
        return _open_local(settings, journal)
    return _open_endpoint(settings, journal)


def _open_local(settings: LMSettings, journal: CallJournal | None) -> LMHandle:
    from .embedded import EmbeddedServer
    from .routes import local_route

    model = weights.model_of(settings.model)
    path = weights.find(model.name)
    if path is None:
        raise WeightsError(f"{model.name} is not in the cache; run `queryplan models pull {model.short}`.")
    weights.verify(path, model.name)
    server = EmbeddedServer(path, model.name, model.sha256)
    try:
        return _handle(settings, local_route(server, settings), journal, server)
    except BaseException:
        server.close()
        raise


def _open_endpoint(settings: LMSettings, journal: CallJournal | None) -> LMHandle:
    from .routes import endpoint_route

    return _handle(settings, endpoint_route(settings), journal, None)


def _handle(settings: LMSettings, route: Route, journal: CallJournal | None, server: EmbeddedServer | None) -> LMHandle:
    import dspy

    from .brief import BriefJSONAdapter
    from .probe import writer_for

    writer = writer_for(route, journal, settings.max_tokens)
    # Where nothing enforces the schema, the prompt has to say it.
    kind = BriefJSONAdapter if writer.supports_response_schema else dspy.JSONAdapter
    adapter = kind(use_native_function_calling=False)
    return LMHandle(settings.model, writer, _decider(settings, writer, server), adapter, server)


def _decider(
    settings: LMSettings, lm: JournaledLM, server: EmbeddedServer | None
) -> TokenProbabilityClient | VerbalClient:
    from .decider import TokenProbabilityClient, VerbalClient
    from .probe import lists_token_probabilities

    if server is not None:
        return TokenProbabilityClient(lm, top=LOCAL_TOP_TOKENS, tokenizer=server.tokenize)
    if lists_token_probabilities(lm, HOSTED_TOP_TOKENS):
        return TokenProbabilityClient(lm, top=HOSTED_TOP_TOKENS, tokenizer=_tokenizer(settings))
    return VerbalClient(lm)


def _tokenizer(settings: LMSettings) -> Callable[[str], list[int]] | None:
    """The tokenizer of a server given by its address; hosted providers offer none."""
    from .probe import remote_tokenizer
    from .routes import wire_name

    if settings.api_base is None:
        return None
    key = settings.api_key.get_secret_value() if settings.api_key else "none"
    return remote_tokenizer(settings.api_base, key, wire_name(settings.model))
